"""One sequence a row: what greedy decoding and sampling have in common."""

from keras import ops

from keras_seq.decoding.decoded import Decoded
from keras_seq.decoding.limits import NEVER, PADDING, ban, limits_and_room
from keras_seq.decoding.loop import pick_rows, probe, repeat_while


def follow(
    step, state, start_ids, end_id, max_length, banned_ids, room, chooser
):
    """Write one token after the other, as `choose` chooses.

    `chooser(batch_size, room)` returns `choose`, which takes the number of the
    step and log-probabilities `(B, V)`, `-inf` where banned, to a token and its
    log-probability, both `(B, 1)`. The rest is as in `greedy`.
    """
    start_ids = ops.cast(ops.convert_to_tensor(start_ids), "int32")
    state = {k: ops.convert_to_tensor(x) for k, x in state.items()}
    batch_size = ops.shape(start_ids)[0]
    limits, room = limits_and_room(max_length, room, batch_size)
    seen = probe(step, start_ids, state)
    banned = ban(start_ids, end_id, banned_ids, seen.vocabulary_size)
    choose = chooser(batch_size, room)
    place = ops.arange(room, dtype="int32")

    def body(carry, state):
        logits, state, _ = step(carry["last"], state)
        log_p = ops.log_softmax(ops.cast(logits, "float32")) + banned
        token, log_p = choose(carry["t"], log_p)
        live = ops.logical_and(carry["live"], log_p > NEVER)
        token = ops.where(live, token, PADDING)
        t = carry["t"] + 1
        goes_on = ops.logical_and(live, ops.not_equal(token, end_id))
        return {
            "t": t,
            "last": ops.reshape(token, (-1,)),
            "live": ops.logical_and(goes_on, t < limits),
            "score": carry["score"] + ops.where(carry["live"], log_p, 0.0),
            "token_ids": ops.where(
                ops.equal(place, carry["t"]), token, carry["token_ids"]
            ),
        }, state

    carry = {
        "t": ops.convert_to_tensor(0, "int32"),
        "last": start_ids,
        "live": limits > 0,
        "score": ops.zeros((batch_size, 1), "float32"),
        "token_ids": ops.full((batch_size, room), PADDING, "int32"),
    }
    carry = repeat_while(
        lambda carry: ops.any(carry["live"]), body, carry, state, seen
    )
    token_ids, score = carry["token_ids"], ops.squeeze(carry["score"], 1)
    return Decoded(
        token_ids,
        ops.where(score > NEVER, score, NEVER),  # of logits that are NaN
        lengths_of(token_ids),
    )


def lengths_of(token_ids):
    """Count the tokens on the last axis that are not padding."""
    return ops.sum(ops.cast(ops.not_equal(token_ids, PADDING), "int32"), -1)


def at(x, places):
    """Return `x[b, places[b]]`: `(B, N)` and `(B, 1)` -> `(B, 1)`."""
    batch_size, width = ops.shape(x)
    first = ops.expand_dims(ops.arange(batch_size, dtype="int32"), 1) * width
    flat = ops.reshape(x, (-1,))
    return pick_rows(flat, first + ops.cast(places, "int32"))
