"""Tokens joined to words, and their attention with them."""

import numpy as np
import pytest
import tensorflow as tf

from keras_seq.tasks.word_groups import (
    attention_between_words,
    join_words,
    word_of_token,
)

pytestmark = pytest.mark.tensorflow
ROWS = [
    ["▁The", "▁c", "at", "▁do", "esn", "'", "t", "▁sle", "ep", "."],
    [],
    ["▁L", "'", "é", "cole", "▁est-", "elle", "▁vide", "▁?"],
    ["ing"],
]


def ragged(rows, dtype=tf.string):
    return tf.ragged.constant(rows, dtype=dtype, ragged_rank=1)


def test_words_begin_at_spaces_marks_and_after_apostrophes():
    assert word_of_token(ragged(ROWS)).to_list() == [
        [0, 1, 1, 2, 2, 3, 4, 5, 5, 6],
        [],
        [0, 1, 2, 2, 3, 3, 4, 5],
        [0],
    ]


def test_rows_do_not_look_at_each_other():
    alone = [word_of_token(ragged([row])).to_list()[0] for row in ROWS]
    assert word_of_token(ragged(ROWS)).to_list() == alone
    # An apostrophe that ends a row elides nothing in the next one.
    rows = ragged([["▁l", "'"], ["▁", "eau"]])
    assert word_of_token(rows).to_list() == [[0, 1], [0, 0]]


def test_words_are_their_tokens_without_spaces():
    rows = ragged(ROWS)
    words = join_words(rows, word_of_token(rows)).to_list()
    assert [b"".join(row).decode() for row in words] == [
        "".join(row).replace("▁", "") for row in ROWS
    ]
    assert [word.decode() for word in words[0]] == [
        *("The", "cat", "doesn", "'", "t", "sleep", ".")
    ]


def test_no_rows_and_empty_rows_have_no_words():
    for rows in ([], [[]], [[], []]):
        words = word_of_token(ragged(rows))
        assert words.to_list() == rows
        assert join_words(ragged(rows), words).to_list() == rows


def test_attention_is_averaged_over_targets_and_summed_over_sources():
    rng = np.random.default_rng(0)
    weights = rng.random((2, 5, 7)).astype("float32")
    targets, sources = [[0, 0, 1], [0]], [[0, 1, 1, 2], [0, 0, 0, 1, 2]]
    found = attention_between_words(
        tf.constant(weights),
        ragged(targets, tf.int32),
        ragged(sources, tf.int32),
    ).numpy()
    assert found.shape == (2, 2, 3)
    for row in range(2):
        for target in range(2):
            looks = [t for t, w in enumerate(targets[row]) if w == target]
            for source in range(3):
                seen = [s for s, w in enumerate(sources[row]) if w == source]
                want = 0.0
                if looks:
                    want = weights[row][np.ix_(looks, seen)].sum() / len(looks)
                np.testing.assert_allclose(
                    found[row, target, source], want, rtol=1e-5
                )
