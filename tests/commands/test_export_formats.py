"""`keras-seq export --format`, as it is typed."""

import contextlib

import pytest

from keras_seq.cli import main
from keras_seq.commands import export as command

pytestmark = pytest.mark.tensorflow


def test_a_run_becomes_a_file(trained, tmp_path, capsys):
    pytest.importorskip("ai_edge_litert")
    folder = tmp_path / "small"
    words = ["export", "sentiment", "--format", "litert"]
    with contextlib.chdir(trained):
        assert main([*words, "--output", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "A process without keras_seq gave the same answers" in said
    assert "holds the model, tokenizer.json and its model_card.json" in said
    assert {p.name for p in (folder / "1").iterdir()} == {
        "model.tflite",
        "model_card.json",
        "tokenizer.json",
    }


@pytest.mark.parametrize("words", [[], ["--half"]])
def test_half_is_passed_on(trained, tmp_path, capsys, monkeypatch, words):
    asked = []

    class Model:
        def export(self, folder, *, half):
            asked.append(half)
            return folder

    monkeypatch.setattr(command, "open_found", lambda found: Model())
    words = ["export", "sentiment", "--output", str(tmp_path), *words]
    with contextlib.chdir(trained):
        assert main(words) == 0
    assert asked == ["--half" in words]


def test_half_is_for_saved_models(trained, capsys):
    with contextlib.chdir(trained):
        words = ["export", "sentiment", "--format", "onnx", "--half"]
        assert main(words) == 2
    assert "--half is for SavedModels" in capsys.readouterr().err


def test_a_model_that_writes_is_refused(trained, capsys, monkeypatch):
    monkeypatch.setattr(command, "open_found", lambda found: object())
    with contextlib.chdir(trained):
        assert main(["export", "sentiment", "--format", "onnx"]) == 2
    assert "--format onnx is for classifiers" in capsys.readouterr().err
    assert not (trained / "outputs" / "exported").exists()


def test_a_missing_extra_is_named(trained, capsys, monkeypatch):
    class Model:
        def export_file(self, folder, file_format):
            raise ImportError("`save_onnx` needs the extra [onnx]")

    monkeypatch.setattr(command, "open_found", lambda found: Model())
    with contextlib.chdir(trained):
        assert main(["export", "sentiment", "--format", "onnx"]) == 2
    assert "needs the extra [onnx]" in capsys.readouterr().err
