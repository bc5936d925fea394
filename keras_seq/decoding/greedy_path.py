"""Greedy decoding: always the likeliest token."""

from keras_seq.decoding.decoded import Decoded
from keras_seq.decoding.one_path import follow
from keras_seq.decoding.top_tokens import top_tokens


def greedy(
    step, state, start_ids, end_id, max_length, *, banned_ids=None, room=None
) -> Decoded:
    r"""Write the likeliest token at each step.

    $$ y_t = \arg\max_y \log p(y \mid y_{<t}, x), \quad
       score = \sum_t \log p(y_t \mid y_{<t}, x). $$

    Runs eagerly, in a graph with batch and length unknown, and compiled. A row
    stops at its end token or at its limit, and all stop when the last does.
    The log-probabilities are the model's own: banning a token does not make
    the others likelier.

    Args:
        step: `(token_ids (B,), state) -> (logits (B, V), state, attention)`.
            Entries of the state that it returns as the very tensors it was
            given are taken for constants.
        state: A flat dict of tensors with the batch on axis 0.
        start_ids: `(B,)` int32, the tokens to begin with.
        end_id: The token that ends a sequence, an integer.
        max_length: How many tokens to write at most, the end token included:
            an integer, a scalar tensor, or a tensor `(B,)` of a limit a row.
        banned_ids: Ids never to write. By default each row's start id, unless
            it is `end_id`. 0 is padding, and never written.
        room: L, where a compiler wants to know it and `max_length` is a
            tensor; by default the largest limit.

    Returns:
        `Decoded(token_ids (B, L), scores (B,), lengths (B,))`.

    Example: a chain in which 3 follows 1, 2 follows 3, and 2 ends.

        >>> from keras import ops
        >>> likes = ops.one_hot([0, 3, 0, 2], 4) * 9
        >>> step = lambda ids, state: (ops.take(likes, ids, axis=0), state, {})
        >>> decoded = greedy(step, {}, [1, 3], end_id=2, max_length=4)
        >>> ops.convert_to_numpy(decoded.token_ids).tolist()
        [[3, 2, 0, 0], [2, 0, 0, 0]]
    """

    def chooser(batch_size, room):
        def choose(t, log_p):
            log_p, token = top_tokens(log_p, 1)
            return token, log_p

        return choose

    return follow(
        step, state, start_ids, end_id, max_length, banned_ids, room, chooser
    )
