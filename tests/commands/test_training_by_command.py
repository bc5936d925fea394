"""Bad requests, Ctrl-C, and a run that was killed."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from keras_seq import cli
from keras_seq.cli import main
from keras_seq.commands import sentiment_task
from tests.commands.conftest import TRAIN, write_table
from tests.test_readme import PROJECT

pytestmark = pytest.mark.tensorflow


def test_help_is_light():
    code = (
        "import sys; from keras_seq import cli; cli._parser().format_help(); "
        "print(sorted({'keras', 'tensorflow', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(name, capsys):
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    assert f"keras-seq {name}" in capsys.readouterr().out


def test_help_names_every_preset_and_data_set(capsys):
    from keras_seq.models.text_classifier import TEXT_CLASSIFIER_PRESETS
    from keras_seq.tasks.sentiment import LOADERS

    with pytest.raises(SystemExit):
        main(["train", "sentiment", "--help"])
    words = set(re.findall(r"\w+", capsys.readouterr().out))
    assert {*TEXT_CLASSIFIER_PRESETS} - {"test"} | {*LOADERS} <= words


def test_the_commands_of_the_readme_can_be_asked_for():
    text = (PROJECT / "README.md").read_text()
    lines = re.findall(r"^keras-seq (.*)$", text, re.MULTILINE)
    assert len(lines) >= 7
    for line in lines:
        cli.parse(shlex.split(line, comments=True))


def test_texts_may_stand_before_and_after_options(capsys):
    for order in (
        "M a --json b",
        "M --json a b",
        "--json M a b",
        "M a b --json",
    ):
        arguments = cli.parse(["predict", *order.split()])
        assert arguments.model == "M" and arguments.texts == ["a", "b"]
        assert arguments.json
    for wrong in ("predict M a --jsno", "tutorial one two"):
        with pytest.raises(SystemExit):
            cli.parse(wrong.split())
        assert "unrecognized arguments" in capsys.readouterr().err


BAD_TABLES = {
    "column.csv": "stars,text\n1,fine\n",
    "label.csv": "label,text\n1,fine\n0,bad\nmaybe,so so\n",
    "rows.csv": "label,text\n",
    "empty.csv": "",
    "fields.tsv": "label\ttext\n1\tfine\n1\n",
}


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("--data column.csv", "column.csv, line 1: the columns ['label']"),
        ("--data label.csv", "label.csv, line 4: the column 'label' must"),
        ("--data rows.csv", "rows.csv: must have rows below its header"),
        ("--data empty.csv", "empty.csv: the first line must name the col"),
        ("--data fields.tsv", "fields.tsv, line 3: must have 2 fields"),
        ("--data nowhere.csv", "--data must be one of ['biased', 'imdb'"),
        ("--data imdb", "--data-dir (or the environment variable KERAS_SEQ_"),
        ("--data sst2 --data-dir .", "--data-dir (or the environment variab"),
        ("--preset atention", "Did you mean attention"),
        ("--preset zzz", "--preset must be one of bag, rnn, "),
        ("--epochs 0", "--epochs must be at least 1. Received: 0"),
        ("--seed -1", "--seed must not be negative"),
        ("--resume", "no run of sentiment to go on with in outputs/sentiment"),
        ("--resume --output x", "no run of sentiment to go on with in x"),
        ("--output label.csv", "--output must be a folder"),
    ],
)
def test_a_bad_request_is_said_and_leaves_nothing(
    tmp_path, monkeypatch, capsys, arguments, message
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KERAS_SEQ_DATA", raising=False)
    for name, text in BAD_TABLES.items():
        (tmp_path / name).write_text(text)
    assert main(["train", "sentiment", *arguments.split()]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("keras-seq train: ")
    assert not list(tmp_path.glob("outputs/sentiment/*"))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            TRAIN + ["--output", "outputs/sentiment/run-1"],
            "holds a run already",
        ),
        (
            ["train", "sentiment", "--resume", "--epochs", "9"],
            "was started with --epochs 3, and goes on with it. Received: 9",
        ),
        (["predict", "outputs/nowhere", "x"], "which is no folder"),
        (["predict", "outputs", "x"], "'outputs', which holds neither"),
    ],
)
def test_what_does_not_fit_a_run_is_said(at_work, capsys, arguments, message):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_without_a_model_the_ways_to_one_are_said(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["predict", "sentiment", "x"]) == 2
    error = capsys.readouterr().err
    assert "train one with `keras-seq train sentiment`" in error
    (tmp_path / "saved_models" / "sentiment").mkdir(parents=True)
    (tmp_path / "outputs" / "sentiment" / "run-7").mkdir(parents=True)
    assert main(["predict", "sentiment", "x"]) == 2
    error = capsys.readouterr().err
    assert "use the one that is shipped, saved_models/sentiment" in error
    assert "go on with outputs/sentiment/run-7" in error


def test_ctrl_c_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sentiment_task, "train", stop)
    assert main(["train", "sentiment", "--output", "my run"]) == 130
    assert (
        "Go on with: keras-seq train sentiment --resume --output 'my run'"
        in capsys.readouterr().err
    )


def test_a_killed_run_goes_on_to_the_same_weights(trained, tmp_path):
    from keras_seq.tasks.sentiment import SentimentClassifier

    write_table(tmp_path / "reviews.csv")
    with subprocess.Popen(
        [sys.executable, "-m", "keras_seq.cli", *TRAIN, "--output", "killed"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.DEVNULL,
    ) as process:
        while not list(tmp_path.glob("killed/checkpoints/step-*.npz")):
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        assert main(["predict", "killed", "x"]) == 2  # it is not finished
        arguments = ["train", "sentiment", "--resume", "--output", "killed"]
        assert main(arguments) == 0
    finally:
        os.chdir(here)
    record = json.loads((tmp_path / "killed" / "run.json").read_text())
    assert record["resumed"] and record["status"] == "finished"
    one, other = (
        SentimentClassifier.load(folder).model.get_weights()
        for folder in (trained / "outputs/sentiment/run-1", tmp_path / "killed")
    )
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)
