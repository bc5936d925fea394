"""Bilinear attention (Luong et al., 2015, "general")."""

import keras
from keras import ops

from keras_seq.layers.score_attention import ScoreAttention


@keras.saving.register_keras_serializable(package="keras_seq")
class BilinearAttention(ScoreAttention):
    r"""Average of `value`, weighted by a learned product of query and key.

    $$ e_{ts} = q_t^\top W k_s, \quad
       a_{t\cdot} = \mathrm{softmax}(e_{t\cdot}), \quad
       c_t = \textstyle\sum_s a_{ts} v_s. $$

    `W` has shape `(D, K)`, so query and key may differ in width, and "match"
    need not mean "point the same way".

    Shapes:
        query `(B, T, D)`, value `(B, S, E)`, key `(B, S, K)` (default: value)
        -> context `(B, T, E)` and, on request, weights `(B, T, S)`.

    Masking: see `ScoreAttention`; the query's mask passes through.

    Args:
        kernel_initializer: Initializer of `W`.
        dropout: Share of the weights to drop while training.
        seed: Seed of the dropout.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> from keras import ops
        >>> layer = BilinearAttention()
        >>> tuple(layer(ops.ones((2, 3, 4)), ops.ones((2, 5, 6))).shape)
        (2, 3, 6)

    Reference: <https://arxiv.org/abs/1508.04025>
    """

    def __init__(
        self,
        kernel_initializer="glorot_uniform",
        dropout=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build_weights(self, query_width, key_width):
        self.w = self.add_weight(
            name="w",
            shape=(query_width, key_width),
            initializer=self.kernel_initializer,
        )

    def factors(self, query, key):
        return ops.matmul(query, self.w), key

    def get_config(self):
        return {
            **super().get_config(),
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
        }
