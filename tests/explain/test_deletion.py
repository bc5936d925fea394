"""Deletion: comprehensiveness and sufficiency by asking a model again."""

import numpy as np
import pytest

from keras_seq.explain import deletion_scores, word_weights
from keras_seq.explain.deletion import heaviest, keep_words, remove_words


def judge(texts):
    """Three classes; "good" speaks for the last, "dull" for the first."""
    odds = np.array(
        [[t.count("dull"), 0.5, 2.0 * t.count("good")] for t in texts]
    )
    e = np.exp(odds)
    return e / e.sum(axis=1, keepdims=True)


def weighted(text, **weights):
    bare = word_weights(text, [], [], [])
    numbers = [weights.get(word, 0.0) for word in bare.words]
    return word_weights(text, *bare.spans.T, numbers)


TEXTS = ("a good film , not dull at all .", "the dull one")


def test_scores_are_differences_of_the_chosen_class():
    # "the" alone would be judged otherwise: the class is of the whole text.
    words = [weighted(TEXTS[0], good=3, dull=1), weighted(TEXTS[1], the=1)]
    scores = deletion_scores(judge, words, shares=(0.1, 0.2))
    full = judge(TEXTS)[[0, 1], [2, 0]]
    # 9 words: 10 % is one of them, 20 % two. 3 words: one and one.
    without = judge(
        [
            "a film , not dull at all .",
            "dull one",
            "a film , not at all .",
            "dull one",
        ]
    )[range(4), [2, 0, 2, 0]]
    only = judge(["good", "the", "good dull", "the"])
    only = only[range(4), [2, 0, 2, 0]]
    full = np.tile(full, 2)
    assert scores.comprehensiveness == pytest.approx((full - without).mean())
    assert scores.sufficiency == pytest.approx((full - only).mean())
    assert scores.full == pytest.approx(full.mean())
    np.testing.assert_allclose(scores.without, without.reshape(2, 2).mean(1))
    np.testing.assert_allclose(scores.only, only.reshape(2, 2).mean(1))


def test_right_weights_score_better_than_wrong_ones():
    right = deletion_scores(judge, [weighted(TEXTS[0], good=1)])
    wrong = deletion_scores(judge, [weighted(TEXTS[0], film=1)])
    assert right.comprehensiveness > wrong.comprehensiveness + 0.2
    assert right.sufficiency < wrong.sufficiency - 0.2


def test_all_words_taken_leave_an_empty_text():
    scores = deletion_scores(judge, [weighted("so good", good=1)], [1.0])
    full, empty = judge(["so good", ""])
    want = full.max() - empty[2]
    assert scores.comprehensiveness == pytest.approx(want)
    assert scores.sufficiency == pytest.approx(0)


def test_the_model_is_asked_once():
    calls = []

    def predict(texts):
        calls.append(len(texts))
        return judge(texts)

    deletion_scores(predict, [weighted(t) for t in TEXTS], (0.1, 0.5))
    assert calls == [2 + 2 * 2 * 2]


@pytest.mark.parametrize(
    ("share", "count", "want"),
    [(0.05, 7, 1), (0.1, 30, 3), (0.1, 31, 4), (1, 3, 3), (0.34, 3, 2)],
)
def test_a_share_is_rounded_up(share, count, want):
    assert len(heaviest(np.arange(count), share)) == want


def test_words_are_removed_and_kept_in_the_order_of_the_text():
    words = weighted("Nicht so gut — naïve 👍🏽 Idee!")
    assert remove_words(words, [5, 0]) == "so gut — naïve Idee!"
    assert keep_words(words, [5, 0, 4]) == "Nicht naïve 👍🏽"
    assert remove_words(words, []) == words.text
    assert keep_words(words, []) == ""


def test_bad_arguments_are_named():
    words = [weighted("so good")]
    for shares in ([], [0.0], [1.5]):
        with pytest.raises(ValueError, match="`shares`"):
            deletion_scores(judge, words, shares)
    with pytest.raises(ValueError, match="`words`"):
        deletion_scores(judge, [weighted(" ")])
    with pytest.raises(ValueError, match=r"`predict`.*\(1, 3\)"):
        deletion_scores(lambda texts: judge(texts[:1]), words)
