"""ALiBi and T5 biases against the papers, and against their own caches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.ops.masks import masked_softmax
from keras_seq.ops.position_bias import (
    alibi_bias,
    alibi_slopes,
    query_key_distance,
    relative_position_bucket,
)
from tests.oracles import positions as oracle

H, T, S = 2, 3, 7


def numpy(x):
    return ops.convert_to_numpy(x)


# --- ALiBi ------------------------------------------------------------------


def test_slopes_of_a_power_of_two_are_the_papers():
    want = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    np.testing.assert_allclose(alibi_slopes(8), want)
    np.testing.assert_allclose(alibi_slopes(16)[:2], [2**-0.5, 2**-1])
    np.testing.assert_allclose(alibi_slopes(1), [2**-8])


def test_slopes_of_other_numbers_are_filled_in_between():
    np.testing.assert_allclose(alibi_slopes(3), [2**-4, 2**-8, 2**-2])
    np.testing.assert_allclose(
        alibi_slopes(12)[8:], [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]
    )


@pytest.mark.parametrize("num_heads", range(1, 34))
def test_every_head_has_a_slope_of_its_own(num_heads):
    slopes = alibi_slopes(num_heads)
    assert len(set(slopes)) == num_heads
    assert (0 < slopes).all() and (slopes < 1).all()


@pytest.mark.parametrize("T, S", [(3, 7), (1, 5), (4, 4), (0, 3), (5, 2)])
def test_alibi_matches_the_paper_with_the_last_query_at_the_last_key(T, S):
    bias = numpy(alibi_bias(5, T, S))
    assert bias.shape == (1, 5, T, S) and bias.dtype == "float32"
    want = oracle.alibi(alibi_slopes(5), np.arange(S - T, S), S)
    np.testing.assert_allclose(bias[0], want, rtol=1e-6)


def test_alibi_looks_both_ways_alike():
    bias = numpy(alibi_bias(H, S))[0]
    np.testing.assert_array_equal(bias, bias.transpose(0, 2, 1))


def test_alibi_under_a_causal_mask_weighs_as_the_paper_does():
    # The paper's causal form is linear in the key's place, future included.
    slopes = alibi_slopes(H)[:, None, None]
    seen = np.tril(np.ones((S, S), bool))
    paper = (slopes * np.arange(S)).astype("float32") + np.zeros((H, S, S))
    want = numpy(masked_softmax(ops.convert_to_tensor(paper), seen))
    got = numpy(masked_softmax(alibi_bias(H, S)[0], seen))
    np.testing.assert_allclose(got, want, atol=1e-6)


def test_a_cached_step_has_the_row_of_the_whole():
    whole = numpy(alibi_bias(H, S))
    for t in (0, 1, S - 1):
        exact_cache = numpy(alibi_bias(H, 1, t + 1))
        np.testing.assert_array_equal(exact_cache, whole[:, :, [t], : t + 1])
        roomy_cache = numpy(alibi_bias(H, 1, S, start_index=t))
        np.testing.assert_array_equal(roomy_cache, whole[:, :, [t]])


def test_num_heads_must_be_positive():
    with pytest.raises(ValueError, match="`num_heads`.*Received: 0"):
        alibi_slopes(0)


# --- T5 ---------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    one_way=st.integers(2, 40),
    max_distance=st.sampled_from([21, 128, 300]),
    bidirectional=st.booleans(),
)
def test_buckets_are_those_of_t5(one_way, max_distance, bidirectional):
    num_buckets = 2 * one_way if bidirectional else one_way
    distance = np.arange(-max_distance - 5, max_distance + 5)
    got = relative_position_bucket(
        ops.convert_to_tensor(distance),
        num_buckets,
        max_distance,
        bidirectional,
    )
    want = [
        oracle.t5_bucket(int(d), num_buckets, max_distance, bidirectional)
        for d in distance
    ]
    np.testing.assert_array_equal(numpy(got), want)


def test_past_and_future_have_buckets_of_their_own():
    distance = ops.convert_to_tensor([0, 1, 7, 8, 127, 128, 10**6])
    past = numpy(relative_position_bucket(distance))
    np.testing.assert_array_equal(past, [0, 1, 7, 8, 15, 15, 15])
    future = numpy(relative_position_bucket(-distance))
    np.testing.assert_array_equal(future, [0, 17, 23, 24, 31, 31, 31])
    causal = numpy(relative_position_bucket(-distance, bidirectional=False))
    np.testing.assert_array_equal(causal, [0] * 7)


def test_powers_of_two_fall_on_the_right_side():
    # log(d / 8) / log(128 / 8) * 8 is a whole number at each of these.
    distance = ops.convert_to_tensor([16, 32, 64, 15, 31, 63])
    got = numpy(relative_position_bucket(distance))
    np.testing.assert_array_equal(got, [10, 12, 14, 9, 11, 13])


def test_distance_counts_back_from_the_query():
    np.testing.assert_array_equal(
        numpy(query_key_distance(2, 3)), [[1, 0, -1], [2, 1, 0]]
    )
    np.testing.assert_array_equal(
        numpy(query_key_distance(2, 3, start_index=0)),
        [[0, -1, -2], [1, 0, -1]],
    )


@pytest.mark.parametrize(
    "num_buckets, max_distance, bidirectional, name",
    [
        (1, 128, False, "num_buckets"),
        (2, 128, True, "num_buckets"),
        (7, 128, True, "num_buckets"),
        (32, 8, True, "max_distance"),
        (32, 16, False, "max_distance"),
    ],
)
def test_buckets_that_cannot_be_laid_out_raise(
    num_buckets, max_distance, bidirectional, name
):
    with pytest.raises(ValueError, match=f"`{name}`.*Received"):
        relative_position_bucket(
            ops.convert_to_tensor([1]), num_buckets, max_distance, bidirectional
        )
