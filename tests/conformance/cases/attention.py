"""Conformance cases of the attention layers."""

from keras_seq import layers
from tests.conformance.case import Case

# Query and value of different lengths, widths that differ where they may.
CROSS = [(2, 3, 7), (2, 5, 11)]
SAME_WIDTH = [(2, 3, 7), (2, 5, 7)]
MULTI_HEAD = dict(
    num_heads=6,
    key_dim=4,
    value_dim=5,
    dropout=0.1,
    use_bias=False,
    output_shape=(13,),
    attention_axes=(1,),
    kernel_initializer="he_normal",
    bias_initializer="ones",
    kernel_regularizer="l2",
    bias_regularizer="l1",
    activity_regularizer="l2",
    kernel_constraint="max_norm",
    bias_constraint="non_neg",
    use_gate=True,
    seed=17,
    num_key_value_heads=3,
    rotary=100,
)

CASES = {
    "AdditiveAttention": Case(
        lambda: layers.AdditiveAttention(
            units=17, kernel_initializer="he_normal", dropout=0.1, seed=3
        ),
        CROSS,
    ),
    "BilinearAttention": Case(
        lambda: layers.BilinearAttention(
            kernel_initializer="he_normal", dropout=0.1, seed=3
        ),
        CROSS,
        half_atol=6e-2,  # he_normal over width 7 makes scores of 10 and more
    ),
    "CosineAttention": Case(
        lambda: layers.CosineAttention(strength=3.0, dropout=0.1, seed=3),
        SAME_WIDTH,
    ),
    "DotProductAttention": Case(
        lambda: layers.DotProductAttention(scaled=False, dropout=0.1, seed=3),
        SAME_WIDTH,
        half_atol=6e-2,  # unscaled scores are as large
    ),
    "MultiHeadAttention": Case(
        lambda: layers.MultiHeadAttention(
            **MULTI_HEAD, sliding_window=4, flash_attention=False
        ),
        CROSS,
    ),
    "LocalAttention": Case(
        lambda: layers.LocalAttention(**MULTI_HEAD, window=3),
        [(2, 7, 11), (2, 7, 11)],
    ),
}
