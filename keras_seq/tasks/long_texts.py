"""Keep the beginning and the end of what is too long, in graph."""

import tensorflow as tf


def head_and_tail(rows, max_length):
    """Cut rows to `max_length`, out of their middle.

    A long review says what it is about at the beginning and its verdict at
    the end. Half of the room, rounded up, goes to the beginning.

    Args:
        rows: Ragged, `(B, T)`: token ids, offsets, tokens.
        max_length: The most that stays of a row; None cuts nothing.

    >>> head_and_tail(tf.ragged.constant([[1, 2, 3, 4, 5], [6]]), 3).to_list()
    [[1, 2, 5], [6]]
    """
    if max_length is None:
        return rows
    if max_length < 1:
        raise ValueError(
            f"`max_length` must be positive. Received: {max_length}"
        )
    place = tf.ragged.range(rows.row_lengths()).values
    lengths = tf.gather(rows.row_lengths(), rows.value_rowids())
    head = -(-max_length // 2)
    tail = max_length - head
    stays = (place < head) | (place >= lengths - tail)
    return tf.ragged.boolean_mask(rows, rows.with_values(stays))
