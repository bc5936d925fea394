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


def joined(rows):
    """The words of tokens whose ids are their places in a list."""
    vocabulary = sorted({token for row in rows for token in row})
    ids = [[vocabulary.index(token) for token in row] for row in rows]

    def detokenize(ids):
        texts = [
            "".join(vocabulary[i] for i in row).replace("▁", "")
            for row in ids.to_list()
        ]
        return tf.constant(texts, tf.string, shape=(len(texts),))

    words = word_of_token(ragged(rows))
    return join_words(ragged(ids, tf.int32), words, detokenize).to_list()


def test_words_are_their_tokens_without_spaces():
    words = [[word.decode() for word in row] for row in joined(ROWS)]
    assert ["".join(row) for row in words] == [
        "".join(row).replace("▁", "") for row in ROWS
    ]
    assert words[0] == ["The", "cat", "doesn", "'", "t", "sleep", "."]


def test_the_bytes_of_one_character_are_in_one_word():
    rows = ragged([["▁", "<0xC5>", "<0x93>", "uf", "▁a"]])
    assert word_of_token(rows).to_list() == [[0, 0, 0, 0, 1]]


def test_a_space_alone_is_no_word():
    rows = [
        ["▁a", "▁", "!", "▁b", "▁"],
        ["▁", "▁cat", "▁", "'", "eau"],
        ["▁"],
    ]
    assert word_of_token(ragged(rows)).to_list() == [
        [0, 1, 1, 2, 2],
        [0, 0, 1, 1, 2],
        [0],
    ]
    words = [[word.decode() for word in row] for row in joined(rows)]
    assert words == [["a", "!", "b"], ["cat", "'", "eau"], [""]]


def test_no_rows_and_empty_rows_have_no_words():
    for rows in ([], [[]], [[], []]):
        assert word_of_token(ragged(rows)).to_list() == rows
        assert joined(rows) == rows


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
