"""The plain way gives the numbers of the fast one, out of plain operations."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq import layers
from keras_seq.ops.ngrams import count_smaller, present_entries
from keras_seq.ops.portable import is_portable, portable

B, T, D, VOCABULARY = 3, 7, 12, 53
# Of no use to other runtimes: lists of tensors, searches, functions.
KNOWN_HERE_ONLY = ("TensorList", "LowerBound", "TopK", "BlockLSTM", "Cudnn")


def ids(seed=0, length=T):
    found = np.random.default_rng(seed).integers(1, 11, (B, length))
    found[1, length // 2 :] = 0
    found[2] = 0
    return found.astype("int32")


def ngrams(layer):
    rng = np.random.default_rng(1)
    rows = [rng.integers(1, 11, n).tolist() for n in (3, 5, 8, 13, 21)]
    layer.learn_counts(rows, [0, 1, 0, 1, 1])
    return layer


def spellings():
    layer = layers.SpellingBag(2, VOCABULARY, 301)
    layer.learn_spellings(["", *(f"w{n % 5}ab{n}" for n in range(50))])
    return ngrams(layer)


def embedded(*rest):
    first = layers.TokenEmbedding(VOCABULARY, D)
    return keras.Sequential([keras.Input((None,), dtype="int32"), first, *rest])


MODELS = {
    "attention": lambda: embedded(layers.TransformerEncoder(29, num_heads=3)),
    "rotary and grouped": lambda: embedded(Self(rotary=True)),
    "window": lambda: embedded(Self(sliding_window=3)),
    "rnn": lambda: embedded(layers.SimpleRNN(5)),
    "lstm": lambda: embedded(layers.LSTM(5, return_sequences=True)),
    "gru": lambda: embedded(layers.GRU(5, go_backwards=True)),
    "both ways": lambda: embedded(layers.Bidirectional(layers.GRU(5))),
    "n-grams": lambda: ngrams(layers.NgramBag(2, 101)),
    "spellings": spellings,
}


class Self(keras.layers.Layer):
    """Attention from a sequence to itself."""

    def __init__(self, **settings):
        super().__init__()
        self.attention = layers.MultiHeadAttention(
            4, 6, num_key_value_heads=2, **settings
        )
        self.supports_masking = True

    def call(self, x, mask=None):
        return self.attention(x, x, query_mask=mask, value_mask=mask)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("length", [1, T])
def test_the_numbers_are_the_same(name, length):
    model = MODELS[name]()
    x = ids(length=length)
    fast = ops.convert_to_numpy(model(x))
    with portable():
        plain = ops.convert_to_numpy(model(x))
    np.testing.assert_allclose(plain, fast, rtol=1e-5, atol=1e-6)
    assert np.abs(fast).max() > 0


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", MODELS)
def test_a_graph_of_any_length_holds_plain_operations_only(name):
    import tensorflow as tf

    model = MODELS[name]()
    fast = ops.convert_to_numpy(model(ids()))

    @tf.function(
        input_signature=[tf.TensorSpec((None, None), tf.int32)],
        autograph=False,
    )
    def traced(token_ids):
        with portable():
            return model(token_ids)

    np.testing.assert_allclose(traced(ids()), fast, rtol=1e-5, atol=1e-6)
    graph = traced.get_concrete_function().graph.as_graph_def()
    nodes = [
        *graph.node,
        *(n for f in graph.library.function for n in f.node_def),
    ]
    bad = {node.op for node in nodes if node.op.startswith(KNOWN_HERE_ONLY)}
    assert not bad


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 101])
def test_counting_the_smaller_is_searching(size):
    rng = np.random.default_rng(size)
    low, high = np.iinfo("int32").min, np.iinfo("int32").max
    table = np.unique(rng.integers(low, high, size)).astype("int32")
    asked = np.concatenate([table, table - 1, [low, 0, high]])
    asked = np.stack([asked, asked[::-1]]).astype("int32")
    found = count_smaller(*map(ops.convert_to_tensor, (table, asked)))
    np.testing.assert_array_equal(
        ops.convert_to_numpy(found), np.searchsorted(table, asked)
    )
    present = present_entries(*map(ops.convert_to_tensor, (asked, table)))
    np.testing.assert_array_equal(ops.convert_to_numpy(present), 1.0)


def test_it_ends_with_its_block_even_by_an_error():
    with pytest.raises(ZeroDivisionError), portable():
        assert is_portable()
        _ = 1 / 0
    assert not is_portable()
