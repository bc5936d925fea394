"""Beam search: the best sequences that a few hypotheses at a time can find."""

from keras import ops

from keras_seq.decoding.beam_state import beams_of
from keras_seq.decoding.decoded import Decoded
from keras_seq.decoding.limits import NEVER, PADDING, ban, limits_and_room
from keras_seq.decoding.loop import pick_rows, probe, repeat_while
from keras_seq.decoding.one_path import lengths_of
from keras_seq.decoding.penalties import (
    coverage_penalty as penalty_of_coverage,
)
from keras_seq.decoding.penalties import length_divisors, mean_attention
from keras_seq.decoding.top_tokens import top_tokens

ALWAYS = float("inf")


def beam_search(
    step,
    state,
    start_ids,
    end_id,
    max_length,
    *,
    beam_size=4,
    length_penalty=0.6,
    n_best=1,
    coverage_penalty=0.0,
    banned_ids=None,
    room=None,
) -> Decoded:
    r"""Keep the `beam_size` best hypotheses at each step; return the best.

    $$ score(y) = \frac{\log p(y \mid x)}{lp(y)} + cp(y), \quad
       lp(y) = \left(\frac{5 + |y|}{6}\right)^\alpha, \quad
       cp(y) = \beta \sum_s \log \min\Big(\sum_t a_{ts}, 1\Big), $$

    with the end token counted in $|y|$ (Wu et al., 2016). A hypothesis that
    ends keeps its place in the beam, frozen: the others share the places that
    are left. So a beam of 1 is greedy decoding, and one as wide as there are
    sequences finds the best of all.

    A row is done when no place is left, at its limit, or as soon as no
    hypothesis can still get among the `n_best`, were all it adds certain. That
    saves steps and changes nothing. Hypotheses cut at the limit come after all
    that ended, whatever their scores: they are not whole.

    Args:
        step: As in `greedy`, as are the next four and the last two; it is
            called with `B * beam_size` rows.
        state: See `greedy`.
        start_ids: See `greedy`.
        end_id: See `greedy`.
        max_length: See `greedy`.
        beam_size: K, hypotheses a row.
        length_penalty: $\alpha$, at least 0; more favours longer sequences.
        n_best: How many sequences to return for a row.
        coverage_penalty: $\beta$, at least 0; more favours sequences that have
            looked at all of the source. $a$ is the mean of all heads in the
            `attention` that `step` returns, `(B, H, 1, S)` each.
        banned_ids: See `greedy`.
        room: See `greedy`.

    Returns:
        `Decoded(token_ids (B, n_best, L), scores (B, n_best),
        lengths (B, n_best))`, the best first. Where there are fewer
        sequences than `n_best`, the rest is empty, with a score of `-inf`.

    Example: what is likelier at first need not be in the end.

        >>> import numpy as np
        >>> chain = np.zeros((6, 6))
        >>> chain[1, [3, 4]] = 0.6, 0.4
        >>> chain[3, 2:6], chain[4, 2], chain[5, 2] = 0.25, 1, 1
        >>> log_p = ops.convert_to_tensor(np.log(chain + 1e-9), "float32")
        >>> step = lambda ids, state: (ops.take(log_p, ids, axis=0), state, {})
        >>> best = beam_search(step, {}, [1], end_id=2, max_length=3)
        >>> ops.convert_to_numpy(best.token_ids).tolist()
        [[[4, 2, 0]]]

    Reference: <https://arxiv.org/abs/1609.08144>
    """
    _check(beam_size, n_best, length_penalty, coverage_penalty)
    start_ids = ops.cast(ops.convert_to_tensor(start_ids), "int32")
    state = {k: ops.convert_to_tensor(x) for k, x in state.items()}
    batch_size = ops.shape(start_ids)[0]
    limits, room = limits_and_room(max_length, room, batch_size)
    step = beams_of(step, beam_size)
    state = step.spread(state)
    seen = probe(step, _spread(start_ids, beam_size), state)
    banned = ban(start_ids, end_id, banned_ids, seen.vocabulary_size)
    beam = _Beam(
        step, end_id, beam_size, n_best, length_penalty, coverage_penalty
    )
    return beam.search(state, start_ids, limits, room, banned, seen)


