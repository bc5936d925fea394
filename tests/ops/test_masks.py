"""Masks against loops, and the one softmax against the oracle."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.ops.masks import (
    causal_mask,
    check_mask,
    local_mask,
    masked_softmax,
    merge_masks,
    padding_mask,
    relative_distance,
)
from tests.gradients import gradients
from tests.oracles import attention as oracle

B, H, T, S = 2, 7, 3, 5


def numpy(x):
    return ops.convert_to_numpy(x)


def scores_and_mask(seed=0, shape=(B, H, T, S)):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=shape, scale=4).astype("float32")
    return scores, rng.random(shape) < 0.6


def softmax_of_rows(scores, mask):
    rows = zip(
        scores.reshape(-1, S).astype("float64"),
        mask.reshape(-1, S),
        strict=True,
    )
    return np.reshape([oracle.softmax(*row) for row in rows], scores.shape)


# --- who sees whom ----------------------------------------------------------


@pytest.mark.parametrize("t, s", [(T, S), (S, T), (S, S), (1, S), (0, S)])
@pytest.mark.parametrize("window", [1, 2, 7])
def test_masks_of_place_are_aligned_bottom_right(t, s, window):
    seen = {"batch": 1, "num_queries": t, "num_keys": s}
    np.testing.assert_array_equal(
        numpy(causal_mask(t, s)), oracle.sight(**seen, causal=True)[0, 0]
    )
    np.testing.assert_array_equal(
        numpy(local_mask(window, t, s)),
        oracle.sight(**seen, window=window)[0, 0],
    )


def test_one_query_at_the_end_of_a_cache_sees_all_of_it():
    assert numpy(causal_mask(1, S)).all()


def test_as_many_keys_as_queries_is_the_default():
    np.testing.assert_array_equal(numpy(causal_mask(S)), np.tri(S, dtype=bool))
    np.testing.assert_array_equal(
        numpy(local_mask(1, S)), np.eye(S, dtype=bool)
    )


def test_distance_is_positive_into_the_past():
    np.testing.assert_array_equal(
        numpy(relative_distance(2, 3)), [[1, 0, -1], [2, 1, 0]]
    )


def test_padding_is_where_the_pad_id_is():
    ids = np.array([[4, 0, 9, 9]])
    np.testing.assert_array_equal(
        numpy(padding_mask(ids)), [[True, False, True, True]]
    )
    np.testing.assert_array_equal(
        numpy(padding_mask(ids, pad_id=9)), [[True, True, False, False]]
    )


# --- joining masks ----------------------------------------------------------


def test_masks_of_all_ranks_are_joined_by_and():
    rng = np.random.default_rng(0)
    keys, pairs, one_head, heads = (
        rng.random(shape) < 0.7
        for shape in [(B, S), (B, T, S), (B, 1, T, S), (B, H, T, S)]
    )
    got = numpy(merge_masks(keys, None, pairs, one_head, heads))
    want = keys[:, None, None] & pairs[:, None] & one_head & heads
    np.testing.assert_array_equal(got, want)
    assert numpy(merge_masks(keys)).shape == (B, 1, 1, S)
    assert merge_masks(None, None) is None


def test_integers_zero_and_one_are_a_mask():
    checked = check_mask("m", np.array([[1, 0, 1]]), [(1, 3)])
    np.testing.assert_array_equal(numpy(checked), [[True, False, True]])


def test_an_axis_of_length_one_is_broadcast():
    check_mask("m", np.ones((1, T, S), bool), [(B, T, S)])
    check_mask("m", np.ones((B, T, S), bool), [(None, None, S)])


@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16"])
def test_a_floating_point_mask_is_refused_by_name(dtype):
    mask = ops.ones((B, S), dtype)
    with pytest.raises(
        ValueError, match=f"`odd_mask`.*Received: dtype={dtype}"
    ):
        check_mask("odd_mask", mask, [(B, S)])


@pytest.mark.parametrize("shape", [(B, S + 1), (B + 1, S), (S,), (B, T, S)])
def test_a_mask_of_another_shape_is_refused_by_name(shape):
    with pytest.raises(ValueError, match=r"`odd_mask`.*Received: shape=\("):
        check_mask("odd_mask", np.ones(shape, bool), [(B, S)])


# --- the one softmax --------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_softmax_is_over_the_visible(seed):
    scores, mask = scores_and_mask(seed)
    np.testing.assert_allclose(
        numpy(masked_softmax(scores, mask)),
        softmax_of_rows(scores, mask),
        rtol=1e-5,
        atol=1e-6,
    )


def test_softmax_without_a_mask_is_softmax():
    scores, _ = scores_and_mask()
    want = softmax_of_rows(scores, np.ones_like(scores, bool))
    np.testing.assert_allclose(
        numpy(masked_softmax(scores)), want, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("shape", [(B, 1, 1, S), (B, 1, T, S), (T, S)])
def test_a_mask_is_broadcast_to_the_scores(shape):
    scores, _ = scores_and_mask()
    mask = np.random.default_rng(1).random(shape) < 0.6
    whole = np.broadcast_to(mask, scores.shape)
    np.testing.assert_allclose(
        numpy(masked_softmax(scores, mask)),
        softmax_of_rows(scores, whole),
        rtol=1e-5,
        atol=1e-6,
    )


# The fills that peers use fail on one or the other of these rows.
@pytest.mark.parametrize(
    "row", [(1, 5, 9), (100, 300, 500), (-16, -20, -40), (-2e4, 0, 2e4)]
)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_row_with_nothing_to_see_is_zero(row, dtype):
    scores = ops.cast(np.array([row]), dtype)
    weights = masked_softmax(scores, np.zeros((1, 3), bool))
    np.testing.assert_array_equal(
        numpy(ops.cast(weights, "float32")), [[0] * 3]
    )


def test_what_is_hidden_is_not_read():
    scores, mask = scores_and_mask()
    for loud in (np.nan, np.inf, -np.inf, 1e30):
        other = np.where(mask, scores, np.float32(loud))
        np.testing.assert_array_equal(
            numpy(masked_softmax(scores, mask)),
            numpy(masked_softmax(other, mask)),
        )


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_gradients_of_blind_rows_and_hidden_scores_are_zero(dtype):
    scores, mask = scores_and_mask()
    mask[0] = False
    factor = np.random.default_rng(1).normal(size=scores.shape)

    def loss(scores):
        scores = ops.cast(scores, dtype)
        weights = ops.cast(masked_softmax(scores, mask), "float32")
        return weights * ops.convert_to_tensor(factor.astype("float32"))

    (gradient,) = gradients(loss, scores)
    assert np.isfinite(gradient).all()
    assert not gradient[~mask].any()
    assert gradient[1].any()


def test_softmax_keeps_its_precision_in_bfloat16():
    scores = ops.cast(
        np.random.default_rng(0).normal(size=(1, 512)), "bfloat16"
    )
    exact = numpy(ops.cast(scores, "float32")).astype("float64")[0]
    want = oracle.softmax(exact, np.ones(512, bool))
    weights = masked_softmax(scores)
    assert keras.backend.standardize_dtype(weights.dtype) == "bfloat16"
    got = numpy(ops.cast(weights, "float32"))[0]
    np.testing.assert_allclose(got, want, rtol=8e-3)  # one bfloat16 step


def test_a_single_score_has_all_the_weight(recwarn):
    one = np.array([[3.0], [-7.0]], "float32")
    np.testing.assert_array_equal(numpy(masked_softmax(one)), [[1], [1]])
    mask = np.array([[True], [False]])
    np.testing.assert_array_equal(numpy(masked_softmax(one, mask)), [[1], [0]])
    assert not [w for w in recwarn.list if "softmax" in str(w.message)]


def test_no_scores_at_all_are_no_weights():
    scores = np.zeros((B, T, 0), "float32")
    mask = np.zeros((B, T, 0), bool)
    for weights in (masked_softmax(scores), masked_softmax(scores, mask)):
        assert tuple(weights.shape) == (B, T, 0)
