"""Rotary positions (Su et al., 2021): turn a vector by its position."""

import numpy as np
from keras import ops

from keras_seq.ops.positions import angles, wave_frequencies


def check_even_width(name, shape):
    """Raise `ValueError` unless the last axis can be split into pairs."""
    if shape[-1] is None or shape[-1] % 2:
        raise ValueError(
            f"`{name}` must have an even width, since columns are turned in "
            f"pairs. Received: shape={tuple(shape)}"
        )


def rotate(
    x, positions, max_wavelength=10_000, scaling_factor=1.0, sequence_axis=1
):
    r"""Turn pairs of columns of `x` by angles that grow with the position.

    $$ \begin{pmatrix} x'_i \\ x'_{i+d/2} \end{pmatrix} =
       \begin{pmatrix} \cos m\theta_i & -\sin m\theta_i \\
                       \sin m\theta_i & \cos m\theta_i \end{pmatrix}
       \begin{pmatrix} x_i \\ x_{i+d/2} \end{pmatrix}, \quad
       \theta_i = 10000^{-2i/d} $$

    at position $m$. The product of a rotated query and a rotated key depends
    on the distance between them only, and lengths are kept.

    Differs from the paper, which pairs neighbours (columns $2i$ and $2i + 1$),
    by a fixed order of columns that no product can notice. Halves are what
    KerasHub, GPT-NeoX and Llama's published weights use.

    Args:
        x: Queries or keys, the width last and even.
        positions: `(T,)` or `(B, T)` integers.
        max_wavelength: The constant 10000 of the equation.
        scaling_factor: Positions are divided by it, to stretch a model to
            longer sequences than it has seen.
        sequence_axis: The axis of `x` that holds the steps: 1 for
            `(B, T, D)` and `(B, T, H, D)`, 2 for `(B, H, T, D)`.

    Shapes:
        `(B, ..., T, ..., D)` -> the same, in the dtype of `x`. It is computed
        in float32.

    >>> x = ops.convert_to_tensor([[[3.0, 4.0], [3.0, 4.0]]])
    >>> turned = rotate(x, positions=[0, 1]).numpy()[0]
    >>> turned[0].tolist()
    [3.0, 4.0]
    >>> float((turned[1] ** 2).sum().round(4))
    25.0

    Reference: <https://arxiv.org/abs/2104.09864>
    """
    width = x.shape[-1]
    check_even_width("x", x.shape)
    if scaling_factor <= 0:
        raise ValueError(
            f"`scaling_factor` must be positive. Received: {scaling_factor}"
        )
    theta = wave_frequencies(np.arange(width // 2), width, max_wavelength)
    angle = angles(positions, theta / scaling_factor)  # ([B,] T, D/2)
    if len(angle.shape) == 2:
        angle = ops.expand_dims(angle, 0)
    for axis in range(1, len(x.shape) - 1):
        if axis != sequence_axis:
            angle = ops.expand_dims(angle, axis)
    cos, sin = ops.cos(angle), ops.sin(angle)
    first, second = ops.split(ops.cast(x, "float32"), 2, axis=-1)
    turned = ops.concatenate(
        [first * cos - second * sin, second * cos + first * sin], axis=-1
    )
    return ops.cast(turned, x.dtype)
