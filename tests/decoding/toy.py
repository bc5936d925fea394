"""Small models to decode with, each beside its float64 twin."""

import numpy as np
from keras import ops

from tests.oracles import decoding as oracle

V, D, S = 5, 3, 2
START, END = 1, 2


class Recurrent:
    """h = tanh(W h + E y), logits = U h + u; remembers all that was written.

    The state's `source` never changes, its `h` does. Attention is a softmax
    of h over S places.
    """

    def __init__(self, seed=0, sharpness=2.0, vocabulary_size=V):
        rng = np.random.default_rng(seed)
        draw = lambda *shape: rng.normal(size=shape).astype("float32")  # noqa: E731
        self.embedding = draw(vocabulary_size, D)
        self.recurrent, self.output = draw(D, D), draw(D, vocabulary_size)
        self.output *= sharpness
        self.attention = draw(D, S)
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
        attention = {"look": ops.expand_dims(ops.expand_dims(weights, 1), 1)}
        return ops.matmul(h, self.output), {**state, "h": h}, attention

    # === The same, one row and no state ===

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


def start_ids(batch_size):
    return ops.full((batch_size,), START, "int32")


def rows_of(decoded):
    """Return the sequences without their padding, as nested lists of tuples."""
    token_ids = ops.convert_to_numpy(decoded.token_ids)
    lengths = ops.convert_to_numpy(decoded.lengths)
    flat = [
        tuple(row[:length].tolist())
        for row, length in zip(
            token_ids.reshape(-1, token_ids.shape[-1]),
            lengths.reshape(-1),
            strict=True,
        )
    ]
    if token_ids.ndim == 2:
        return flat
    n = token_ids.shape[1]
    return [flat[i : i + n] for i in range(0, len(flat), n)]


def numbers(x):
    return ops.convert_to_numpy(x)
