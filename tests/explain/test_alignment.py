"""Attention as alignment: the error rate, the arg max, words from subwords."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_seq.explain import (
    alignment_error_rate,
    hard_alignment,
    merge_subwords,
)
from tests.oracles import alignment as oracle

LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 6)))
CORPUS = st.lists(st.tuples(LINKS, LINKS, LINKS), min_size=1, max_size=4)


@settings(deadline=None)
@given(CORPUS)
def test_the_error_rate_is_the_papers(corpus):
    a, s, p = map(list, zip(*corpus, strict=True))
    want = float(oracle.error_rate(a, s, p))
    assert alignment_error_rate(a, s, p) == pytest.approx(want)
    lists = [[list(links) for links in side] for side in (a, s, p)]
    assert alignment_error_rate(*lists) == pytest.approx(want)


def test_counts_are_summed_over_sentences_before_dividing():
    one, none = {(0, 0)}, {(1, 1)}
    three = {(0, 0), (1, 1), (2, 2)}
    assert alignment_error_rate([one, three], [none, three]) == 0.25


def test_sure_links_are_possible_without_being_said():
    assert alignment_error_rate([{(0, 0)}], [{(0, 0)}], [set()]) == 0
    assert alignment_error_rate([{(0, 0), (0, 1)}], [{(0, 0)}]) == (
        pytest.approx(1 / 3)
    )
    assert alignment_error_rate([set()], [set()]) == 0
    assert alignment_error_rate([set()], [{(0, 0)}]) == 1


def test_as_many_sentences_are_needed_on_each_side():
    with pytest.raises(ValueError, match="Received: 1, 2 and 2"):
        alignment_error_rate([[]], [[], []])


def test_each_target_word_is_linked_to_its_largest_weight():
    weights = np.zeros((5, 3))
    weights[[0, 1, 2, 3], [2, 0, 1, 0]] = [0.9, 0.4, 0.6, 0.5]
    weights[3, 1] = 0.5  # equal: the first wins; row 4 looks nowhere
    assert hard_alignment(weights) == ((0, 1), (0, 3), (1, 2), (2, 0))
    assert hard_alignment(weights, threshold=0.5) == ((1, 2), (2, 0))
    assert hard_alignment(np.zeros((0, 3))) == ()
    assert hard_alignment(np.zeros((3, 0))) == ()


def spans(lengths, gaps):
    found, at = [], 0
    for length, gap in zip(lengths, gaps, strict=False):
        at += gap
        found.append((at, at + length))
        at += length
    return found


SPANS = st.builds(
    spans,
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.lists(st.integers(0, 2), min_size=5, max_size=5),
)


@settings(deadline=None)
@given(SPANS, SPANS, SPANS, SPANS, st.integers(0, 99))
def test_merging_is_mean_over_own_and_sum_over_other_tokens(
    target_spans, source_spans, target_words, source_words, seed
):
    weights = np.random.default_rng(seed).random(
        (len(target_spans), len(source_spans))
    )
    arguments = target_spans, source_spans, target_words, source_words
    np.testing.assert_allclose(
        merge_subwords(weights, *arguments),
        oracle.merge(weights.tolist(), *arguments),
    )


def test_weights_that_sum_to_one_still_do():
    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=3)
    merged = merge_subwords(
        weights,
        target_spans=[(0, 2), (2, 4), (5, 7)],
        source_spans=[(0, 3), (3, 4), (5, 6), (6, 9), (9, 11)],
        target_words=[(0, 4), (5, 7)],
        source_words=[(0, 4), (5, 11)],
    )
    assert merged.shape == (2, 2)
    np.testing.assert_allclose(merged.sum(axis=1), 1)


def test_tokens_of_no_word_are_left_out():
    merged = merge_subwords(
        [[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]],
        target_spans=[(0, 1), (1, 1)],
        source_spans=[(0, 1), (2, 3), (3, 3)],
        target_words=[(0, 1)],
        source_words=[(0, 1), (2, 3)],
    )
    np.testing.assert_allclose(merged, [[0.2, 0.5]])


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"`weights`.*shape \(1, 2, 3\)"):
        hard_alignment(np.zeros((1, 2, 3)))
    with pytest.raises(ValueError, match="finite"):
        hard_alignment([[np.nan]])
    with pytest.raises(ValueError, match=r"\(1, 1\) for 1 and 2 spans"):
        merge_subwords([[1.0]], [(0, 1)], [(0, 1), (1, 2)], [], [])
    with pytest.raises(ValueError, match="`source_words` must begin"):
        merge_subwords([[1.0]], [(0, 1)], [(0, 1)], [(0, 1)], [(3, 1)])
