"""Weights and tokens are checked before anything is drawn."""

import numpy as np
import pytest

from keras_seq.explain.attention_maps import attention_maps

L, H, T, S = 2, 3, 5, 7
ROWS, COLUMNS = list("abcde"), list("ABCDEFG")
WEIGHTS = np.random.default_rng(0).random((L, H, T, S))


@pytest.mark.parametrize(
    "weights, names, heads",
    [
        (WEIGHTS[0, 0], [""], 1),
        (WEIGHTS[0], [""], H),
        (WEIGHTS, ["layer 1", "layer 2"], H),
        (WEIGHTS[:1], [""], H),
        ({"x": WEIGHTS[0, 0], "y": WEIGHTS[1]}, ["x", "y"], None),
        ({"x": WEIGHTS[:1]}, ["x"], H),
    ],
)
def test_each_way_to_give_weights(weights, names, heads):
    maps = attention_maps(weights, ROWS, COLUMNS)
    assert [m.name for m in maps] == names
    assert all(m.weights.shape[1:] == (T, S) for m in maps)
    assert heads is None or len(maps[0].weights) == heads
    np.testing.assert_array_equal(maps[0].weights[0], WEIGHTS[0, 0])


def test_layers_may_have_tokens_of_their_own():
    maps = attention_maps(
        {"self": WEIGHTS[0, :, :, :T], "cross": WEIGHTS[1]},
        ROWS,
        {"self": ROWS, "cross": COLUMNS},
    )
    assert [m.columns for m in maps] == [ROWS, COLUMNS]


def test_a_row_that_sees_nothing_has_no_numbers():
    weights = WEIGHTS[0].copy()
    weights[1, 2] = 0
    weights[2, 3, 4] = np.nan
    weights[0, 0, 1] = 0  # a zero in a row that sees something is a number
    (found,) = attention_maps(weights, ROWS, COLUMNS)
    empty = np.zeros((H, T, S), bool)
    empty[1, 2], empty[2, 3, 4] = True, True
    np.testing.assert_array_equal(np.isnan(found.weights), empty)
    np.testing.assert_allclose(found.mean[2], weights[[0, 2], 2].mean(0))
    np.testing.assert_allclose(found.mean[4], weights[:, 4].mean(0))


def test_a_row_that_no_head_sees_has_no_mean():
    weights = WEIGHTS[0].copy()
    weights[:, 2] = 0
    (found,) = attention_maps(weights, ROWS, COLUMNS)
    assert np.isnan(found.mean[2]).all()
    assert not np.isnan(found.mean[[0, 1, 3, 4]]).any()


def test_tokens_are_made_readable():
    tokens = [b"caf\xc3\xa9", "a\nb", "", "  ", b"\xff", "\ud800", 7, "\x00"]
    (found,) = attention_maps(np.ones((8, 1)), tokens, np.array(["▁x"]))
    assert found.rows == ["café", "a↵b", "∅", "␣␣", "�", "?", "7", "�"]
    assert found.columns == ["▁x"]


@pytest.mark.parametrize(
    "weights, rows, columns, message",
    [
        (WEIGHTS[0], COLUMNS, ROWS, r"7 `rows`.*5 `columns`.*\(3, 5, 7\)"),
        (WEIGHTS[0], ROWS[1:], COLUMNS, r"4 `rows`.*Received: shape"),
        ({"x": WEIGHTS[0]}, ROWS, ROWS, r"of layer 'x'.*Received: shape"),
        ({"x": WEIGHTS}, ROWS, COLUMNS, r"\['x'\]`.*batch.*\(2, 3, 5, 7\)"),
        (WEIGHTS[0, 0, 0], ROWS, COLUMNS, r"Received: shape \(7,\)"),
        (WEIGHTS[None], ROWS, COLUMNS, r"Received: shape \(1, 2, 3, 5, 7\)"),
        (np.ones((0, S)), [], COLUMNS, r"empty. Received: shape \(0, 7\)"),
        ({}, ROWS, COLUMNS, r"at least one layer. Received: {}"),
        (np.full((T, S), np.inf), ROWS, COLUMNS, "Received: 35 infinite"),
        ([["x"]], ["a"], ["b"], r"numbers. Received: \[\['x'\]\]"),
        ([[1.0, 2.0], [3.0]], ["a"], ["b"], "numbers. Received"),
        (WEIGHTS[0], "abcde", COLUMNS, "`rows` must be a list.*'abcde'"),
        (WEIGHTS[0], ROWS, None, "`columns` must be a list.*None"),
        ({"x": WEIGHTS[0]}, {"y": ROWS}, COLUMNS, r"none of 'x'.*\['y'\]"),
    ],
)
def test_what_does_not_fit_is_refused(weights, rows, columns, message):
    with pytest.raises(ValueError, match=message):
        attention_maps(weights, rows, columns)
