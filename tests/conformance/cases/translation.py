"""Conformance cases of the layers that came with the recurrent translators."""

from keras_seq import layers
from tests.conformance.case import Case

CASES = {
    "AttentiveGRU": Case(
        lambda: layers.AttentiveGRU(
            units=5,
            attention_units=3,
            kernel_initializer="random_normal",
            recurrent_initializer="glorot_normal",
            bias_initializer="random_normal",
        ),
        [(2, 7, 11), (2, 13, 3)],
    ),
    "Maxout": Case(
        lambda: layers.Maxout(
            units=5,
            pieces=3,
            kernel_initializer="random_normal",
            bias_initializer="random_normal",
        ),
        [(2, 7, 11), (2, 7, 3)],
        call=lambda layer, *inputs: layer(list(inputs)),
    ),
}
