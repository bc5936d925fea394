"""Conformance cases of the pooling layers."""

from keras_seq import layers
from tests.conformance.case import Case

CASES = {
    "AttentionPooling": Case(
        lambda: layers.AttentionPooling(
            units=17,
            kernel_initializer="he_normal",
            score_scale=0.5,
            dropout=0.1,
            seed=3,
        ),
        [(2, 5, 7), (2, 5, 11)],
    ),
    "SequencePooling": Case(
        lambda: layers.SequencePooling(mode="max"), [(2, 5, 7)]
    ),
}
