"""Trained models whose files came to harm."""

import shutil

import pytest

from keras_seq.cli import main
from keras_seq.models import seq2seq
from keras_seq.tasks.translator import Translator
from keras_seq.text import SubwordTokenizer
from tests.tasks.translation_toy import WORDS

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    tokenizer = SubwordTokenizer.train([*WORDS, *WORDS.values()], 330)
    model = seq2seq(tokenizer.vocabulary_size, "test")
    Translator(tokenizer, model, max_length=40).save(folder)
    return folder


HARM = {
    "emptied": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "another": lambda content: b"x" * 100,
    "config": lambda content: content[:300] + b"\0" * 99 + content[399:],
    "weights": lambda content: content[:-3000] + b"\1" * 999 + content[-2001:],
}


@pytest.mark.parametrize("harm", HARM)
def test_a_damaged_model_is_named(saved, tmp_path, harm):
    folder = shutil.copytree(saved, tmp_path / "run")
    path = folder / "model.keras"
    path.write_bytes(HARM[harm](path.read_bytes()))
    with pytest.raises(ValueError, match="model.keras: .*is damaged"):
        Translator.load(folder)


@pytest.mark.parametrize("content", ["", '{"a', "[]", "{}"])
def test_a_damaged_description_is_named(saved, tmp_path, content, capsys):
    folder = shutil.copytree(saved, tmp_path / "run")
    (folder / "translator.json").write_text(content)
    with pytest.raises(ValueError, match="translator.json: .*is damaged"):
        Translator.load(folder)
    assert main(["predict", str(folder), "one cat"]) == 2
    assert "translator.json: must be as it was" in capsys.readouterr().err


def test_what_came_to_no_harm_is_loaded(saved):
    assert Translator.load(saved).max_length == 40
