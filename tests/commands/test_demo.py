"""`make run`, next to nothing learned: does all of it work together?"""

import contextlib
import io
import sys

import pytest

from keras_seq.cli import main
from keras_seq.commands import demo
from tests.commands.conftest import spoken

pytestmark = pytest.mark.tensorflow


class Keyboard(io.StringIO):
    """Standard input where somebody types."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("typed", "asked"),
    [("", []), ("\n", [demo._SENTENCE]), (" A dog. \n", ["A dog."])],
)
def test_what_is_typed_is_translated_and_ctrl_d_ends_it(
    typed, asked, monkeypatch, capsys
):
    begun = []
    monkeypatch.setattr(sys, "stdin", Keyboard(typed))
    for name in ("_score", "_draw", "_export"):
        monkeypatch.setattr(demo, name, lambda *_: None)
    monkeypatch.setattr(demo, "_train", lambda fast: (None, None, None))
    monkeypatch.setattr(
        "keras_seq.export.clean_process.ask_in_clean_process",
        lambda folder, name, texts: begun.extend(texts) or {"text": texts},
    )
    monkeypatch.setattr(
        "keras_seq.export.version_folders.find_version", lambda path: path
    )
    assert main(["demo"]) == 0
    assert begun == asked
    assert "All of it took" in capsys.readouterr().out


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the demo prints, and where it worked."""
    folder = tmp_path_factory.mktemp("demo")
    with contextlib.chdir(folder), spoken() as said:
        assert main(["demo", "--fast", "The cat sleeps.", ""]) == 0
    return folder, said.getvalue()


@pytest.mark.slow
def test_the_demo_trains_scores_draws_exports_and_translates(shown):
    folder, said = shown
    for expected in (
        "Training a Transformer",
        "BLEU ",
        "alignment error ",
        "alignment.png",
        "gives the same answers there",
        "\n  The cat sleeps.\n  ",
        "All of it took",
    ):
        assert expected in said, said
    run = folder / "outputs/translation/run-1"
    assert (run / "alignment.png").stat().st_size > 5000
    assert (folder / "outputs/exported/translation/1/saved_model.pb").exists()


@pytest.mark.slow
def test_its_run_and_its_export_can_be_asked(shown, monkeypatch, capsys):
    monkeypatch.chdir(shown[0])
    for model in ("translation", "outputs/exported/translation"):
        assert main(["predict", model, "A dog.", "--json"]) == 0
        assert '"source": "A dog."' in capsys.readouterr().out
    page = shown[0] / "look.html"
    assert (
        main(
            ["explain", "outputs/exported/translation", "A dog.", ""]
            + ["--html", str(page)]
        )
        == 0
    )
    assert "The page is in" in capsys.readouterr().out
    assert "A dog." in page.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--text-column", "x"], "--text-column says nothing"),
        (["--beam-size", "2"], "--beam-size is chosen when"),
        (["--data", "none.tsv"], "--data must be one of"),
    ],
)
def test_what_cannot_be_scored_is_said(
    shown, words, named, monkeypatch, capsys
):
    monkeypatch.chdir(shown[0])
    assert main(["evaluate", "outputs/exported/translation", *words]) == 2
    assert named in capsys.readouterr().err
