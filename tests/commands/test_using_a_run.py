"""predict, explain, evaluate and export of a run, and of its export."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from keras_seq import export
from keras_seq.cli import main
from keras_seq.commands.input_lines import _arriving_lines
from tests.commands.conftest import write_table

pytestmark = pytest.mark.tensorflow
TEXTS = ["The food was cold.", "", "  ", "x" * 10_000, "Lovely, \x1b[31mfunny!"]


def run(capsys, *arguments):
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def objects(printed):
    return [json.loads(line) for line in printed.splitlines()]


@pytest.fixture(scope="module")
def exported(trained):
    """The run, exported by the command and verified by it."""
    folder = trained / "models" / "sentiment"
    before = os.getcwd()
    os.chdir(trained)
    try:
        assert main(["export", "sentiment", "--output", str(folder)]) == 0
    finally:
        os.chdir(before)
    return folder


def test_training_says_what_it_did_and_what_to_do_next(at_work):
    said = (at_work / "said.txt").read_text()
    assert "Training sentiment in outputs/sentiment/run-1" in said
    assert "epoch 3/3" in said
    assert "% of the validation texts." in said
    assert "Next: keras-seq predict sentiment " in said
    held = {p.name for p in (at_work / "outputs/sentiment/run-1").iterdir()}
    assert {"run.json", "model.keras", "curves.png", "command.json"} <= held


@pytest.mark.parametrize(
    "model", ["sentiment", "outputs/sentiment/run-1", "outputs/sentiment/"]
)
def test_a_run_is_found_by_task_and_by_folder(at_work, capsys, model):
    (answer,) = objects(run(capsys, "predict", model, "--json", "Lovely."))
    assert answer["label"] in ("negative", "positive")


def test_predict_answers_every_text(at_work, capsys):
    answers = objects(run(capsys, "predict", "sentiment", "--json", *TEXTS))
    assert [answer["text"] for answer in answers] == TEXTS
    for answer in answers:
        assert set(answer["probabilities"]) == {"negative", "positive"}
        assert answer["probabilities"][answer["label"]] == pytest.approx(
            answer["probability"]
        )
        assert sum(answer["probabilities"].values()) == pytest.approx(1, 1e-4)
    lines = run(capsys, "predict", "sentiment", *TEXTS).splitlines()
    assert len(lines) == len(TEXTS)
    assert lines[0].split()[:3] == [
        answers[0]["label"],
        f"{answers[0]['probability']:.0%}".rstrip("%"),
        "%",
    ]
    assert "\x1b" not in lines[-1]


def test_predict_reads_standard_input_line_by_line(at_work, capsys, stdin):
    stdin(b"Lovely food.\r\n\n\xff\xfe bad\nno end")
    answers = objects(run(capsys, "predict", "sentiment", "--json"))
    texts = [answer["text"] for answer in answers]
    assert texts == ["Lovely food.", "", "\ufffd\ufffd bad", "no end"]
    stdin(b"")
    assert run(capsys, "predict", "sentiment") == ""


def test_a_line_is_answered_before_the_next_one_comes():
    reader, writer = os.pipe()
    lines = _arriving_lines(open(reader, "rb"))
    os.write(writer, b"one\ntw")
    assert next(lines) == [b"one"]
    os.write(writer, b"o\nthree\nfo")
    assert next(lines) == [b"two", b"three"]
    os.close(writer)
    assert next(lines) == [b"fo"]
    assert next(lines, None) is None


def test_explain_weighs_the_words_of_the_text(at_work, capsys, tmp_path):
    page = tmp_path / "deep" / "page.html"
    printed = run(
        *(capsys, "explain", "sentiment", "--json", "--html", str(page)), *TEXTS
    )
    explained = objects(printed)
    words = explained[0]["words"]
    assert [word["word"] for word in words] == [
        "The",
        "food",
        "was",
        "cold",
        ".",
    ]
    assert [TEXTS[0][w["start"] : w["end"]] for w in words] == [
        word["word"] for word in words
    ]
    assert sum(word["weight"] for word in words) == pytest.approx(1, abs=1e-4)
    assert explained[1]["words"] == explained[2]["words"] == []
    assert "cold" in page.read_text() and "<html" in page.read_text()


def test_explain_draws_for_people_and_takes_a_method(
    at_work, capsys, monkeypatch
):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    arguments = ["explain", "sentiment", "--method", "gradient", TEXTS[0]]
    drawn = run(capsys, *arguments)
    assert "\x1b[" in drawn and "cold" in drawn


def test_evaluate_scores_the_part_that_was_kept_aside(at_work, capsys):
    kept = objects(run(capsys, "evaluate", "sentiment", "--json"))[0]
    assert 0 < kept["examples"] < 40  # about a tenth of the table
    whole = run(capsys, "evaluate", "sentiment", "--data", "reviews.csv")
    assert whole.splitlines()[0].startswith("accuracy")
    assert "Next: keras-seq export sentiment" in whole
    path = at_work / "outputs/sentiment/run-1/evaluations.json"
    noted = json.loads(path.read_text())
    assert noted["keras-seq evaluate outputs/sentiment/run-1"] == kept


def test_an_export_answers_as_the_run(at_work, exported, capsys):
    for command in ("predict", "explain"):
        answers = [
            objects(run(capsys, command, str(model), "--json", *TEXTS))
            for model in ("sentiment", exported)
        ]
        for live, *others in zip(*answers, strict=True):
            for other in others:
                assert other["label"] == live["label"]
                assert other["probability"] == pytest.approx(
                    live["probability"], abs=1e-4
                )
                assert len(other.get("words", "")) == len(live.get("words", ""))


def test_an_export_is_scored_and_has_the_numbers_of_the_run(
    at_work, exported, capsys
):
    arguments = ["--data", "reviews.csv", "--json"]
    scores = [
        objects(run(capsys, "evaluate", model, *arguments))[0]
        for model in ("sentiment", str(exported))
    ]
    assert scores[0]["accuracy"] == scores[1]["accuracy"]
    assert scores[0]["examples"] == scores[1]["examples"]
    card = export.load(exported).card
    assert card["data"]["name"] == "reviews.csv"
    assert str(at_work) not in json.dumps(card)
    commands = {m["name"]: m["command"] for m in card["metrics"]}
    assert commands["val_accuracy"] == (
        "keras-seq train sentiment --data reviews.csv --preset test --epochs 3"
    )
    assert np.isfinite([m["value"] for m in card["metrics"]]).all()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["export", "MODEL"], "is an export already"),
        (["explain", "MODEL", "--method", "gradient", "x"], "--method is chos"),
        (["evaluate", "MODEL"], "--data must name what to score on"),
    ],
)
def test_what_an_export_cannot_do_is_said(
    at_work, exported, capsys, arguments, message
):
    arguments = [str(exported) if a == "MODEL" else a for a in arguments]
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_tables_with_other_columns(at_work, tmp_path, capsys):
    write_table(tmp_path / "other.csv", rows=8)
    path = tmp_path / "other.csv"
    path.write_text(path.read_text().replace("label,text", "stars,review"))
    arguments = ["evaluate", "sentiment", "--data", str(path)]
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert f"{path}, line 1: the columns ['text', 'label']" in error
    columns = ["--text-column", "review", "--label-column", "stars", "--json"]
    assert objects(run(capsys, *arguments, *columns))[0]["examples"] == 8


def test_a_page_that_cannot_be_written_is_said_first(at_work, capsys, tmp_path):
    assert main(["explain", "sentiment", "--html", str(tmp_path), "x"]) == 2
    assert (
        "--html must be a file that can be written" in capsys.readouterr().err
    )


def test_modules_stay_out_that_an_export_does_not_need(exported):
    """Models and training are not there for a SavedModel; a new process."""
    code = (
        "import sys; from keras_seq.cli import main; "
        "code = main(['predict', sys.argv[1], 'Fine.']); "
        "rooms = {m.split('.')[1] for m in sys.modules "
        "if m.startswith('keras_seq.')}; "
        "print(sorted(rooms & {'models', 'layers', 'training', 'tasks'}), code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(exported)],
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "[] 0", done.stderr
