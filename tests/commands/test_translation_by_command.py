"""A translator of one's own sentences: trained, scored, asked, exported."""

import contextlib
import json
import random
import re

import pytest

from keras_seq.cli import main
from keras_seq.commands.translation_model import TranslationModel
from keras_seq.commands.usage_error import UsageError
from tests.commands.conftest import spoken
from tests.tasks.translation_toy import WORDS

pytestmark = pytest.mark.tensorflow
FILES = "mine.en,mine.fr"
TRAIN = (
    f"train translation --data {FILES} --model rnn_search --preset test "
    "--epochs 1"
).split()


def write_pairs(folder, count=60, name="mine"):
    rng = random.Random(0)
    rows = [rng.choices(list(WORDS), k=rng.randint(1, 4)) for _ in range(count)]
    for ending, lines in (
        ("en", [" ".join(row) for row in rows]),
        ("fr", [" ".join(WORDS[word] for word in row) for row in rows]),
    ):
        text = "\n".join(lines) + "\n"
        (folder / f"{name}.{ending}").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder in which somebody has trained, and what was said."""
    folder = tmp_path_factory.mktemp("trained")
    write_pairs(folder)
    for ending, word in (("en", "cat "), ("fr", "chat ")):
        with open(folder / f"mine.{ending}", "a", encoding="utf-8") as file:
            file.write(word * 500 + "\n")
    with contextlib.chdir(folder), spoken() as said:
        assert main([*TRAIN, "--output", "run"]) == 0
    return folder, said.getvalue()


@pytest.fixture
def at_work(trained, monkeypatch):
    monkeypatch.chdir(trained[0])
    monkeypatch.delenv("KERAS_SEQ_DATA", raising=False)
    return trained[0]


def run(capsys, *arguments):
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_training_says_how_full_its_batches_were(trained):
    assert re.search(r"Of the batches \d+\.\d% was padding\. ", trained[1])
    assert "Pairs left out, of more than 199 tokens: 1." in trained[1]


@pytest.mark.slow
def test_own_files_are_trained_scored_asked_and_exported(at_work, capsys):
    scores = json.loads(run(capsys, "evaluate", "run", "--json"))
    assert 0 < scores["sentences"] < 10  # a twentieth of them, kept aside
    # As Anki has it: who wrote it is in a third column.
    credit = "CC-BY 2.0 (France) Attribution: tatoeba.org #1 (A) & #2 (B)"
    anki = f"one\tun\t{credit}\ntwo dog\tdeux chien\t{credit}\n"
    (at_work / "fra.txt").write_text(anki)
    whole = run(capsys, "evaluate", "run", "--data", "fra.txt", "--lowercase")
    assert re.search(r"case:lc.*\nsentences +2\n", whole, re.DOTALL)
    assert "Next: keras-seq export run" in whole
    run(capsys, "export", "run", "--output", "models")
    for command in ("predict", "explain"):
        answers = [
            json.loads(run(capsys, command, model, "one cat", "--json"))
            for model in ("run", "models")
        ]
        assert answers[0]["source"] == "one cat"
        assert answers[0]["text"] == answers[1]["text"]
    assert answers[0]["source_words"] == ["one", "cat"]
    card = json.loads((at_work / "models/1/model_card.json").read_text())
    assert card["data"] == {"name": FILES, "licence": "unknown: yours"}
    assert str(at_work) not in json.dumps(card)


def test_languages_are_what_was_said_or_nothing(at_work, capsys):
    settings = json.loads((at_work / "run/translator.json").read_text())
    assert settings["settings"]["languages"] is None
    for command in ("train translation", "evaluate run"):
        words = [*command.split(), "--data", FILES, "--languages", "nonsense"]
        assert main(words) == 2
        error = capsys.readouterr().err
        assert "--languages must be two codes with a hyphen" in error
    assert not (at_work / "outputs").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("un\n\ntrois\n", "bad.fr, line 2: must be a sentence, as in good.en"),
        ("un\ndeux\n", "good.en, line 3: must have a translation on the same"),
        ("un\n" * 4, "bad.fr, line 4: must have a translation on the same"),
    ],
)
def test_the_first_line_without_a_translation_is_named(
    tmp_path, monkeypatch, capsys, content, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.en").write_text("one\ntwo\nthree\n")
    (tmp_path / "bad.fr").write_text(content)
    assert main(["train", "translation", "--data", "good.en,bad.fr"]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("outputs/translation/*"))


class Trained(TranslationModel):
    """An export that says what it was trained with, and scores nothing."""

    def __init__(self, name, **data):
        super().__init__({}, {"data": {"name": name, **data}})

    def scores(self, said):
        return said


def test_an_export_is_scored_on_what_it_was_trained_with(monkeypatch, capsys):
    monkeypatch.delenv("KERAS_SEQ_DATA", raising=False)
    shipped = Trained("tatoeba_en_fr+grammar", languages="en-fr")
    found = shipped.evaluate({"split": "long"})
    assert found == {"data": "grammar", "languages": "en-fr", "split": "long"}
    said = capsys.readouterr().err
    assert "scored on grammar alone" in said and "tatoeba+grammar" in said
    assert shipped.evaluate({"data_dir": "x"})["data"] == "tatoeba+grammar"
    assert shipped.evaluate({"data": "a.tsv"}) == {"data": "a.tsv"}
    monkeypatch.setenv("KERAS_SEQ_DATA", "x")
    assert shipped.evaluate({})["data"] == "tatoeba+grammar"
    german = Trained("multi30k_en_de").evaluate({})
    assert german == {"data": "multi30k", "languages": "en-de"}
    assert capsys.readouterr().err == ""
    with pytest.raises(UsageError, match="trained with 'mine.en,mine.fr'"):
        Trained(FILES).evaluate({})
