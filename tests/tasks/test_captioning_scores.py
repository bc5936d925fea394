"""Scores of captions, against their papers and against the COCO evaluation."""

import os
import random
import stat
import sys

import pytest

from keras_seq.tasks.caption_bleu import brevity_penalty, caption_bleu
from keras_seq.tasks.caption_words import caption_words
from keras_seq.tasks.captioning_scores import captioning_scores
from keras_seq.tasks.cider import cider
from keras_seq.tasks.meteor import find_meteor, meteor
from keras_seq.tasks.rouge_l import rouge_l
from tests.oracles import caption_scores as oracle
from tests.tasks.caption_examples import PREDICTIONS, REFERENCES

pytestmark = pytest.mark.tensorflow

# By pycocoevalcap 1.2 (its PTBTokenizer, Bleu(4), Cider(), Rouge(), Meteor()):
#   metric.compute_score(tokenize(REFERENCES), tokenize(PREDICTIONS))
COCO = {
    "bleu_1": 0.7671232876607244,
    "bleu_2": 0.6193235372763986,
    "bleu_3": 0.46028286345039277,
    "bleu_4": 0.32569086779354256,
    "cider": 1.6300912586586087,
    "rouge_l": 0.6553594209020611,
}
COCO_METEOR = 0.36150284309638836
COCO_CIDER = [
    2.231337500121912,
    1.0223291120826705,
    1.3147929524771087,
    2.713376259770086,
    0.7958491639135146,
    1.8865321541556,
    1.4464216680893696,
]
COCO_ROUGE = [
    0.7625000000000001,
    0.6299793449395101,
    0.563944530046225,
    0.5398230088495575,
    0.6288659793814433,
    0.7223684210526317,
    0.7400346620450605,
]
SAID = [caption_words(text) for text in PREDICTIONS]
RIGHT = [[caption_words(text) for text in given] for given in REFERENCES]


def test_the_scores_are_those_of_the_coco_evaluation():
    scores = captioning_scores(PREDICTIONS, REFERENCES, use_meteor=False)
    assert set(scores) == {*COCO, "brevity_penalty"}
    for name, expected in COCO.items():
        assert scores[name] == pytest.approx(100 * expected, abs=1e-6), name
    assert cider(SAID, RIGHT) == pytest.approx(COCO_CIDER, abs=1e-9)
    assert rouge_l(SAID, RIGHT) == pytest.approx(COCO_ROUGE, abs=1e-9)


def random_captions(seed):
    rng = random.Random(seed)
    words = "a the red dog cup runs is on grass".split()

    def caption():
        return rng.choices(words, k=rng.randint(1, 11))

    pictures = 5
    said = [caption() for _ in range(pictures)]
    given = [
        [caption() for _ in range(rng.randint(1, 4))] for _ in range(pictures)
    ]
    return said, given


@pytest.mark.parametrize("seed", range(7))
def test_the_scores_are_those_of_the_papers(seed):
    said, given = random_captions(seed)
    bleu = [oracle.bleu(said, given, n) for n in (1, 2, 3, 4)]
    assert caption_bleu(said, given) == pytest.approx(bleu, abs=1e-12)
    expected = oracle.cider_d(said, given)
    assert cider(said, given) == pytest.approx(expected, abs=1e-12)
    expected = [oracle.rouge_l(*pair) for pair in zip(said, given, strict=True)]
    assert rouge_l(said, given) == pytest.approx(expected, abs=1e-12)


def test_of_two_references_equally_close_in_length_the_shorter_counts():
    said, given = ["a b c".split()], [["a b c d".split(), "a b".split()]]
    assert caption_bleu(said, given, 1) == [pytest.approx(1.0)]


def test_a_short_caption_is_penalised():
    said, given = ["a b".split()], [["a b c d".split()]]
    assert caption_bleu(said, given, 1)[0] == pytest.approx(0.36787944)
    assert brevity_penalty(said, given) == pytest.approx(0.36787944)


def test_bleu_divided_by_its_penalty_is_precision_alone():
    given = [["a b c d e f g h".split()]]
    said = ["a b c d".split()]
    scores = captioning_scores(
        [" ".join(words) for words in said],
        [[" ".join(words) for words in row] for row in given],
        use_meteor=False,
    )
    assert scores["bleu_1"] / scores["brevity_penalty"] == pytest.approx(100)
    assert brevity_penalty([[]], given) == 0
    assert brevity_penalty([given[0][0] * 2], given) == 1


def test_repeating_a_word_gains_nothing():
    (score,) = caption_bleu([["the"] * 7], [["the cat is the".split()]], 1)
    assert score == pytest.approx(2 / 7)


