"""The penalties of Wu et al. (2016), GNMT, equation 14."""

from keras import ops


def length_divisors(longest, alpha):
    r"""Return $lp(n) = ((5 + n) / 6)^\alpha$ for $n = 0, ..., longest$.

    Scores are divided by it. The end token counts.

    >>> length_divisors(20, 0.6).numpy()[[10, 20]].round(4).tolist()
    [1.7329..., 2.354...]
    """
    lengths = ops.arange(longest + 1, dtype="float32")
    return ops.power((5.0 + lengths) / 6.0, alpha)


def coverage_penalty(coverage, beta):
    r"""Return $\beta \sum_s \log \min(\sum_t a_{ts}, 1)$, at most 0.

    A source step that got no attention at all is padding, as no softmax gives
    a real one exactly none.

    Shapes:
        coverage `(B, S)`, the weights summed over target steps -> `(B, 1)`.
    """
    seen = ops.where(coverage > 0, ops.minimum(coverage, 1.0), 1.0)
    return beta * ops.sum(ops.log(seen), axis=-1, keepdims=True)


def mean_attention(attention):
    """Average over layers and heads: dict of `(B, H, 1, S)` -> `(B, S)`."""
    weights = [ops.mean(ops.cast(a, "float32"), 1) for a in attention.values()]
    return ops.squeeze(sum(weights) / len(weights), 1)
