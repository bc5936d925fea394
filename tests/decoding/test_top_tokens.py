"""The best tokens in two rounds, beside `top_k` in one."""

import numpy as np
import pytest
from keras import ops

from keras_seq.decoding.top_tokens import MANY, top_tokens

R = 5


@pytest.mark.parametrize("width", [11, MANY, 1031, 2000])
@pytest.mark.parametrize("count", [1, 3, 7])
def test_two_rounds_find_what_one_finds(width, count):
    rng = np.random.default_rng(width)
    scores = rng.permuted(np.tile(np.arange(width), (R, 1)), axis=1)
    scores = scores.astype("float32")
    best, columns = top_tokens(ops.convert_to_tensor(scores), count)
    order = np.argsort(-scores, axis=1)[:, :count]
    np.testing.assert_array_equal(ops.convert_to_numpy(columns), order)
    want = np.take_along_axis(scores, order, axis=1)
    np.testing.assert_array_equal(ops.convert_to_numpy(best), want)


def test_best_tokens_that_are_neighbours_are_all_found():
    scores = np.zeros((1, 8000), "float32")
    scores[0, [80, 81, 159, 7999]] = 4, 3, 2, 1  # three of one group
    _, columns = top_tokens(ops.convert_to_tensor(scores), 4)
    assert ops.convert_to_numpy(columns).tolist() == [[80, 81, 159, 7999]]


def test_a_row_with_too_little_to_choose_from_names_tokens_that_exist():
    width = 1031  # not a number of whole groups
    scores = np.full((R, width), -np.inf, "float32")
    scores[:, width - 1] = 1.0
    best, columns = (
        ops.convert_to_numpy(x)
        for x in top_tokens(ops.convert_to_tensor(scores), 4)
    )
    assert (columns[:, 0] == width - 1).all() and (best[:, 0] == 1).all()
    assert (columns >= 0).all() and (columns < width).all()
    assert (best[:, 1:] == -np.inf).all()
