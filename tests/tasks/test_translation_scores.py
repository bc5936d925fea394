"""BLEU and chrF, with what is needed to compare them."""

import pytest

from keras_seq.data import Dataset
from keras_seq.tasks.translation import distinct_sources, evaluate
from keras_seq.tasks.translation_scores import bleu_by_length, corpus_scores

RIGHT = ["Le petit chat noir dort sur la table .", "Il pleut encore ce soir ."]


def test_the_right_translation_scores_100_and_a_wrong_one_does_not():
    perfect = corpus_scores(RIGHT, [[text] for text in RIGHT])
    assert perfect["bleu"] == pytest.approx(100)
    assert perfect["chrf"] == pytest.approx(100)
    assert perfect["sentences"] == 2
    swapped = corpus_scores(RIGHT[::-1], [[text] for text in RIGHT])
    assert swapped["bleu"] < 20


def test_a_signature_says_how_it_was_counted():
    scores = corpus_scores(RIGHT, [[text] for text in RIGHT])
    assert "tok:13a" in scores["bleu_signature"]
    assert "case:mixed" in scores["bleu_signature"]
    assert (
        "case:lc"
        in corpus_scores(RIGHT, [[t] for t in RIGHT], True)["bleu_signature"]
    )


def test_case_counts_unless_it_is_told_not_to():
    shouted = [text.upper() for text in RIGHT]
    references = [[text] for text in RIGHT]
    assert corpus_scores(shouted, references)["bleu"] < 20
    assert corpus_scores(shouted, references, lowercase=True)[
        "bleu"
    ] == pytest.approx(100)


def test_any_of_several_references_will_do():
    references = [["Tout autre chose .", RIGHT[0]], [RIGHT[1]]]
    assert corpus_scores(RIGHT, references)["bleu"] == pytest.approx(100)


def test_as_many_references_as_translations():
    with pytest.raises(ValueError, match="references.*Received: 1 and 2"):
        corpus_scores(RIGHT, [[RIGHT[0]]])


def test_bleu_by_length_counts_every_sentence_once():
    sources = ["one two", "a b c d e f", " ".join("x" * 40)]
    found = [*RIGHT, "Rien à voir avec cela ."]
    bins = bleu_by_length(sources, found, [[t] for t in (*RIGHT, RIGHT[0])])
    assert list(bins) == ["1-5", "6-10", "31+"]
    assert [part["sentences"] for part in bins.values()] == [1, 1, 1]
    assert bins["1-5"]["bleu"] == pytest.approx(100)
    assert bins["31+"]["bleu"] < 20


class Shouting:
    """A translator that is always right, in capitals."""

    def translate(self, texts, **search):
        right = dict(zip("ab", RIGHT, strict=True))
        return [right[text].upper() for text in texts]


def test_where_case_counts_for_nothing_it_does_by_length_too():
    columns = {"source": ["a", "b"], "target": RIGHT}
    dataset = Dataset(
        "mine", "CC0", dict.fromkeys(("train", "validation", "test"), columns)
    )
    for lowercase in (False, True):
        scores = evaluate(Shouting(), dataset, lowercase=lowercase)
        by_length = scores["bleu_by_length"]["1-5"]["bleu"]
        assert by_length == pytest.approx(scores["bleu"])
        assert (scores["bleu"] > 99) == lowercase


def test_translations_of_one_source_are_its_references():
    columns = {"source": ["Hi.", "Yes.", "Hi."], "target": ["A", "B", "C"]}
    assert distinct_sources(columns) == (["Hi.", "Yes."], [["A", "C"], ["B"]])
