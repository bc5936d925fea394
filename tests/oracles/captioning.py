"""Models that describe images, from their papers, in float64 NumPy.

One image at a time. Weights arrive as `{layer name: [arrays]}`. Nothing here
may import keras or keras_seq.
"""

import numpy as np

from tests.oracles import recurrent, transformer
from tests.oracles.attention import softmax
from tests.oracles.positions import sinusoids
from tests.oracles.seq2seq import embed, exact


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def attentive_lstm(y, a, h, c, weights, mask=None, places=None):
    """Xu et al. (2015), equations 1 to 6 and the gate of section 4.2.1.

    `weights` are in the order `c, w_a, u_a, v_a, w_beta, b_beta, kernel,
    recurrent_kernel, bias`. `places` says which region each step looks at:
    one number a step (hard), "likeliest", or None for all (soft). Returns
    states `(T, U)`, contexts `(T, M)` and attention `(T, S)`.
    """
    of_z, w_a, u_a, v_a, w_beta, b_beta, kernel, recurrent_kernel, bias = (
        np.asarray(w, "float64") for w in weights
    )
    states, contexts, attention = [], [], []
    for t, y_t in enumerate(np.asarray(y, "float64")):
        if mask is None or mask[t]:
            e = np.array([v_a @ np.tanh(h @ w_a + a_i @ u_a) for a_i in a])
            alpha = softmax(e, np.ones(len(a), bool))
            beta = sigmoid(h @ w_beta + b_beta)
            if places is None:
                z = beta * sum(p * a_i for p, a_i in zip(alpha, a, strict=True))
            elif isinstance(places, str):
                z = beta * a[alpha.argmax()]
            else:
                z = beta * a[places[t]]
            h, c = recurrent.lstm_step(
                np.concatenate([y_t, z]),
                [h, c],
                np.concatenate([kernel, of_z]),
                recurrent_kernel,
                bias,
            )
        states.append(h)
        contexts.append(z)
        attention.append(alpha)
    return np.array(states), np.array(contexts), np.array(attention)


def table_and_output(weights):
    table, *output = weights["token_embedding"]
    return table, (output[0] if output else table.T)


def show_attend_tell(a, target, weights, places=None):
    """Return logits `(T, V)` and attention `(T, N)`; equation 7."""
    weights, a = exact(weights), np.asarray(a, "float64")
    table, output = table_and_output(weights)
    y, mean = embed(table, target), a.mean(axis=0)
    h, c = (
        np.tanh(mean @ weights[name][0] + weights[name][1])
        for name in ("initial_h", "initial_c")
    )
    states, contexts, attention = attentive_lstm(
        y, a, h, c, weights["decoder"], places=places
    )
    l_h, (l_z, b_z) = weights["output_h"][0], weights["output_z"]
    return (y + states @ l_h + contexts @ l_z + b_z) @ output, attention


def show_and_tell(a, target, weights):
    """Vinyals et al. (2015), equations 10 to 12: the image is word -1."""
    weights = exact(weights)
    table, output = table_and_output(weights)
    kernel, bias = weights["image_embedding"]
    image = np.asarray(a, "float64").mean(axis=0) @ kernel + bias
    x = np.concatenate([image[None], embed(table, target)])[None]
    zeros = [np.zeros((1, weights["decoder"][1].shape[0]))] * 2
    x, _ = recurrent.run(recurrent.lstm_step, x, zeros, weights["decoder"])
    x = x[0, 1:]
    if "readout" in weights:
        x = x @ weights["readout"][0] + weights["readout"][1]
    return x @ output


def transformer_captioner(a, target, weights, epsilon=1e-5):
    """Vaswani et al. (2017), pre-norm, with an image for a memory."""
    weights = exact(weights)
    table, output = table_and_output(weights)
    kernel, bias = weights["image_embedding"]
    width = table.shape[1]
    m = (np.asarray(a, "float64") @ kernel + bias)[None]
    m = transformer.norm(m, weights["image_norm"], epsilon)
    m = m + sinusoids(np.arange(m.shape[1]), width)
    t = len(target)
    y = (embed(table, target) + sinusoids(np.arange(t), width))[None]
    n = 1
    while f"decoder_{n}" in weights:
        y, _ = transformer.decoder(
            y,
            m,
            weights[f"decoder_{n}"],
            np.tril(np.ones((1, t, t), bool)),
            np.ones((1, t, m.shape[1]), bool),
            True,
            epsilon,
        )
        n += 1
    return transformer.norm(y, weights["decoder_norm"], epsilon)[0] @ output
