"""Restricted self-attention (Vaswani et al., 2017, section 4)."""

import keras

from keras_seq.layers.argument_checks import check_count
from keras_seq.layers.multi_head_attention import MultiHeadAttention


@keras.saving.register_keras_serializable(package="keras_seq")
class LocalAttention(MultiHeadAttention):
    r"""Multi-head self-attention to the neighbourhood only.

    Step $t$ sees the steps $s$ with $|t - s| < r$, and with `use_causal_mask`
    those with $0 \le t - s < r$. Time and memory grow as $O(n r)$, not
    $O(n^2)$: blocks of queries meet the blocks of keys within reach, and the
    `T x S` matrix is not made - unless the scores are asked for, or attention
    dropout is at work.

    Differs from `MultiHeadAttention(sliding_window=r)` by taking one sequence
    for query and value, so that it can promise the cost.

    Shapes:
        query and value `(B, T, D)` -> `(B, T, D)` and, on request, weights
        `(B, H, T, T)`.

    Masking: as `MultiHeadAttention`.

    Args:
        num_heads: Number of heads `H`.
        key_dim: Width of a head's query and key.
        window: The reach $r$; 1 sees itself alone.
        **kwargs: As `MultiHeadAttention`, except `sliding_window`.

    Example:
        >>> from keras import ops
        >>> layer = LocalAttention(num_heads=2, key_dim=3, window=4)
        >>> tuple(layer(ops.ones((2, 11, 8)), ops.ones((2, 11, 8))).shape)
        (2, 11, 8)

    Reference: <https://arxiv.org/abs/1706.03762>
    """

    def __init__(self, num_heads, key_dim, window, **kwargs):
        check_count("window", window)
        super().__init__(num_heads, key_dim, sliding_window=window, **kwargs)
        self.window = window

    def build(self, query_shape, value_shape, key_shape=None):
        if query_shape[1] != value_shape[1]:
            raise ValueError(
                "`query` and `value` must have the same steps. Received: "
                f"query shape={tuple(query_shape)}, "
                f"value shape={tuple(value_shape)}"
            )
        super().build(query_shape, value_shape, key_shape)

    def _is_square(self, q, k):
        return True

    def get_config(self):
        config = super().get_config()
        config["window"] = config.pop("sliding_window")
        return config
