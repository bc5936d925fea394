"""Score functions against the papers, one pair of vectors at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.ops import scores
from tests.gradients import gradients
from tests.oracles import attention as oracle

B, T, S, D, K, U = 2, 3, 5, 7, 11, 13


def numpy(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def draw(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype("float32") for shape in shapes]


def tensors(*arrays):
    return [ops.convert_to_tensor(x) for x in arrays]


def every_pair(score, query, key):
    """`(B, T, S)` of `score`, in float64."""
    query, key = query.astype("float64"), key.astype("float64")
    return np.array(
        [
            [[score(q, k) for k in keys] for q in queries]
            for queries, keys in zip(query, key, strict=True)
        ]
    )


seeds = given(seed=st.integers(0, 2**31))
few = settings(max_examples=10, deadline=None)


@few
@seeds
def test_products_match_the_papers(seed):
    query, key = draw(seed, (B, T, D), (B, S, D))
    for ours, paper in (
        (scores.dot_scores, oracle.dot),
        (scores.scaled_dot_scores, oracle.scaled_dot),
        (scores.cosine_scores, oracle.cosine),
    ):
        np.testing.assert_allclose(
            numpy(ours(*tensors(query, key))),
            every_pair(paper, query, key),
            rtol=1e-5,
            atol=1e-5,
        )


@few
@seeds
def test_bilinear_scores_match_the_paper(seed):
    query, key, w = draw(seed, (B, T, D), (B, S, K), (D, K))
    np.testing.assert_allclose(
        numpy(scores.bilinear_scores(query, key, w)),
        every_pair(lambda q, k: oracle.bilinear(q, k, w), query, key),
        rtol=1e-4,
        atol=1e-4,
    )


@few
@seeds
def test_additive_scores_match_the_paper(seed):
    query, key, w, u, v = draw(seed, (B, T, D), (B, S, K), (D, U), (K, U), (U,))
    np.testing.assert_allclose(
        numpy(scores.additive_scores(query, key, w, u, v)),
        every_pair(lambda q, k: oracle.additive(q, k, w, u, v), query, key),
        rtol=1e-4,
        atol=1e-4,
    )


def test_scores_take_any_number_of_leading_axes():
    query, key = draw(0, (B, 2, T, D), (B, 2, S, D))
    got = numpy(scores.scaled_dot_scores(*tensors(query, key)))
    for h in range(2):
        want = every_pair(oracle.scaled_dot, query[:, h], key[:, h])
        np.testing.assert_allclose(got[:, h], want, rtol=1e-5, atol=1e-5)


def test_scaling_the_query_first_does_not_overflow_float16():
    # 64 * 40 * 40 = 102400 is beyond float16; an eighth of it is not.
    query = key = ops.full((1, 1, 64), 40.0, "float16")
    np.testing.assert_array_equal(
        numpy(scores.scaled_dot_scores(query, key)), [[[12800.0]]]
    )


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_unit_vector_has_length_one_and_zero_stays_zero(dtype):
    x = np.array([[300.0, -400.0], [0.003, 0.004], [0, 0]])
    got = numpy(scores.unit_vectors(ops.cast(x, dtype)))
    want = [[0.6, -0.8], [0.6, 0.8], [0, 0]]
    np.testing.assert_allclose(got, want, atol=5e-3)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_the_gradient_at_a_zero_vector_is_finite(dtype):
    x = np.array([[0.0, 0.0], [3.0, 4.0]], "float32")
    (gradient,) = gradients(
        lambda x: 7 * scores.unit_vectors(ops.cast(x, dtype)), x
    )
    assert np.isfinite(gradient).all()
    # d(x/|x|)/dx at (3, 4) is (16, -12; -12, 9) / 125, summed by columns.
    np.testing.assert_allclose(gradient[1], [0.224, -0.168], rtol=1e-2)
