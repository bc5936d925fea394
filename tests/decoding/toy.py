"""Small models to decode with, the first beside its float64 twin."""

import numpy as np
from keras import ops

from tests.oracles import decoding as oracle

V, D, S = 5, 3, 2
START, END = 1, 2


class Recurrent:
    """h = tanh(W h + E y) + x / 2, logits = U h: remembers all it has written.

    The state's `source` x never changes, its `h` does. Attention is a softmax
    of h over S places.
    """

    def __init__(self, seed=0, sharpness=2.0):
        rng = np.random.default_rng(seed)
        draw = lambda *shape: rng.normal(size=shape).astype("float32")  # noqa: E731
        self.embedding, self.recurrent = draw(V, D), draw(D, D)
        self.output, self.attention = sharpness * draw(D, V), draw(D, S)
        self.calls = 0

    def sources(self, batch_size, seed=1):
        rng = np.random.default_rng(seed)
        return rng.normal(size=(batch_size, D)).astype("float32")

    def start(self, sources):
        sources = ops.convert_to_tensor(sources)
        return {"source": sources, "h": ops.zeros_like(sources)}

    def step(self, token_ids, state):
        self.calls += 1
        x = ops.take(ops.convert_to_tensor(self.embedding), token_ids, axis=0)
        h = ops.tanh(ops.matmul(state["h"], self.recurrent) + x)
        h = h + 0.5 * state["source"]
        weights = ops.softmax(ops.matmul(h, self.attention))
        attention = {"look": ops.reshape(weights, (-1, 1, 1, S))}
        return ops.matmul(h, self.output), {**state, "h": h}, attention

    def run(self, decode, sources, max_length, **options):
        """Decode from sources `(B, D)` with one of the library's functions."""
        batch_size = ops.shape(sources)[0]
        start_ids = ops.full((batch_size,), START, "int32")
        state = self.start(sources)
        return decode(self.step, state, start_ids, END, max_length, **options)

    # === The same, one row at a time and without a state ===

    def _states(self, source, tokens):
        h = np.zeros(D)
        for token in (START, *tokens):
            x = np.float64(self.embedding[token])
            h = np.tanh(h @ np.float64(self.recurrent) + x) + 0.5 * source
            yield h

    def model(self, source):
        """Return what the oracle calls a model, for one source `(D,)`."""
        source, known = np.float64(source), {}

        def log_p(tokens):
            if tokens not in known:
                *_, h = self._states(source, tokens)
                known[tokens] = oracle.log_softmax(h @ self.output)
            return known[tokens]

        return log_p

    def attention_of(self, source, tokens):
        """Return weights `(T, S)`: of each token, when it was written."""
        states = self._states(np.float64(source), tokens[:-1])
        scores = [h @ np.float64(self.attention) for h in states]
        return np.exp([oracle.log_softmax(s) for s in scores])


def chain(p):
    """Return a step without a state: p[last, next] is all there is to know."""
    with np.errstate(divide="ignore"):
        log_p = np.log(np.float32(p))

    def step(token_ids, state):
        table = ops.convert_to_tensor(log_p)
        return ops.take(table, token_ids, axis=0), state, {}

    return step


def numbers(decoded):
    """Return `(token_ids, scores, lengths)` as arrays."""
    return [ops.convert_to_numpy(x) for x in decoded]


def sequences(decoded):
    """Return what was written without its padding, in nested lists."""
    token_ids, _, lengths = numbers(decoded)

    def unpad(ids, length):
        if np.ndim(length):
            return [unpad(*pair) for pair in zip(ids, length, strict=True)]
        assert not ids[length:].any()
        return tuple(ids[:length].tolist())

    return unpad(token_ids, lengths)
