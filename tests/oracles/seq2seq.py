"""Models that translate, from their papers' equations, in float64 NumPy.

One sentence at a time, without padding: what a padded batch gives must be what
its sentences give alone. Weights arrive as `{layer name: [arrays]}`. Nothing
here may import keras or keras_seq.
"""

import numpy as np

from tests.oracles import transformer
from tests.oracles.positions import sinusoids


def exact(weights):
    return {
        name: [np.asarray(w, "float64") for w in arrays]
        for name, arrays in weights.items()
    }


# --- Vaswani et al., 2017 ---------------------------------------------------


def transformer_logits(source, target, weights, pre_norm, epsilon=1e-5):
    """Return logits `(T, V)` of token ids `(S,)` and `(T,)`."""
    weights = exact(weights)
    tied = "token_embedding" in weights
    (read,) = weights["token_embedding" if tied else "source_embedding"]
    if tied:
        write, output = read, read.T
    else:
        write, output = weights["target_embedding"]

    def embed(table, ids):
        width = table.shape[1]
        x = np.sqrt(width) * table[ids]
        return (x + sinusoids(np.arange(len(ids)), width))[None]

    def normed(x, name):
        return transformer.norm(x, weights[name], epsilon) if pre_norm else x

    s, t = len(source), len(target)
    h = embed(read, source)
    n = 1
    while f"encoder_{n}" in weights:
        all_visible = np.ones((1, s, s), bool)
        h, _ = transformer.encoder(
            h, weights[f"encoder_{n}"], all_visible, pre_norm, epsilon
        )
        n += 1
    h = normed(h, "encoder_norm")
    y, n = embed(write, target), 1
    while f"decoder_{n}" in weights:
        y, _ = transformer.decoder(
            y,
            h,
            weights[f"decoder_{n}"],
            np.tril(np.ones((1, t, t), bool)),
            np.ones((1, t, s), bool),
            pre_norm,
            epsilon,
        )
        n += 1
    return normed(y, "decoder_norm")[0] @ output
