"""explain_texts: each text as if it were alone, whatever the batch."""

import keras
import numpy as np
import pytest

from keras_seq.explain import explain_texts, token_weights
from keras_seq.layers import GRU
from keras_seq.text import WordTokenizer

pytestmark = pytest.mark.tensorflow
TEXTS = ["Not good at all, no.", "", "good", "¿Naïve? Not bad!", " \n "]


@pytest.fixture(scope="module")
def weigh():
    keras.utils.set_random_seed(0)
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(11, 5, mask_zero=True, name="token_embedding")(
        ids
    )
    x = GRU(3)(x)
    return token_weights(keras.Model(ids, keras.layers.Dense(2)(x)))


TOKENIZER = WordTokenizer(["not", "good", "bad", "all", ",", "no", "!"])


@pytest.mark.parametrize("batch_size", [1, 2, 128])
def test_texts_come_back_in_order_and_each_as_if_alone(weigh, batch_size):
    encode = TOKENIZER.tokenize_with_offsets
    outputs, words = explain_texts(weigh, encode, TEXTS, batch_size)
    assert outputs.shape == (5, 2)
    assert [w.text for w in words] == TEXTS
    assert words[3].words == ["¿", "Naïve", "?", "Not", "bad", "!"]
    assert words[1].words == words[4].words == []
    assert len({id(w) for w in words}) == 5
    for text, output, found in zip(TEXTS, outputs, words, strict=True):
        ids = np.array([TOKENIZER.tokenize(text).numpy()]).reshape(1, -1)
        ids = ids if ids.size else np.zeros((1, 1), "int32")
        logits, weights = weigh(ids.astype("int32"))
        np.testing.assert_allclose(output, logits[0], atol=1e-5)
        if found.words:  # the tokens of this tokenizer are words
            np.testing.assert_allclose(found.weights, weights[0], atol=1e-5)


def test_a_text_whose_middle_is_not_read_weighs_nothing_there(weigh):
    def ends_only(texts):
        spans = TOKENIZER.tokenize_with_offsets(texts)
        import tensorflow as tf

        return type(spans)(
            *(tf.concat([x[:, :1], x[:, -1:]], axis=1) for x in spans)
        )

    _, (words,) = explain_texts(weigh, ends_only, TEXTS[:1])
    assert words.weights[0] != 0 and words.weights[-1] != 0
    assert (words.weights[1:-1] == 0).all()


def test_one_string_is_not_a_list_of_letters(weigh):
    with pytest.raises(ValueError, match="`texts`.*'good'"):
        explain_texts(weigh, TOKENIZER.tokenize_with_offsets, "good")
    outputs, words = explain_texts(weigh, TOKENIZER.tokenize_with_offsets, [])
    assert len(outputs) == 0 and words == []
