"""Sentences of several lengths, and two ways to run a model on them."""

import numpy as np
from keras import ops

from keras_seq.models import rnn_search, seq2seq, transformer

V = 29
FAMILIES = {
    "transformer": lambda **more: transformer(V, "test", **more),
    "transformer_pre_norm": lambda **more: transformer(
        V, "test", normalize_first=True, tie_embeddings=False, **more
    ),
    "transformer_rotary": lambda **more: transformer(
        V, "test", positions="rotary", **more
    ),
    "transformer_shifted": lambda **more: transformer(
        V, "test", positions="both", max_shift=5, **more
    ),
    "rnn_search": lambda **more: rnn_search(V, "test", **more),
    "rnn_search_dot": lambda **more: rnn_search(
        V, "test", score="dot", tie_embeddings=False, **more
    ),
    "rnn_search_general": lambda **more: rnn_search(
        V, "test", score="general", **more
    ),
    "seq2seq": lambda **more: seq2seq(V, "test", **more),
    "seq2seq_tied": lambda **more: seq2seq(
        V, "test", tie_embeddings=True, reverse_source=False, **more
    ),
}

SOURCE = np.array(
    [[7, 3, 11, 4, 9, 5, 13], [5, 20, 0, 0, 0, 0, 0], [8, 8, 1, 3, 0, 0, 0]],
    "int32",
)
TARGET = np.array(
    [[2, 6, 17, 9, 4], [2, 21, 8, 0, 0], [2, 5, 6, 7, 0]], "int32"
)


def make(family, **more):
    """A model whose every weight, biases and gains too, is its own number."""
    model = FAMILIES[family](**more)
    rng = np.random.default_rng(3)
    model.set_weights(
        [w + 0.1 * rng.normal(size=w.shape) for w in model.get_weights()]
    )
    return model


def call(model, source, target, **arguments):
    inputs = {"source_ids": source, "target_ids": target}
    return to_numpy(model(inputs, **arguments))


def to_numpy(x):
    return ops.convert_to_numpy(x)


def by_steps(model, source, target, max_length=None):
    """Logits of all steps, `{name: weights}` of all, and all states."""
    state = model.start(ops.convert_to_tensor(source), max_length)
    states, logits, attention = [state], [], {}
    for t in range(target.shape[1]):
        step_logits, state, weights = model.step(
            ops.convert_to_tensor(target[:, t]), state
        )
        states.append(state)
        logits.append(to_numpy(step_logits))
        for name, w in weights.items():
            attention.setdefault(name, []).append(to_numpy(w))
    attention = {n: np.concatenate(w, axis=2) for n, w in attention.items()}
    return np.stack(logits, axis=1), attention, states


def weights_of(model):
    return {x.name: x.get_weights() for x in model.layers if x.weights}
