"""Dot-product attention (Luong et al., 2015; Vaswani et al., 2017)."""

import keras

from keras_seq.layers.score_attention import ScoreAttention
from keras_seq.ops.scores import scale_query


@keras.saving.register_keras_serializable(package="keras_seq")
class DotProductAttention(ScoreAttention):
    r"""Average of `value`, weighted by how alike query and key point.

    $$ e_{ts} = \frac{q_t^\top k_s}{\sqrt{D}}, \quad
       a_{t\cdot} = \mathrm{softmax}(e_{t\cdot}), \quad
       c_t = \textstyle\sum_s a_{ts} v_s. $$

    Differs from `keras.layers.Attention`: scaled by default, a row that sees
    nothing is zeros and not the average of the padding, and long sequences
    never hold the `T x S` matrix.

    Shapes:
        query `(B, T, D)`, value `(B, S, E)`, key `(B, S, D)` (default: value)
        -> context `(B, T, E)` and, on request, weights `(B, T, S)`.

    Masking: see `ScoreAttention`; the query's mask passes through.

    Args:
        scaled: Whether to divide by the root of the width.
        dropout: Share of the weights to drop while training.
        seed: Seed of the dropout.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> from keras import ops
        >>> context, weights = DotProductAttention()(
        ...     ops.ones((2, 3, 4)), ops.ones((2, 5, 4)),
        ...     return_attention_scores=True,
        ... )
        >>> tuple(context.shape), tuple(weights.shape)
        ((2, 3, 4), (2, 3, 5))

    Reference: <https://arxiv.org/abs/1706.03762>
    """

    def __init__(self, scaled=True, dropout=0.0, seed=None, **kwargs):
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        self.scaled = scaled

    def factors(self, query, key):
        return (scale_query(query) if self.scaled else query), key

    def get_config(self):
        return {**super().get_config(), "scaled": self.scaled}
