"""The feed-forward network of a Transformer, in float64 NumPy loops.

Nothing here may import keras or keras_seq: an oracle that shares code with
the thing it judges agrees with its bugs.
"""

import numpy as np


def feed_forward(x, w1, b1, w2, b2):
    """Vaswani et al. (2017), equation 2, one position at a time."""
    x, w1, b1, w2, b2 = (np.asarray(a, "float64") for a in (x, w1, b1, w2, b2))
    out = np.zeros(x.shape)
    for place in np.ndindex(x.shape[:-1]):
        hidden = np.maximum(0, x[place] @ w1 + b1)
        out[place] = hidden @ w2 + b2
    return out
