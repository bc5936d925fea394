"""Attention through a stack of layers (Abnar and Zuidema, 2020)."""

from keras import ops

RESIDUAL = 0.5  # what a block keeps of its input, as in the paper


def attention_rollout(layers):
    r"""Return how much of each input token reaches each output, `(B, T, T)`.

    $$ R = \tilde A_L \cdots \tilde A_1, \qquad
       \tilde A_l \propto (1 - r) \bar A_l + r I, \quad r = 1/2, $$

    with $\bar A_l$ the mean over heads, and rows that sum to 1. A token that
    sees nothing (a row of zeros) is passed on as it is.

    Args:
        layers: Attention weights `(B, H, T, T)`, first layer first.

    >>> first, second = [[0.5, 0.5], [0, 1]], [[0, 1], [1, 0]]
    >>> ops.convert_to_numpy(
    ...     attention_rollout([ops.array([[first]]), ops.array([[second]])])
    ... ).tolist()
    [[[0.375, 0.625], [0.375, 0.625]]]
    """
    rollout = None
    for weights in layers:
        mean = ops.mean(ops.cast(weights, "float32"), axis=1)  # (B, T, T)
        steps = ops.arange(ops.shape(mean)[-1])
        same = ops.equal(steps[:, None], steps[None, :])
        passed = (1 - RESIDUAL) * mean + RESIDUAL * ops.cast(same, "float32")
        passed = passed / ops.sum(passed, axis=-1, keepdims=True)
        rollout = passed if rollout is None else ops.matmul(passed, rollout)
    return rollout
