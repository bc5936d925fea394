"""Recurrent translators, exported: all ways to ask have one answer."""

import numpy as np
import pytest

from keras_seq import export
from keras_seq.models import rnn_search, seq2seq
from keras_seq.tasks.translation_export import export_translation
from keras_seq.tasks.translator import Translator
from keras_seq.text import SubwordTokenizer
from tests.tasks.translation_toy import WORDS

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]
TEXTS = ["one red cat", "", "dog", b"\xff\xfe"]
CARD = {"data": {}, "metrics": [], "licence": "CC0-1.0", "credits": []}
FEW = 4
# Of short sentences: lengths cost compilations.
MANY = (["cat", "one dog", "", "red"] * 65)[:257]


@pytest.fixture(scope="module", params=[seq2seq, rnn_search])
def exported(request, tmp_path_factory):
    """A model that knows nothing, exported and verified."""
    tokenizer = SubwordTokenizer.train([*WORDS, *WORDS.values()], 330)
    model = request.param(tokenizer.vocabulary_size, "test")
    rng = np.random.default_rng(3)
    for weight in model.weights:  # or it writes one token over and over
        if len(weight.shape) > 1:
            weight.assign(rng.normal(0, 0.7, weight.shape))
    translator = Translator(tokenizer, model, max_length=24)
    folder = tmp_path_factory.mktemp("exported") / "translation"
    path = export_translation(
        translator, folder, card=CARD, n_best=FEW, texts=TEXTS
    )
    return translator, export.load(path)


def ask(exported, signature, texts):
    return exported[1].signatures[signature](text=np.array(texts, object))


def test_only_a_model_that_looks_can_explain(exported):
    translator, loaded = exported
    names = {"serving_default", "n_best", "from_ids", "fast"}
    looks = {"explain"} if "search" in translator.model.name else set()
    assert set(loaded.signatures) == names | looks


def test_every_signature_has_the_answer_of_the_live_model(exported):
    translator, loaded = exported
    want = [text.encode() for text in translator.translate(TEXTS)]
    plain = ask(exported, "serving_default", TEXTS)
    assert plain["text"].tolist() == want and len(set(want)) > 2
    fast = ask(exported, "fast", TEXTS)
    assert fast["text"].tolist() == want
    np.testing.assert_allclose(fast["score"], plain["score"], rtol=1e-4)
    few = ask(exported, "n_best", TEXTS)
    assert few["texts"].shape == few["scores"].shape == (len(TEXTS), FEW)
    assert few["texts"][:, 0].tolist() == want
    assert (np.diff(few["scores"]) <= 0).all()
    assert len(set(few["texts"][0].tolist())) > 1  # ids differ, not all texts
    np.testing.assert_allclose(few["scores"][:, 0], plain["score"], rtol=1e-4)
    ids = np.asarray(translator.encode(TEXTS))
    by_ids = loaded.signatures["from_ids"](source_ids=ids)
    texts = translator.tokenizer.detokenize(by_ids["token_ids"]).numpy()
    assert texts.tolist() == want
    np.testing.assert_allclose(by_ids["score"], plain["score"], rtol=1e-4)


@pytest.mark.parametrize("size", [256, 257])
@pytest.mark.parametrize("signature", ["serving_default", "fast"])
def test_many_sentences_in_a_call(exported, signature, size):
    """257 are more than the compiled search has a size for."""
    answer = ask(exported, signature, MANY[:size])
    assert answer["text"].shape == answer["score"].shape == (size,)
    alone = dict(zip(MANY[:4], exported[0].translate(MANY[:4]), strict=True))
    want = [alone[text].encode() for text in MANY[:size]]
    assert answer["text"].tolist() == want
