"""Attention heads graded against gold alignments."""

import numpy as np
import pytest

from keras_seq.data import split_words, write_pairs
from keras_seq.models import transformer
from keras_seq.tasks import translation_alignment
from keras_seq.tasks.translation_alignment import (
    alignment_error_rates,
    best_head,
    word_attention,
)
from keras_seq.tasks.translator import Translator
from keras_seq.text import SubwordTokenizer

pytestmark = pytest.mark.tensorflow
PAIRS = write_pairs(5, seed=3)
SOURCES = [pair.source for pair in PAIRS]
TARGETS = [pair.target for pair in PAIRS]


def test_attention_is_between_words_of_both_sides():
    tokenizer = SubwordTokenizer.train(SOURCES + TARGETS, 330)
    model = transformer(tokenizer.vocabulary_size, "test")
    found = list(
        word_attention(Translator(tokenizer, model), SOURCES, TARGETS, 2)
    )
    assert len(found) == len(PAIRS)
    for weights, source, target in zip(found, SOURCES, TARGETS, strict=True):
        heads = model.settings["num_heads"]
        words = len(split_words(target)), len(split_words(source))
        assert weights.shape == (2, heads, *words)
        total = weights.sum(-1)
        # The rest goes to the source's end token.
        assert (total > 0).all() and (total < 1).all()


def test_the_head_that_looks_right_is_found(monkeypatch):
    def looks(translator, sources, targets, batch_size):
        for pair in PAIRS:
            size = len(split_words(pair.target)), len(split_words(pair.source))
            weights = np.zeros((2, 3, *size))
            weights[..., -1] = 0.5  # the wrong ones look at the full stop
            for source, target in pair.alignment.sure:
                weights[1, 2, target] = np.eye(size[1])[source]
            yield weights

    monkeypatch.setattr(translation_alignment, "word_attention", looks)
    gold = [pair.alignment for pair in PAIRS]
    rates = alignment_error_rates(None, SOURCES, TARGETS, gold)
    assert rates.shape == (2, 3)
    assert best_head(rates) == [[1, 2]]
    assert rates[1, 2] < 0.1 and rates[0, 0] > 0.5
