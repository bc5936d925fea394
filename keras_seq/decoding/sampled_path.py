"""Sampling: tokens at random, as likely as the model finds them."""

import keras
from keras import ops

from keras_seq.decoding.decoded import Decoded
from keras_seq.decoding.one_path import at, follow

# Below 1 by two of float32's steps, so that a share of a sum is less than it.
LARGEST_DRAW = 1 - 2**-22


def sample(
    step,
    state,
    start_ids,
    end_id,
    max_length,
    *,
    temperature=1.0,
    top_k=None,
    top_p=None,
    seed=None,
    banned_ids=None,
    room=None,
) -> Decoded:
    r"""Draw each token from the model's distribution, or from its better part.

    $$ y_t \sim q(y) \propto p(y \mid y_{<t}, x)^{1/\tau} \;\text{ for the
       likeliest } y. $$

    With `top_k` only the `k` likeliest tokens are drawn from (Fan et al.,
    2018); with `top_p` only the fewest whose probabilities, at this
    temperature, reach `p` (Holtzman et al., 2020); with both, `top_p` of what
    `top_k` left. The scores are still the model's own,
    $\sum_t \log p(y_t \mid y_{<t}, x)$.

    Args:
        step: As in `greedy`, as are the next four and the last two.
        state: See `greedy`.
        start_ids: See `greedy`.
        end_id: See `greedy`.
        max_length: See `greedy`.
        temperature: $\tau$; below 1 likely tokens get likelier still.
        top_k: How many tokens to draw from; by default all.
        top_p: How much of the probability to draw from, in (0, 1]; by default
            all.
        seed: An integer, for the same sequences each time, or a
            `keras.random.SeedGenerator`; by default Keras's global one.
        banned_ids: See `greedy`.
        room: See `greedy`.

    Returns:
        `Decoded(token_ids (B, L), scores (B,), lengths (B,))`.

    Example: a coin that is thrown until it shows 2.

        >>> coin = ops.convert_to_tensor([[-9e9, -9e9, 0.0, 0.0]])
        >>> step = lambda ids, state: (ops.repeat(coin, len(ids), 0), state, {})
        >>> decoded = sample(step, {}, [1] * 1000, 2, max_length=1, seed=0)
        >>> 450 < int(ops.sum(decoded.token_ids == 2)) < 550
        True

    References: <https://arxiv.org/abs/1805.04833>,
    <https://arxiv.org/abs/1904.09751>
    """
    if not temperature > 0:
        raise ValueError(
            "`temperature` must be positive; use `greedy` for the likeliest "
            f"token. Received: temperature={temperature}"
        )
    if top_k is not None and top_k < 1:
        raise ValueError(f"`top_k` must be positive. Received: top_k={top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(
            f"`top_p` must be above 0 and at most 1. Received: top_p={top_p}"
        )

    def chooser(batch_size, room):
        # One number a token is all the chance there is, drawn beforehand.
        draws = keras.random.uniform((room, batch_size, 1), seed=seed)
        draws = ops.minimum(draws, LARGEST_DRAW)

        def choose(t, log_p):
            tokens = None
            if top_k is not None or top_p is not None:
                size = log_p.shape[-1]
                log_p, tokens = ops.top_k(log_p, min(top_k or size, size))
            place = draw_place(log_p / temperature, draws[t], top_p)
            token = place if tokens is None else at(tokens, place)
            return ops.cast(token, "int32"), at(log_p, place)

        return choose

    return follow(
        step, state, start_ids, end_id, max_length, banned_ids, room, chooser
    )


def draw_place(logits, draw, top_p=None):
    """Return a place of each row, drawn from its softmax by inversion.

    The place where the running sum of the probabilities exceeds `draw`: uniform
    numbers in [0, 1) give places as likely as they should be.

    Args:
        logits: `(B, N)`; the likeliest first if there is a `top_p`.
        draw: `(B, 1)` in [0, 1).
        top_p: Share of the probability to draw from, or `None`.

    >>> draw_place(ops.log([[0.5, 0.2, 0.3]]), [[0.6]]).numpy().tolist()
    [[1]]
    """
    p = ops.exp(logits - ops.max(logits, axis=-1, keepdims=True))
    reached = ops.cumsum(p, axis=-1)
    total = reached[:, -1:]
    if top_p is not None:
        kept = ops.where(reached - p < top_p * total, reached, 0.0)
        total = ops.max(kept, axis=-1, keepdims=True)
    passed = reached <= draw * total
    return ops.sum(ops.cast(passed, "int32"), axis=-1, keepdims=True)
