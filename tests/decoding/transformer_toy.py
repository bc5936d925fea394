"""A Transformer decoder of one block, to decode with from a memory."""

import keras
import numpy as np
from keras import ops

from keras_seq.layers import TransformerDecoder
from tests.decoding.toy import END, START

V, D, S, HEADS = 11, 6, 5, 2


class Stack:
    """Embedding, `TransformerDecoder`, logits; weights drawn from a seed."""

    def __init__(self, seed=4):
        self.layer = TransformerDecoder(intermediate_dim=7, num_heads=HEADS)
        self.layer.build((None, None, D), (None, None, D))
        rng = np.random.default_rng(seed)
        for weight in self.layer.weights:
            if len(weight.shape) > 1:  # a kernel, not a norm or a bias
                weight.assign(rng.normal(size=weight.shape))
        draw = rng.normal(size=(2, V, D)).astype("float32")
        self.embedding, self.output = keras.Variable(draw[0]), draw[1].T

    def memory(self, batch_size, seed=0):
        rng = np.random.default_rng(seed)
        return rng.normal(size=(batch_size, S, D)).astype("float32")

    def step(self, token_ids, state):
        x = ops.take(self.embedding, ops.expand_dims(token_ids, 1), axis=0)
        x, state, attention = self.layer.step(x, state)
        return self._logits(x[:, 0], token_ids), state, attention

    def _logits(self, x, token_ids):
        # Left to itself a random model writes one token over and over.
        again = ops.one_hot(token_ids, V, dtype="float32")
        return ops.matmul(x, self.output) - 4.0 * again

    def step_without_cache(self, token_ids, state):
        """Keep the tokens and not what was made of them."""
        rows = ops.shape(token_ids)[0]
        place = ops.arange(state["tokens"].shape[1], dtype="int32")
        here = ops.equal(place, ops.expand_dims(state["count"], 1))
        tokens = ops.where(here, ops.expand_dims(token_ids, 1), state["tokens"])
        x = ops.take(self.embedding, tokens, axis=0)
        x = self.layer(x, state["memory"])  # causal: later places do not matter
        width = ops.shape(tokens)[1]
        last = ops.arange(rows, dtype="int32") * width + state["count"]
        x = ops.take(ops.reshape(x, (-1, D)), last, axis=0)
        state = {**state, "tokens": tokens, "count": state["count"] + 1}
        return self._logits(x, token_ids), state, {}

    def run(self, decode, memory, limit, cache="growing", **options):
        rows = ops.shape(memory)[0]
        step, memory = self.step, ops.convert_to_tensor(memory)
        if cache == "none":
            step = self.step_without_cache
            state = {
                "memory": memory,
                "tokens": ops.zeros((rows, limit), "int32"),
                "count": ops.zeros((rows,), "int32"),
            }
        else:
            room = limit if cache == "fixed" else None
            state = self.layer.start(memory, max_length=room)
        start_ids = ops.full((rows,), START, "int32")
        return decode(step, state, start_ids, END, limit, **options)
