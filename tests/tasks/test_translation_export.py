"""Translators as SavedModels: text to text, with where they looked."""

import json

import numpy as np
import pytest

from keras_seq import export
from keras_seq.models import rnn_search, seq2seq, transformer
from keras_seq.tasks.translation_export import (
    GOLDEN_TEXTS,
    export_translation,
    translation_signatures,
)
from keras_seq.tasks.translator import Translator
from keras_seq.text import SubwordTokenizer
from tests.tasks.translation_toy import WORDS

pytestmark = pytest.mark.tensorflow
TEXTS = ["one red cat and two dog", "", "cat", b"\xff\xfe", "Où est-il ? 👍"]
CARD = {"data": {}, "metrics": [], "licence": "CC0-1.0", "credits": []}


def make(family, **settings):
    tokenizer = SubwordTokenizer.train([*WORDS, *WORDS.values()], 330)
    model = family(tokenizer.vocabulary_size, "test", **settings)
    return Translator(tokenizer, model, max_length=40)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A Transformer that knows nothing, exported and verified."""
    translator = make(transformer)
    folder = tmp_path_factory.mktemp("exported") / "translation"
    path = export_translation(translator, folder, card=CARD, n_best=3)
    return translator, export.load(path), path


def ask(exported, signature, texts):
    answer = exported[1].signatures[signature](text=np.array(texts, object))
    return {name: np.asarray(value) for name, value in answer.items()}


def test_the_default_gives_what_the_translator_gives(exported):
    answer = ask(exported, "serving_default", TEXTS)
    assert set(answer) == {"text", "score"}
    found = [text.decode() for text in answer["text"]]
    assert found == exported[0].translate(TEXTS)
    assert np.isfinite(answer["score"]).all()
    assert answer["text"][1] == b"" and answer["score"][1] == 0


def test_the_compiled_search_gives_the_same(exported):
    for texts in (TEXTS, TEXTS[:1], ["cat " * 12] * 5):
        plain = ask(exported, "serving_default", texts)
        fast = ask(exported, "fast", texts)
        assert fast["text"].tolist() == plain["text"].tolist()
        np.testing.assert_allclose(fast["score"], plain["score"], rtol=1e-4)


def test_alternatives_come_best_first_and_the_best_is_the_answer(exported):
    answer = ask(exported, "n_best", TEXTS)
    assert answer["texts"].shape == (len(TEXTS), 3)
    assert (np.diff(answer["scores"]) <= 0).all()
    best = ask(exported, "serving_default", TEXTS)
    assert answer["texts"][:, 0].tolist() == best["text"].tolist()


def test_ids_give_the_same_as_text(exported):
    translator = exported[0]
    ids = translator.encode(TEXTS)
    answer = exported[1].signatures["from_ids"](source_ids=np.asarray(ids))
    texts = translator.tokenizer.detokenize(answer["token_ids"])
    best = ask(exported, "serving_default", TEXTS)
    assert texts.numpy().tolist() == best["text"].tolist()
    wild = np.array([[-5, 10**6, 3]], "int32")
    answer = exported[1].signatures["from_ids"](source_ids=wild)
    assert np.isfinite(np.asarray(answer["score"])).all()


def test_explain_shows_where_each_word_came_from(exported):
    answer = ask(exported, "explain", TEXTS)
    batch, layers, heads, length, key_length = answer["attention"].shape
    settings = exported[0].model.settings
    assert layers == settings["num_decoder_layers"]
    assert heads == settings["num_heads"]
    assert answer["target_tokens"].shape == (batch, length)
    assert answer["source_tokens"].shape == (batch, key_length)
    assert answer["alignment"].shape == (
        batch,
        answer["target_words"].shape[1],
        answer["source_words"].shape[1],
    )
    sums = answer["attention"].sum(-1)
    real = answer["target_tokens"] != b""
    expected = np.broadcast_to(real[:, None, None], sums.shape)
    np.testing.assert_allclose(sums, expected, atol=1e-5)
    assert [w for w in answer["source_words"][0].tolist() if w] == [
        word.encode() for word in TEXTS[0].split()
    ]
    joined = b"".join(answer["target_words"][0].tolist())
    assert joined == answer["text"][0].replace(b" ", b"")
    assert not answer["alignment"][1].any()  # nothing was written


def test_one_batch_and_one_by_one_agree(exported):
    together = ask(exported, "serving_default", TEXTS)
    for row, text in enumerate(TEXTS):
        alone = ask(exported, "serving_default", [text])
        assert alone["text"][0] == together["text"][row]


def test_any_number_of_sentences_of_any_length(exported):
    for texts in ([], ["cat"] * 70, ["cat " * 2000]):
        answer = ask(exported, "serving_default", texts)
        assert len(answer["text"]) == len(texts)


def test_the_card_says_how_it_searches(exported):
    card = json.loads((exported[2] / "model_card.json").read_text())
    assert card["task"] == "translation"
    assert card["search"] == {
        "beam_size": 4,
        "length_penalty": 0.6,
        "coverage_penalty": 0.0,
        "n_best": 3,
    }
    asked = card["golden"]["serving_default"][0]["inputs"]["text"]
    assert len(asked) == len(GOLDEN_TEXTS)


@pytest.mark.parametrize("family", [rnn_search, seq2seq])
def test_recurrent_translators_have_the_same_signatures(family):
    signatures = translation_signatures(make(family), n_best=2)
    names = {"serving_default", "n_best", "from_ids", "fast"}
    if family is rnn_search:
        names.add("explain")
        answer = signatures["explain"](np.array(["one cat", ""], object))
        assert answer["attention"].shape[1:3] == (1, 1)
    assert set(signatures) == names
    plain = signatures["serving_default"](np.array(["one cat", ""], object))
    assert np.isfinite(plain["score"].numpy()).all()


def test_rotary_positions_give_the_same_by_every_signature():
    translator = make(transformer, positions="both", max_shift=7)
    signatures = translation_signatures(translator, n_best=2)
    texts = np.array(["one red cat and two dog", "", "cat"], object)
    plain = signatures["serving_default"](texts)
    found = [text.decode() for text in plain["text"].numpy()]
    assert found == translator.translate(texts)
    for name in ("fast", "explain"):
        answer = signatures[name](texts)
        assert answer["text"].numpy().tolist() == plain["text"].numpy().tolist()
    fast = signatures["fast"](texts)["score"]
    np.testing.assert_allclose(fast, plain["score"], rtol=1e-4)


def test_the_card_keeps_the_looks_of_short_texts_only(exported):
    """A weight for every pair of tokens made it larger than the graph."""
    asked = exported[1].card["golden"]["explain"]
    texts = [text for pair in asked for text in pair["inputs"]["text"]]
    assert "" in texts and GOLDEN_TEXTS[1] not in texts