def test_cider_wants_what_only_this_picture_calls_for():
    given = [["a red cup".split()], ["a blue car".split()], ["a dog".split()]]
    common, rare = (
        cider([["a"], ["a"], ["a"]], given),
        cider([["cup"], ["car"], ["dog"]], given),
    )
    assert common == [0, 0, 0]
    assert min(rare) > 0.5


def test_no_words_score_nothing():
    scores = captioning_scores(["", "."], [["a cup"], ["!"]], use_meteor=False)
    assert set(scores.values()) == {0.0}


# As the Stanford tokenizer of the COCO evaluation cut them, -lowerCase and
# -preserveLines, without the punctuation that the evaluation takes out.
CUT = {
    "A man's dog can't run; it doesn't (really) want to!": (
        "a man 's dog ca n't run it does n't -lrb- really -rrb- want to"
    ),
    '"Hello," she said -- they\'re 3.5 m away...': (
        "hello she said they 're 3.5 m away"
    ),
    "T-shirt black/white & 50% off $5 U.S. flags Mr. Smith's cars' wheels": (
        "t-shirt black/white & 50 % off $ 5 u.s. flags mr. smith 's cars wheels"
    ),
    "I'll gonna cannot we've 'quoted' words e-mail a@b.com http://x.com/a "
    "10:30 2,000 5'10\"": (
        "i 'll gon na can not we 've quoted words e-mail a@b.com "
        "http://x.com/a 10:30 2,000 5 10"
    ),
    "Slip 'n' slide at five o'clock , 2@dogs .": (
        "slip 'n' slide at five o'clock 2@dogs"
    ),
}


@pytest.mark.parametrize("caption", CUT)
def test_captions_are_cut_as_the_coco_evaluation_does(caption):
    assert " ".join(caption_words(caption)) == CUT[caption]


@pytest.mark.parametrize(
    "predictions, references, message",
    [
        (["a"], [["a"], ["b"]], "one entry for each picture.*1 and 2"),
        ([], [], "at least one. Received: 0 and 0"),
        (["a"], ["a dog"], r"`references\[0\]` must be a list.*'a dog'"),
        (["a", "b"], [["a"], []], r"`references\[1\]` must be a list.*\[\]"),
    ],
)
def test_what_cannot_be_scored_is_refused(predictions, references, message):
    with pytest.raises(ValueError, match=message):
        captioning_scores(predictions, references)


FAKE_JAVA = """#!{python}
import sys
for line in sys.stdin:
    kind, *parts = [part.strip() for part in line.split("|||")]
    if kind == "SCORE":
        print(len(parts) - 1, parts[-1].count("dog"), flush=True)
    else:
        dogs = [int(part.split()[1]) for part in parts]
        for number in [*dogs, sum(dogs)]:
            print(number / 10, flush=True)
"""


@pytest.fixture
def fake_java(tmp_path, monkeypatch):
    """A program that speaks as METEOR does, and scores dogs."""
    jar = tmp_path / "pycocoevalcap" / "meteor" / "meteor-1.5.jar"
    jar.parent.mkdir(parents=True)
    jar.touch()
    (tmp_path / "pycocoevalcap" / "__init__.py").touch()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(FAKE_JAVA.format(python=sys.executable))
    java.chmod(java.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{java.parent}{os.pathsep}{os.defpath}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pycocoevalcap", raising=False)
    return jar


def test_meteor_is_asked_for_each_caption_and_for_the_corpus(fake_java):
    assert find_meteor() == fake_java
    scores = captioning_scores(["a dog", "dog, dog"], [["dog"], ["a", "b"]])
    assert scores["meteor"] == pytest.approx(30)
    without = captioning_scores(["a dog"], [["dog"]], use_meteor=False)
    assert "meteor" not in without


def test_a_meteor_that_does_not_answer_is_told(fake_java):
    (fake_java.parents[2] / "bin" / "java").write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(RuntimeError, match="METEOR must answer"):
        meteor([["a"]], [[["a"]]], fake_java)


def test_without_java_there_is_no_meteor(fake_java, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert find_meteor() is None
    assert "meteor" not in captioning_scores(["a dog"], [["dog"]])


@pytest.mark.skipif(
    find_meteor() is None,
    reason="no Java, or the extra [meteor] is not installed",
)
def test_meteor_is_that_of_the_coco_evaluation():
    scores = captioning_scores(PREDICTIONS, REFERENCES)
    assert scores["meteor"] == pytest.approx(100 * COCO_METEOR, abs=1e-6)
