"""Class activation maps from the papers, one place at a time, in float64.

Nothing here may import keras or keras_seq.
"""

import numpy as np


def class_activation_map(features, kernel, c):
    """Zhou et al. (2016), equation 2, of one image `(h, w, D)`."""
    h, w, D = features.shape
    found = np.zeros((h, w))
    for x, y in np.ndindex(h, w):
        for k in range(D):
            found[x, y] += kernel[k, c] * features[x, y, k]
    return found


def grad_cam(features, score, step=1e-5):
    """Selvaraju et al. (2017), equations 1 and 2, before the ReLU.

    `score` is a function of `features (h, w, D)`; its gradient is taken by
    central differences.
    """
    h, w, D = features.shape
    alpha = np.zeros(D)
    for place in np.ndindex(h, w, D):
        up, down = features.copy(), features.copy()
        up[place] += step
        down[place] -= step
        alpha[place[-1]] += (score(up) - score(down)) / (2 * step) / (h * w)
    return features @ alpha
