"""Grades of word weights, against brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_seq.explain import (
    precision_at_k,
    rationale_auc,
    score_rationales,
    weight_share,
    word_weights,
)
from keras_seq.explain.rationales import overlapping
from tests.oracles import explanation as oracle

# Few different numbers, so that there are ties.
graded = st.lists(
    st.tuples(st.sampled_from([-1.0, 0.0, 0.25, 0.5]), st.booleans()),
    min_size=1,
    max_size=6,
).map(lambda pairs: tuple(zip(*pairs, strict=True)))


@given(graded, st.integers(1, 6))
def test_precision_is_the_mean_over_the_orders_of_equals(pair, k):
    weights, gold = pair
    k = min(k, len(weights))
    if any(gold):
        want = oracle.precision_at_k(weights, gold, k)
        assert precision_at_k(weights, gold, k) == pytest.approx(want)
    else:
        assert math.isnan(precision_at_k(weights, gold, k))


@given(graded)
def test_auc_counts_pairs(pair):
    weights, gold = pair
    if any(gold) and not all(gold):
        want = oracle.auc(weights, gold)
        assert rationale_auc(weights, gold) == pytest.approx(want)
        flipped = rationale_auc(weights, np.logical_not(gold))
        assert flipped == pytest.approx(1 - want)
    else:
        assert math.isnan(rationale_auc(weights, gold))


def test_precision_without_k_takes_as_many_as_are_gold():
    gold = [True, False, True, False, False]
    assert precision_at_k([5, 4, 3, 2, 1], gold) == 0.5
    assert precision_at_k([5, 1, 3, 2, 1], gold) == 1.0


def test_weights_that_say_nothing_earn_nothing():
    gold = [True, False, False, False, False]
    assert precision_at_k(np.zeros(5), gold, 1) == pytest.approx(0.2)
    assert rationale_auc(np.zeros(5), gold) == 0.5
    assert math.isnan(weight_share(np.zeros(5), gold))


def test_share_is_of_absolute_weight():
    assert weight_share([1, -2, 1], [False, True, False]) == 0.5


def test_a_word_is_gold_if_it_shares_a_character():
    words = [(0, 3), (3, 4), (5, 9), (9, 10)]
    assert overlapping(words, [(2, 3), (8, 9)]).tolist() == [1, 0, 1, 0]
    assert overlapping(words, []).tolist() == [0, 0, 0, 0]
    assert overlapping([], [(0, 3)]).tolist() == []


def test_scores_are_means_over_the_texts_that_have_gold():
    good = word_weights("so good", [0, 3], [2, 7], [0.25, 0.75])
    dull = word_weights("so dull", [0, 3], [2, 7], [0.75, 0.25])
    fact = word_weights("It rained", [0, 3], [2, 9], [0.5, 0.5])
    empty = word_weights("", [], [], [])
    scores = score_rationales(
        [good, dull, fact, empty], [[(3, 7)], [(3, 7)], [], []]
    )
    assert scores.examples == 2
    assert scores.precision_at_1 == scores.precision_at_gold == 0.5
    assert scores.auc == scores.share == 0.5
    nothing = score_rationales([fact], [[]])
    assert nothing.examples == 0 and math.isnan(nothing.auc)


def test_the_built_in_gold_grades_itself():
    from keras_seq.data.reviews import write_reviews

    reviews = list(itertools.islice(write_reviews(3), 40))
    words, spans = [], []
    for review in reviews:
        bare = word_weights(review.text, [], [], [])
        gold = overlapping(bare.spans, review.rationale.spans)
        starts, ends = bare.spans.T
        words.append(word_weights(review.text, starts, ends, gold / gold.sum()))
        spans.append(review.rationale.spans)
    scores = score_rationales(words, spans)
    assert scores.examples == 40
    assert scores.precision_at_1 == scores.precision_at_gold == 1
    assert scores.auc == scores.share == 1


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="`k`.*0"):
        precision_at_k([1.0], [True], 0)
    with pytest.raises(ValueError, match=r"\(2,\) and \(1,\)"):
        rationale_auc([1.0, 2.0], [True])
    with pytest.raises(ValueError, match="finite"):
        weight_share([math.nan], [True])