def _spread(x, beam_size):
    return x if beam_size == 1 else ops.repeat(x, beam_size, axis=0)


def _check(beam_size, n_best, length_penalty, coverage_penalty):
    if beam_size < 1:
        raise ValueError(
            f"`beam_size` must be positive. Received: beam_size={beam_size}"
        )
    if not 1 <= n_best <= beam_size:
        raise ValueError(
            "`n_best` must be positive and at most `beam_size`. "
            f"Received: n_best={n_best}, beam_size={beam_size}"
        )
    penalties = {
        "length_penalty": length_penalty,
        "coverage_penalty": coverage_penalty,
    }
    for name, value in penalties.items():
        if not value >= 0:
            raise ValueError(
                f"`{name}` must not be negative. Received: {name}={value}"
            )


class _Beam:
    """`K` places for each row of the batch, as `B * K` rows.

    A place holds a hypothesis that is live (`final` is `-inf`, `score` its
    log-probability), frozen (`final` is its score), or none (both `-inf`).
    """

    def __init__(self, step, end_id, beam_size, n_best, alpha, beta):
        self.step = step
        self.end_id = end_id
        self.size = beam_size
        self.n_best = n_best
        self.alpha = alpha
        self.beta = beta

    def search(self, state, start_ids, limits, room, banned, seen):
        spread = lambda x: _spread(x, self.size)  # noqa: E731
        self.batch_size, self.room = ops.shape(start_ids)[0], room
        self.banned = banned if banned.shape[0] == 1 else spread(banned)
        self.limits = spread(limits)
        self.divisors = length_divisors(room, self.alpha)
        self.last_divisor = pick_rows(self.divisors, limits)
        self.place = ops.arange(room, dtype="int32")
        self.width = min(self.size, seen.vocabulary_size)
        # A frozen hypothesis has one continuation: itself.
        self.itself = ops.where(ops.arange(self.width) == 0, ALWAYS, NEVER)
        first = ops.arange(self.batch_size, dtype="int32")[:, None] * self.size
        self.first_place, self.first_candidate = first, first * self.width

        # All places but the first are empty: equal hypotheses are one.
        score = ops.where(ops.arange(self.size) == 0, 0.0, NEVER)
        score = ops.broadcast_to(score, (self.batch_size, self.size))
        # Where nothing may be written, writing nothing is all there is.
        final = ops.where(limits > 0, NEVER, score)
        rows = self.batch_size * self.size
        carry = {
            "t": ops.convert_to_tensor(0, "int32"),
            "last": spread(start_ids),
            "score": ops.reshape(score, (rows, 1)),
            "final": ops.reshape(final, (rows, 1)),
            "open": limits > 0,
            "token_ids": ops.full((rows, room), PADDING, "int32"),
        }
        if self.beta:
            carry["coverage"] = self._no_coverage(carry["last"], state)
        carry = repeat_while(
            lambda carry: ops.any(carry["open"]), self.turn, carry, state, seen
        )
        return self._best(carry["final"], carry["token_ids"])

    def turn(self, carry, state):
        logits, new_state, attention = self.step(carry["last"], state)
        log_p = ops.log_softmax(ops.cast(logits, "float32")) + self.banned
        picked, index, tokens = self._select(log_p, carry)
        parent = index // self.width  # (BK,)

        t = carry["t"] + 1
        score = ops.reshape(picked, (-1, 1))
        final = pick_rows(carry["final"], parent)
        frozen = ops.equal(score, ALWAYS)
        token = pick_rows(ops.reshape(tokens, (-1, 1)), index)
        token = ops.where(frozen, PADDING, ops.cast(token, "int32"))

        new = {"t": t, "last": ops.reshape(token, (-1,))}
        worth = score / pick_rows(self.divisors, t) if self.alpha else score
        if self.beta:
            coverage = carry["coverage"] + mean_attention(attention)
            new["coverage"] = pick_rows(coverage, parent)
            worth = worth + penalty_of_coverage(new["coverage"], self.beta)
        stops = ops.logical_or(ops.equal(token, self.end_id), t >= self.limits)
        final = ops.where(frozen, final, ops.where(stops, worth, NEVER))
        still_open = self._open(picked, ops.reshape(final, (-1, self.size)))
        score = ops.where(still_open, picked, NEVER)
        token_ids = pick_rows(carry["token_ids"], parent)
        new |= {
            "score": ops.reshape(score, (-1, 1)),
            "final": final,
            "open": still_open,
            "token_ids": ops.where(
                ops.equal(self.place, carry["t"]), token, token_ids
            ),
        }
        return new, self.step.reorder(state, new_state, parent)

    def _select(self, log_p, carry):
        """Return the best continuations of all places of a row.

        First those of each place, then those of all: none that is not among
        the `K` best of its place can be among the `K` best of its row.

        Returns:
            `(log-probabilities (B, K), their places (B * K,) among tokens,
            tokens (B * K, M))`.
        """
        log_p, tokens = top_tokens(log_p, self.width)
        candidates = carry["score"] + log_p
        frozen = carry["final"] > NEVER
        candidates = ops.where(frozen, self.itself, candidates)
        candidates = ops.reshape(candidates, (-1, self.size * self.width))
        picked, index = ops.top_k(candidates, self.size)
        index = index + self.first_candidate
        return picked, ops.reshape(index, (-1,)), tokens

    def _open(self, score, final):
        """Whether a row `(B, K)` has a live hypothesis with hope, `(B, 1)`."""
        if self.n_best == 1:
            to_beat = ops.max(final, axis=1, keepdims=True)
        else:
            to_beat = ops.top_k(final, self.n_best)[0][:, -1:]
        # No token is more than certain, and no divisor larger than the last.
        at_best = score / self.last_divisor if self.alpha else score
        hopeful = ops.where(final > NEVER, NEVER, at_best) > to_beat
        return ops.any(hopeful, axis=1, keepdims=True)

    def _no_coverage(self, token_ids, state):
        _, _, attention = self.step(token_ids, state)
        if not attention:
            raise ValueError(
                "`coverage_penalty` needs the attention of `step`. "
                f"Received: attention={attention}"
            )
        return ops.zeros_like(mean_attention(attention))

    def _best(self, final, token_ids):
        shape = (self.batch_size, self.size)
        final = ops.where(final > NEVER, final, NEVER)  # of logits that are NaN
        ended = ops.any(ops.equal(token_ids, self.end_id), -1, keepdims=True)
        ended = ops.logical_and(ended, final > NEVER)

        _, order = ops.top_k(ops.reshape(final, shape), self.size)
        order = ops.cast(order, "int32") + self.first_place  # the best first
        ended = ops.reshape(pick_rows(ended, order), shape)
        # What ended comes before what was cut; else the order stays.
        rank = 2 * self.size * ops.cast(ended, "int32")
        rank = rank - ops.arange(self.size, dtype="int32")
        _, best = ops.top_k(rank, self.n_best)
        best = ops.cast(best, "int32") + self.first_place
        best = pick_rows(ops.reshape(order, (-1,)), best)  # (B, n_best)

        # JAX forgets the shape of a gather from an empty batch.
        shape = (self.batch_size, self.n_best)
        scores = pick_rows(ops.reshape(final, (-1,)), best)
        scores = ops.reshape(scores, shape)
        token_ids = pick_rows(token_ids, best)
        token_ids = ops.reshape(token_ids, (*shape, self.room))
        exists = ops.expand_dims(scores > NEVER, -1)
        token_ids = ops.where(exists, token_ids, PADDING)
        return Decoded(token_ids, scores, lengths_of(token_ids))
