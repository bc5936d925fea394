"""Conformance case of the bag of n-grams."""

import numpy as np

from keras_seq import layers
from tests.conformance.case import Case


def counted():
    layer = layers.NgramBag(
        units=3,
        num_ngrams=101,
        max_ngram=2,
        initial_strength=0.5,
        dropout=0.1,
        silence=0.2,
        seed=3,
    )
    rng = np.random.default_rng(0)
    rows = [rng.integers(1, 5, 7) for _ in range(11)]
    layer.learn_counts(rows, rng.integers(0, 3, 11))
    return layer


CASES = {"NgramBag": Case(counted, [(2, 5)], dtypes=("int32",))}
