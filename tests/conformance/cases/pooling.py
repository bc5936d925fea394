"""Conformance cases of the pooling layers."""

from keras_seq import layers
from tests.conformance.case import Case

CASES = {
    "AttentionPooling": Case(
        lambda: layers.AttentionPooling(
            units=17, kernel_initializer="he_normal", dropout=0.1, seed=3
        ),
        [(2, 5, 7)],
    ),
    "SequencePooling": Case(
        lambda: layers.SequencePooling(mode="max"), [(2, 5, 7)]
    ),
}
