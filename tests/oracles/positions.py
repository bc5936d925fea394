"""Positions, written from the papers in float64 NumPy. Slow on purpose.

Nothing here may import keras or keras_seq: an oracle that shares code with
the thing it judges agrees with its bugs.
"""

import math

import numpy as np


def sinusoid(position, width, max_wavelength=10_000.0):
    """Vaswani et al. (2017), section 3.5, one entry at a time."""
    row = np.zeros(width)
    for column in range(width):
        i = column // 2
        angle = position / max_wavelength ** (2 * i / width)
        row[column] = math.cos(angle) if column % 2 else math.sin(angle)
    return row


def sinusoids(positions, width, max_wavelength=10_000.0):
    return np.stack([sinusoid(p, width, max_wavelength) for p in positions])


def rotated(vector, position, max_wavelength=10_000.0, scaling_factor=1.0):
    """Su et al. (2021), equation 13: a complex number per pair of columns.

    Column i is the real part and column i + d/2 the imaginary part.
    """
    width = len(vector)
    half = width // 2
    out = np.zeros(width)
    for i in range(half):
        theta = max_wavelength ** (-2 * i / width)
        turn = np.exp(1j * position / scaling_factor * theta)
        z = (vector[i] + 1j * vector[i + half]) * turn
        out[i], out[i + half] = z.real, z.imag
    return out


def alibi(slopes, query_at, num_keys):
    """Press et al. (2022), section 3: minus slope times distance."""
    bias = np.zeros((len(slopes), len(query_at), num_keys))
    for h, slope in enumerate(slopes):
        for t, at in enumerate(query_at):
            for s in range(num_keys):
                bias[h, t, s] = -slope * abs(at - s)
    return bias


def t5_bucket(distance, num_buckets, max_distance, bidirectional):
    """Raffel et al. (2020), section 2.1, as their published code lays it out.

    Args:
        distance: Query position minus key position, one integer.
    """
    first = 0
    if bidirectional:
        num_buckets //= 2
        if distance < 0:  # the key comes after the query
            first = num_buckets
        distance = abs(distance)
    else:
        distance = max(distance, 0)
    exact = num_buckets // 2
    if distance < exact:
        return first + distance
    share = math.log(distance / exact) / math.log(max_distance / exact)
    # 1e-9: a logarithm that should be a whole number may fall just short.
    wide = math.floor(share * (num_buckets - exact) + 1e-9)
    return first + min(exact + wide, num_buckets - 1)
