"""Greedy decoding beside a chain of argmaxes, and what all decoding obeys."""

import numpy as np
import pytest
from keras import ops

from keras_seq.decoding import greedy
from tests.decoding.toy import (
    END,
    START,
    Recurrent,
    V,
    chain,
    numbers,
    sequences,
)
from tests.oracles import decoding as oracle


@pytest.mark.parametrize("seed", range(3))
def test_each_token_is_the_likeliest(seed):
    toy, limit = Recurrent(seed, sharpness=0.7), 7
    sources = toy.sources(11)
    got = toy.run(greedy, sources, limit)
    for b, source in enumerate(sources):
        model = toy.model(source)
        tokens, score = oracle.greedy(model, END, limit, banned=[START])
        assert sequences(got)[b] == tokens
        np.testing.assert_allclose(numbers(got)[1][b], score, rtol=1e-4)


def test_a_batch_is_its_rows_one_by_one():
    toy, limits = Recurrent(2, sharpness=0.7), np.int32([7, 5, 2, 0, 3])
    sources = toy.sources(len(limits))
    got = numbers(toy.run(greedy, sources, limits, room=11))
    assert got[0].shape == (5, 11)
    for b, limit in enumerate(limits):
        alone = toy.run(greedy, sources[b : b + 1], int(limit))
        token_ids, scores, lengths = numbers(alone)
        np.testing.assert_array_equal(got[0][b, :limit], token_ids[0])
        assert not got[0][b, limit:].any()
        np.testing.assert_allclose(got[1][b], scores[0], rtol=1e-5)
        assert got[2][b] == lengths[0]


def test_the_largest_limit_is_the_room():
    toy = Recurrent(0)
    limits = ops.convert_to_tensor([2, 5], "int32")
    got = toy.run(greedy, toy.sources(2), limits)
    assert numbers(got)[0].shape == (2, 5)


def test_a_limit_beyond_the_room_is_cut():
    toy = Recurrent(2, sharpness=0.1)
    got = toy.run(greedy, toy.sources(3), np.int32([9, 9, 1]), room=3)
    assert numbers(got)[0].shape == (3, 3)


def test_the_loop_ends_with_the_last_row():
    toy = Recurrent(0)
    toy.output[:, END] = 0
    step, calls = toy.step, []

    def ends_by_turns(token_ids, state):
        ops.convert_to_numpy(token_ids)  # fails while tracing
        calls.append(1)
        logits, state, attention = step(token_ids, state)
        at_end = state["left"] <= 1
        ends = ops.where(ops.arange(V) == END, 99.0, 0.0)
        state = {**state, "left": state["left"] - 1}
        return ops.where(at_end, ends, logits), state, attention

    left = ops.convert_to_tensor([[2], [4], [1]])
    state = toy.start(toy.sources(3)) | {"left": left}
    try:
        got = greedy(ends_by_turns, state, [START] * 3, END, 50)
    except Exception:
        pytest.skip("the loop is compiled: its turns cannot be counted")
    assert numbers(got)[2].tolist() == [2, 4, 1]
    assert len(calls) == 1 + 4  # the first is the look at the step


def test_padding_and_start_are_never_written():
    p = np.zeros((V, V))
    p[:] = 0.5, 0.4, 0.01, 0.04, 0.05
    got = greedy(chain(p), {}, [START, 4], END, 3)
    assert sequences(got) == [(4, 4, 4), (1, 1, 1)]
    got = greedy(chain(p), {}, [START, 4], END, 3, banned_ids=(1, 4))
    assert sequences(got) == [(3, 3, 3)] * 2


def test_scores_are_log_probabilities_of_the_whole_vocabulary():
    p = np.zeros((V, V))
    p[:] = 0.5, 0.25, 0.125, 0.0625, 0.0625
    got = greedy(chain(p), {}, [START], END, 3)
    np.testing.assert_allclose(numbers(got)[1], np.log([0.125]), rtol=1e-6)


def test_an_unlikely_token_has_a_finite_score():
    """The logarithm of a softmax would be of 0."""
    logits = np.full((1, V), -200.0, "float32")
    logits[0, 0] = 0  # padding, banned

    def step(token_ids, state):
        return ops.convert_to_tensor(logits), state, {}

    got = greedy(step, {}, [START], END, 1)
    np.testing.assert_allclose(numbers(got)[1], [-200.0], rtol=1e-6)


def test_half_precision_logits_are_scored_in_float32():
    logits = np.random.default_rng(0).normal(size=(1, 97)).astype("float16")

    def step(token_ids, state):
        return ops.convert_to_tensor(logits), state, {}

    got = greedy(step, {}, [START], END, 1)
    want = np.delete(oracle.log_softmax(logits[0]), [0, START]).max()
    np.testing.assert_allclose(numbers(got)[1], [want], rtol=1e-6)


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_a_row_without_numbers_stops_and_harms_no_other(bad):
    toy, sources = Recurrent(2), Recurrent(2).sources(3)

    def broken(token_ids, state):
        logits, state, attention = toy.step(token_ids, state)
        return ops.where(state["bad"], bad, logits), state, attention

    state = toy.start(sources) | {
        "bad": ops.convert_to_tensor([[True], [False], [False]])
    }
    got = greedy(broken, state, [START] * 3, END, 5)
    want = toy.run(greedy, sources, 5)
    assert sequences(got)[0] == ()
    assert np.isneginf(numbers(got)[1][0])
    assert sequences(got)[1:] == sequences(want)[1:]


def test_a_row_that_stopped_does_not_begin_again():
    p = np.zeros((V, V))
    p[0, 3] = 1  # what would follow padding; nothing follows the start
    got = greedy(chain(p), {}, [START], END, 5)
    assert sequences(got) == [()]


def test_nothing_is_written_without_room_or_rows():
    toy = Recurrent(0)
    got = numbers(toy.run(greedy, toy.sources(3), 0))
    assert [x.shape for x in got] == [(3, 0), (3,), (3,)]
    assert not got[1].any() and not got[2].any()
    got = numbers(toy.run(greedy, toy.sources(0), 5))
    assert [x.shape for x in got] == [(0, 5), (0,), (0,)]
    limits = np.zeros((0,), "int32")
    got = numbers(toy.run(greedy, toy.sources(0), limits))
    assert [x.shape for x in got] == [(0, 0), (0,), (0,)]


@pytest.mark.parametrize(
    "name, options",
    [
        ("max_length", {"max_length": -1}),
        ("room", {"room": -1}),
        ("end_id", {"end_id": V}),
        ("banned_ids", {"banned_ids": [END]}),
    ],
)
def test_what_cannot_be_is_refused_by_name(name, options):
    step = chain(np.full((V, V), 1 / V))
    options = {"end_id": END, "max_length": 3, **options}
    with pytest.raises(ValueError, match=f"`{name}`.*Received: "):
        greedy(step, {}, [START], **options)


def test_a_step_that_loses_a_part_of_the_state_is_refused():
    def step(token_ids, state):
        return ops.zeros((1, V)), {}, {}

    with pytest.raises(ValueError, match="`step`.*Received"):
        greedy(step, {"h": ops.zeros((1, 1))}, [START], END, 3)
