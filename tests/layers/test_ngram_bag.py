"""NgramBag and ngram_keys against dicts and loops."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.layers import NgramBag
from keras_seq.ops import ngram_keys
from tests.gradients import weight_gradients
from tests.oracles import ngrams as oracle

# Written down once: a saved model must find its n-grams again.
KEYS = [
    [724077571, 13137853, 1871229748],
    [737177046, 521881487, 0],
    [1901968417, 0, 0],
]

tokens = st.lists(st.integers(1, 5), max_size=7)


def padded(rows, length=11):
    ids = np.zeros((len(rows), length), "int32")
    for n, row in enumerate(rows):
        ids[n, : len(row)] = row
    return ids


def difference(layer, rows):
    z = ops.convert_to_numpy(layer(padded(rows)))
    return z[:, 1] - z[:, 0]


def draw(seed=0, num_rows=23):
    rng = np.random.default_rng(seed)
    rows = [rng.integers(1, 7, rng.integers(0, 9)) for _ in range(num_rows)]
    return rows, rng.integers(0, 2, num_rows)


@settings(max_examples=30, deadline=None)
@given(row=tokens, other=tokens)
def test_equal_keys_are_equal_runs(row, other):
    ids = padded([row, other])
    keys = ops.convert_to_numpy(ngram_keys(ids, 3))
    assert keys.shape == (2, 11, 3) and keys.dtype == np.int32
    runs = [
        {
            tuple(r[at : at + n + 1]): int(keys[b, at, n])
            for at in range(len(r))
            for n in range(3)
            if at + n < len(r)
        }
        for b, r in enumerate((row, other))
    ]
    for known in runs:
        assert len(set(known.values())) == len(known)
        assert 0 not in known.values()
    for run in runs[0].keys() & runs[1].keys():
        assert runs[0][run] == runs[1][run]
    shared = set(runs[0].values()) & set(runs[1].values())
    assert len(shared) == len(runs[0].keys() & runs[1].keys())


def test_keys_of_what_is_no_run_are_zero():
    keys = ops.convert_to_numpy(ngram_keys(np.array([[4, 0, 5, 6, 0]]), 2))
    assert (keys[0] != 0).tolist() == [
        [True, False],
        [False, False],
        [True, True],
        [True, False],
        [False, False],
    ]
    assert ngram_keys(np.zeros((2, 0), "int32"), 3).shape == (2, 0, 3)


def test_keys_are_the_same_on_every_backend():
    keys = ops.convert_to_numpy(ngram_keys(np.array([[30_000, 7, 9]]), 3))
    assert keys[0].tolist() == KEYS


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    max_ngram=st.integers(1, 3),
    min_count=st.integers(1, 3),
)
def test_matches_the_paper(seed, max_ngram, min_count):
    rows, labels = draw(seed)
    layer = NgramBag(2, 700, max_ngram, initial_strength=1.0)
    layer.learn_counts(rows, labels, min_count=min_count, smoothing=0.5)
    ratios = oracle.log_count_ratios(rows, labels, max_ngram, min_count, 0.5)
    ones = dict.fromkeys(ratios, 1.0)
    want = [oracle.bag(row, ratios, ones, max_ngram) for row in rows]
    np.testing.assert_allclose(
        difference(layer, rows), want, rtol=1e-4, atol=1e-5
    )


def test_strengths_belong_to_their_ngrams():
    rows, labels = [[1, 2], [3]], [1, 0]
    layer = NgramBag(2, 7, 1, initial_strength=1.0)
    layer.learn_counts(rows, labels)
    before = difference(layer, [[1], [2], [3], [4]])
    key = ops.convert_to_numpy(ngram_keys(np.array([[2]]), 1))[0, 0, 0]
    place = ops.convert_to_numpy(layer.keys).tolist().index(key)
    strengths = np.ones(7)
    strengths[place] = 5.0
    layer.strengths.assign(strengths)
    after = difference(layer, [[1], [2], [3], [4]])
    np.testing.assert_allclose(after, before * [1, 5, 1, 1], rtol=1e-5)
    assert before[3] == 0.0 and before[:3].all()


def test_only_ngrams_that_are_there_learn():
    layer = NgramBag(2, 7, 1)
    layer.learn_counts([[1, 2], [3]], [1, 0])
    (gradient,) = weight_gradients(
        layer, lambda x: layer(x)[:, 1], np.array([[2, 2, 9, 0]])
    )
    assert np.count_nonzero(gradient) == 1


def test_the_most_frequent_stay_if_there_is_no_room():
    rows, labels = [[1, 2], [1, 3], [1, 2], [4]], [1, 1, 1, 0]
    layer = NgramBag(2, 2, 1, initial_strength=1.0)
    layer.learn_counts(rows, labels)
    known = difference(layer, [[1], [2], [3], [4]]) != 0
    assert known.tolist() == [True, True, False, False]


def test_three_classes_have_a_ratio_each():
    layer = NgramBag(3, 20, 1)
    layer.learn_counts([[1], [2], [3]], [0, 1, 2])
    z = ops.convert_to_numpy(layer(padded([[1], [2], [3], []])))
    assert z.shape == (4, 3)
    assert z[:3].argmax(axis=1).tolist() == [0, 1, 2]
    assert not z[3].any()


def test_dropout_acts_in_training_alone():
    rows, labels = draw()
    layer = NgramBag(2, 700, 2, dropout=0.5, seed=1)
    layer.learn_counts(rows, labels)
    quiet = [ops.convert_to_numpy(layer(padded(rows))) for _ in range(2)]
    np.testing.assert_array_equal(*quiet)
    noisy = ops.convert_to_numpy(layer(padded(rows), training=True))
    assert (noisy != quiet[0]).any()


def test_silence_takes_whole_texts_and_leaves_others_as_they_are():
    layer = NgramBag(2, 10, 1, silence=0.5, seed=1)
    layer.learn_counts([[1], [2]], [1, 0])
    ids = np.full((60, 1), 2)
    heard = ops.convert_to_numpy(layer(ids))
    z = ops.convert_to_numpy(layer(ids, training=True))
    silent = ~z.any(axis=1)
    assert 15 < silent.sum() < 45
    np.testing.assert_array_equal(z[~silent], heard[~silent])
    assert heard.any(axis=1).all()


def test_a_saved_bag_remembers_what_it_counted(tmp_path):
    rows, labels = draw()
    inputs = keras.Input((None,), dtype="int32")
    layer = NgramBag(2, 700)
    model = keras.Model(inputs, layer(inputs))
    layer.learn_counts(rows, labels)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    ids = padded(rows)
    np.testing.assert_array_equal(
        *(ops.convert_to_numpy(m(ids)) for m in (model, again))
    )
    assert ops.convert_to_numpy(model(ids)).any()


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="`num_ngrams`.*Received"):
        NgramBag(2, 0)
    with pytest.raises(ValueError, match="`max_ngram`.*Received"):
        NgramBag(2, 5, max_ngram=0)
    with pytest.raises(ValueError, match="`silence`.*Received: silence=1"):
        NgramBag(2, 5, silence=1)
    with pytest.raises(ValueError, match="`labels`.*from 0 to 2"):
        NgramBag(2, 5).learn_counts([[1], [2]], [0, 2])
