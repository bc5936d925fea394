"""Conformance cases of the Transformer's blocks."""

from keras_seq import layers
from tests.conformance.case import Case

OFF_DEFAULT = dict(
    intermediate_dim=13,
    num_heads=3,
    dropout=0.1,
    activation="gelu",
    layer_norm_epsilon=1e-3,
    kernel_initializer="random_normal",
    bias_initializer="random_normal",
    normalize_first=True,
    attention_dropout=0.2,
    flash_attention=False,
    rotary=100.0,
)

CASES = {
    "TransformerEncoder": Case(
        lambda: layers.TransformerEncoder(**OFF_DEFAULT),
        [(2, 5, 18)],
    ),
    "TransformerDecoder": Case(
        lambda: layers.TransformerDecoder(**OFF_DEFAULT),
        [(2, 5, 18), (2, 7, 11)],
    ),
}
