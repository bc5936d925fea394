"""Conformance case of the bag of letter runs."""

import numpy as np

from keras_seq import layers
from tests.conformance.case import Case


def spelled():
    layer = layers.SpellingBag(
        units=3,
        vocabulary_size=7,
        num_ngrams=101,
        max_ngram=4,
        min_ngram=3,
        runs_per_token=13,
        initial_strength=0.5,
        dropout=0.1,
        silence=0.2,
        seed=3,
    )
    layer.learn_spellings(["", " fun ", " funny ", " dull ", " duller "])
    rng = np.random.default_rng(0)
    rows = [rng.integers(1, 5, 7) for _ in range(11)]
    layer.learn_counts(rows, rng.integers(0, 3, 11))
    return layer


CASES = {"SpellingBag": Case(spelled, [(2, 5)], dtypes=("int32",))}
