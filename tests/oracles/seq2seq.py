"""Models that translate, from their papers' equations, in float64 NumPy.

One sentence at a time, without padding: what a padded batch gives must be what
its sentences give alone. Weights arrive as `{layer name: [arrays]}`. Nothing
here may import keras or keras_seq.
"""

import numpy as np

from tests.oracles import recurrent, transformer
from tests.oracles.attention import softmax
from tests.oracles.positions import sinusoids


def exact(weights):
    return {
        name: [np.asarray(w, "float64") for w in arrays]
        for name, arrays in weights.items()
    }


# --- Vaswani et al., 2017 ---------------------------------------------------


def transformer_logits(
    source,
    target,
    weights,
    pre_norm,
    epsilon=1e-5,
    positions="sinusoidal",
    start=0,
):
    """Return logits `(T, V)` of token ids `(S,)` and `(T,)`.

    `positions` are "sinusoidal", from `start` on, "rotary" or "both".
    """
    weights = exact(weights)
    read, write, output = tables(weights)

    def placed(table, ids):
        x = embed(table, ids)
        if positions != "rotary":
            x = x + sinusoids(start + np.arange(len(ids)), table.shape[1])
        return x[None]

    def normed(x, name):
        return transformer.norm(x, weights[name], epsilon) if pre_norm else x

    rotary = None if positions == "sinusoidal" else 10_000
    s, t = len(source), len(target)
    h = placed(read, source)
    n = 1
    while f"encoder_{n}" in weights:
        all_visible = np.ones((1, s, s), bool)
        h, _ = transformer.encoder(
            h, weights[f"encoder_{n}"], all_visible, pre_norm, epsilon, rotary
        )
        n += 1
    h = normed(h, "encoder_norm")
    y, n = placed(write, target), 1
    while f"decoder_{n}" in weights:
        y, _ = transformer.decoder(
            y,
            h,
            weights[f"decoder_{n}"],
            np.tril(np.ones((1, t, t), bool)),
            np.ones((1, t, s), bool),
            pre_norm,
            epsilon,
            rotary,
        )
        n += 1
    return normed(y, "decoder_norm")[0] @ output


# --- Bahdanau et al., 2015, and Luong et al., 2015 ----------------------------


def attentive_gru(y, memory, s, weights, visible=None, mask=None):
    """Appendix A.1.2 and A.2.2, with the reset gate after the product.

    `y` is `(T, D)`, `memory` `(S, M)`, `s` `(U,)`; returns states `(T, U)`,
    contexts `(T, M)` and attention `(T, S)`.
    """
    c, w_a, u_a, v_a, kernel, recurrent_kernel, bias = (
        np.asarray(w, "float64") for w in weights
    )
    visible = np.ones(len(memory), bool) if visible is None else visible
    states, contexts, attention = [], [], []
    for t, y_t in enumerate(np.asarray(y, "float64")):
        if mask is None or mask[t]:
            e = [v_a @ np.tanh(s @ w_a + h @ u_a) for h in memory]
            a = softmax(np.array(e), visible)
            context = sum(
                (a_j * h for a_j, h in zip(a, memory, strict=True)),
                np.zeros(memory.shape[1]),
            )
            # The context is one more input of the gates.
            (s,) = recurrent.gru_step(
                np.concatenate([y_t, context]),
                [s],
                np.concatenate([kernel, c]),
                recurrent_kernel,
                bias,
            )
        states.append(s)
        contexts.append(context)
        attention.append(a)
    return np.array(states), np.array(contexts), np.array(attention)


def maxout(inputs, kernels, bias, pieces):
    """Goodfellow et al. (2013), one unit at a time."""
    x = np.concatenate(inputs, axis=-1)
    total = x @ np.concatenate(kernels) + bias
    units = len(bias) // pieces
    out = np.zeros((*x.shape[:-1], units))
    for i in range(units):
        out[..., i] = max_of([total[..., k * units + i] for k in range(pieces)])
    return out


def max_of(arrays):
    return np.stack(arrays).max(axis=0)


def tables(weights):
    """The embeddings of source and target, and what makes the logits."""
    if "token_embedding" in weights:
        (table,) = weights["token_embedding"]
        return table, table, table.T
    return (*weights["source_embedding"], *weights["target_embedding"])


def embed(table, ids):
    return np.sqrt(table.shape[1]) * table[ids]


def rnn_search_logits(source, target, weights, score):
    """Return logits `(T, V)` and attention `(T, S)`."""
    weights = exact(weights)
    read, write, output = tables(weights)
    forward, backward = weights["encoder"][:3], weights["encoder"][3:]
    x = embed(read, source)[None]
    zeros = [np.zeros((1, forward[1].shape[0]))]
    ahead, _ = recurrent.run(recurrent.gru_step, x, zeros, forward)
    back, _ = recurrent.run(
        recurrent.gru_step, x, zeros, backward, go_backwards=True
    )
    ahead, back = ahead[0], back[0][::-1]
    memory = np.concatenate([ahead, back], axis=-1)
    if score == "dot":
        memory = ahead + back
    w_s, b_s = weights["initial_state"]
    s = np.tanh(back[0] @ w_s + b_s)
    y = embed(write, target)
    if score == "additive":
        states, contexts, attention = attentive_gru(
            y, memory, s, weights["decoder"]
        )
    else:
        states, _ = recurrent.run(
            recurrent.gru_step, y[None], [s[None]], weights["decoder"]
        )
        states = states[0]
        w = weights["attention"][0] if score == "general" else np.eye(len(s))
        attention = np.array(
            [
                softmax(
                    np.array([s_t @ w @ h for h in memory]),
                    np.ones(len(memory), bool),
                )
                for s_t in states
            ]
        )
        contexts = attention @ memory
    *kernels, bias = weights["readout"]
    t = maxout([states, y, contexts], kernels, bias, pieces=2)
    return t @ output, attention


# --- Sutskever et al., 2014 ---------------------------------------------------


def seq2seq_logits(source, target, weights, reverse):
    """Return logits `(T, V)`; the last state is all that is handed over."""
    weights = exact(weights)
    read, write, output = tables(weights)
    x = embed(read, source[::-1] if reverse else source)[None]
    y = embed(write, target)[None]
    n = 1
    while f"encoder_{n}" in weights:
        units = weights[f"encoder_{n}"][1].shape[0]
        zeros = [np.zeros((1, units))] * 2
        x, last = recurrent.run(
            recurrent.lstm_step, x, zeros, weights[f"encoder_{n}"]
        )
        y, _ = recurrent.run(
            recurrent.lstm_step, y, last, weights[f"decoder_{n}"]
        )
        n += 1
    y = y[0]
    if "readout" in weights:
        kernel, bias = weights["readout"]
        y = y @ kernel + bias
    return y @ output
