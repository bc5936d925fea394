"""What the command line makes of the answers of a translator's signatures."""

import numpy as np
import pytest

from keras_seq.commands.translation_model import (
    TranslationModel,
    TranslationRun,
)
from keras_seq.models import seq2seq, transformer
from keras_seq.tasks.translator import Translator
from keras_seq.text import SubwordTokenizer

pytestmark = pytest.mark.tensorflow


def padded(*rows):
    width = max(map(len, rows))
    return np.array(
        [[w.encode() for w in row] + [b""] * (width - len(row)) for row in rows]
    )


def test_a_word_without_a_letter_keeps_its_place():
    """As an export may have it; those after it stay with their weights."""
    answer = {
        "text": np.array([b"un chat", b""], object),
        "score": np.array([-1.0, 0.0]),
        "source_words": padded(["a", "", "cat"], []),
        "target_words": padded(["un", "chat"], []),
        "source_tokens": padded(["▁a", "▁", "▁cat", "</s>"], ["</s>"]),
        "target_tokens": padded(["▁un", "▁chat", "</s>"], ["</s>"]),
        "alignment": np.array([[[0.9, 0.0, 0.1], [0.1, 0.0, 0.9]]] * 2),
        "attention": np.full((2, 1, 1, 3, 4), 0.25),
    }
    model = TranslationModel({"explain": lambda text: answer}, {})
    one, none = model.explain([b"a  cat", b""])
    assert one["source_words"] == ["a", "", "cat"]
    assert one["alignment"] == [[0.9, 0.0, 0.1], [0.1, 0.0, 0.9]]
    assert "chat  <-  cat  (0.90)" in model.draw(one)
    assert none["source_words"] == [] == none["alignment"]


LONG = "The old man walks home. " * 20
LIMIT = 40


@pytest.fixture(scope="module", params=["transformer", "seq2seq"])
def translator(request):
    tokenizer = SubwordTokenizer.train([LONG], 280)
    family = {"transformer": transformer, "seq2seq": seq2seq}[request.param]
    model = family(tokenizer.vocabulary_size, "test")
    return Translator(tokenizer, model, max_length=LIMIT)


def models(translator, folder):
    """The model as a run, and as what an export would be."""
    translator.save(folder)
    run = TranslationRun(folder)
    return run, TranslationModel(run.signatures, {"max_length": LIMIT})


def test_a_text_that_is_cut_is_said(translator, tmp_path, capsys):
    run, exported = models(translator, tmp_path)
    (row,) = translator.encode_rows([LONG])
    texts = [b"The old man", LONG.encode(), b"", "é".encode() * 18]
    for ask in (run.predict, run.explain):
        if ask == run.explain and "explain" not in run.signatures:
            continue
        assert [found["source"] for found in ask(texts)][1] == LONG
        said = capsys.readouterr().err
        assert said.count("warning") == 1 and said.count("\n") == 1
        assert f"the first {LIMIT - 1} of {len(row)} tokens were" in said
        assert "'The old man walks home." in said
    if "explain" not in exported.signatures:
        return  # it has no way to know
    kept = b"".join(translator.tokenizer.detokenize([row[: LIMIT - 1]]).numpy())
    for ask in (exported.predict, exported.explain):
        answers = ask(texts)
        assert answers[1]["text"] == run.predict(texts)[1]["text"]
        said = capsys.readouterr().err.splitlines()[0]
        read, all_of_it = len(kept.replace(b" ", b"")), 19 * 20
        assert f"the first {read} of {all_of_it} letters" in said


def test_a_text_that_just_fits_is_read_in_silence(translator, tmp_path, capsys):
    row = translator.encode_rows([LONG])[0][: LIMIT - 1]
    (fits,) = translator.tokenizer.detokenize([row]).numpy()
    assert len(translator.encode_rows([fits])[0]) == LIMIT - 1
    assert len(fits) > LIMIT
    for model in models(translator, tmp_path):
        model.predict([fits])
    assert capsys.readouterr().err == ""
