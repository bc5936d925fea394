"""Conformance cases of the layers that came with the captioners."""

from keras_seq import layers
from tests.conformance.case import Case

SETTINGS = {
    "units": 5,
    "attention_units": 3,
    "penalty": 0.5,
    "kernel_initializer": "random_normal",
    "recurrent_initializer": "glorot_normal",
    "bias_initializer": "random_normal",
}
CASES = {
    "AttentiveLSTM": Case(
        lambda: layers.AttentiveLSTM(**SETTINGS),
        [(2, 7, 11), (2, 13, 3)],
    ),
    "HardAttentiveLSTM": Case(
        lambda: layers.HardAttentiveLSTM(
            # Larger matrices than above: with nearly equal weights, rounding
            # decides which place is the likeliest.
            **{**SETTINGS, "kernel_initializer": "glorot_normal"},
            expected_share=0.25,
            outside_training="expected",  # and "likeliest" with the captioners
            seed=3,
        ),
        [(2, 7, 11), (2, 13, 3)],
    ),
}
