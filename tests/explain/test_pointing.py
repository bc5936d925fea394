"""The pointing game, on attention whose peak is planted."""

import numpy as np
import pytest

from keras_seq.explain import pointing_accuracy

SIZE = H, W = 60, 140  # the picture
GRID = h, w = 5, 7  # cells of 12 by 20 pixels
CUP, DOG = (40, 24, 80, 48), (120, 0, 140, 12)  # 2 x 2 cells and 1 cell


def spot(row, column, rest=0.0):
    weights = np.full(GRID, rest)
    weights[row, column] = 1.0
    return weights / weights.sum()


def score(maps, words, boxes):
    return pointing_accuracy(np.array(maps), words, boxes, SIZE)


def test_a_peak_inside_is_a_hit_and_one_outside_is_not():
    maps = [spot(2, 3, 0.1), spot(0, 6), spot(4, 6), spot(0, 0)]
    scores = score(maps, "cup dog dog the".split(), [[CUP], [DOG], [DOG], []])
    assert scores.words == 3
    assert scores.accuracy == pytest.approx(2 / 3)
    assert scores.chance == pytest.approx((4 + 1 + 1) / 35 / 3)
    assert scores.by_word["dog"] == pytest.approx((0.5, 1 / 35, 0.5, 2))
    assert scores.by_word["cup"][2] == pytest.approx(1.3 / 4.4)
    assert list(scores.by_word) == ["cup", "dog"]


def test_rows_are_not_columns():
    right, turned = spot(0, 6), spot(4, 0)
    assert score([right], ["dog"], [[DOG]]).accuracy == 1
    assert score([turned], ["dog"], [[DOG]]).accuracy == 0


def test_every_cell_of_a_box_is_in_it_and_no_other():
    hits = [
        (row, column)
        for row, column in np.ndindex(GRID)
        if score([spot(row, column)], ["cup"], [[CUP]]).accuracy
    ]
    assert hits == [(2, 2), (2, 3), (3, 2), (3, 3)]


def test_any_of_several_boxes_will_do():
    for place in ((2, 2), (0, 6)):
        scores = score([spot(*place)], ["left"], [[CUP, DOG]])
        assert scores.accuracy == 1
        assert scores.chance == pytest.approx(5 / 35)


@pytest.mark.parametrize("level", [0.0, 1 / 35])
def test_attention_that_says_nothing_scores_chance(level):
    scores = score([np.full(GRID, level)], ["cup"], [[CUP]])
    assert scores.accuracy == scores.chance == scores.share == 4 / 35


def test_a_random_peak_scores_chance():
    rng = np.random.default_rng(0)
    maps = rng.random((4000, *GRID))
    scores = score(maps, ["cup"] * 4000, [[CUP]] * 4000)
    assert scores.accuracy == pytest.approx(scores.chance, abs=0.02)


def test_a_box_smaller_than_a_cell_is_where_most_of_it_is():
    small = (58, 13, 63, 15)  # 2 pixels in column 2, 3 in column 3; row 1
    assert score([spot(1, 3)], ["bee"], [[small]]).accuracy == 1
    assert score([spot(1, 2)], ["bee"], [[small]]).accuracy == 0
    assert score([spot(1, 2)], ["bee"], [[small]]).chance == 1 / 35


def test_many_pictures_are_one_score_by_word():
    maps = [np.array([spot(2, 2)]), np.array([spot(0, 6), spot(0, 0)])]
    scores = pointing_accuracy(
        maps, [["Cup"], ["dog", "cup"]], [[[CUP]], [[DOG], [CUP]]], SIZE
    )
    assert scores.words == 3 and scores.accuracy == pytest.approx(2 / 3)
    assert scores.by_word["cup"][0] == 0.5


def test_nothing_to_grade_is_not_a_number():
    scores = score([spot(0, 0)], ["the"], [[]])
    assert scores.words == 0 and np.isnan(scores.accuracy)
    assert scores.by_word == {}


def test_a_thing_that_is_not_there_is_a_miss_that_chance_cannot_hit():
    """By hand: 4 said, "the" is no thing; 1 hit, 1 lost, 1 of no such thing."""
    maps = [spot(2, 3), spot(0, 0), spot(2, 2), spot(4, 4)]
    words, boxes = "cup Dog Boat the".split(), [[CUP], [DOG], [], []]
    true = score(maps, words, boxes)
    assert (true.words, true.accuracy) == (2, pytest.approx(1 / 2))
    things = pointing_accuracy(
        np.array(maps), words, boxes, SIZE, things=["boat", "cup", "car"]
    )
    assert things.words == 3
    assert things.accuracy == pytest.approx(1 / 3)
    assert things.chance == pytest.approx((4 + 1 + 0) / 35 / 3)
    assert things.share == pytest.approx(1 / 3)
    assert things.by_word["boat"] == (0, 0, 0, 1)
    assert things.by_word["cup"] == true.by_word["cup"]


def test_only_things_that_are_not_there_score_nothing():
    scores = pointing_accuracy(
        [[spot(0, 0)]], [["boat"]], [[[]]], SIZE, things={"Boat"}
    )
    assert (scores.accuracy, scores.chance, scores.words) == (0, 0, 1)


def test_one_string_is_not_things():
    with pytest.raises(ValueError, match="not one string. Received: 'boat'"):
        pointing_accuracy([[spot(0, 0)]], [["a"]], [[[]]], SIZE, things="boat")


@pytest.mark.parametrize(
    "maps, words, boxes, message",
    [
        (np.ones(GRID), ["a"], [[]], r"\(T, h, w\). Received: shape \(5, 7\)"),
        (np.ones((2, *GRID)), ["a"], [[]], "one entry for each word.*2, 1 and"),
        (np.full((1, *GRID), np.nan), ["a"], [[]], "must be finite"),
        (-np.ones((1, *GRID)), ["a"], [[]], "not negative"),
        (np.ones((1, *GRID)), ["a"], [[(9, 0, 9, 9)]], "something inside"),
        (np.ones((1, *GRID)), ["a"], [[(900, 0, 910, 9)]], "inside the pict"),
    ],
)
def test_what_cannot_be_graded_is_refused(maps, words, boxes, message):
    with pytest.raises(ValueError, match=message):
        pointing_accuracy(maps, words, boxes, SIZE)


def test_pictures_are_counted():
    with pytest.raises(ValueError, match="same pictures. Received: 2, 1 and 1"):
        pointing_accuracy([spot(0, 0)] * 2, [["a"]], [[[]]], SIZE)
