"""Metrics count tokens, not batches."""

import keras
import numpy as np
import pytest

from keras_seq.training import Perplexity, TokenAccuracy, TokenCrossentropy
from tests.oracles import training as oracle

V = 7


def batch(length, padding, seed):
    rng = np.random.default_rng(seed)
    labels = np.pad(rng.integers(1, V, (1, length)), [(0, 0), (0, padding)])
    logits = rng.normal(size=(1, length + padding, V)).astype("float32")
    logits[0, ::2, :] += 3 * np.eye(V)[labels[0, ::2]]  # some are right
    return labels, logits


def joined(*batches):
    return [
        np.concatenate(parts, axis=1) for parts in zip(*batches, strict=True)
    ]


FEW, MANY = batch(3, 11, seed=0), batch(97, 2, seed=1)


def test_accuracy_weights_by_token_across_batches():
    metric = TokenAccuracy()
    metric.update_state(*FEW)
    metric.update_state(*MANY)
    want = oracle.token_accuracy(*joined(FEW, MANY))
    assert 0.3 < want < 0.9
    np.testing.assert_allclose(metric.result(), want, rtol=1e-6)


def test_crossentropy_and_perplexity_weight_by_token_across_batches():
    entropy, perplexity = TokenCrossentropy(), Perplexity()
    for metric in (entropy, perplexity):
        metric.update_state(*FEW)
        metric.update_state(*MANY)
    total, weight = oracle.masked_crossentropy(*joined(FEW, MANY))
    np.testing.assert_allclose(entropy.result(), total / weight, rtol=1e-5)
    want = np.exp(total / weight)
    np.testing.assert_allclose(perplexity.result(), want, rtol=1e-5)


@pytest.mark.parametrize("make", [TokenAccuracy, TokenCrossentropy, Perplexity])
def test_reset_forgets_and_padding_alone_is_finite(make):
    metric = make()
    metric.update_state(*FEW)
    metric.reset_state()
    metric.update_state(np.zeros((2, 3), int), np.ones((2, 3, V), "float32"))
    assert np.isfinite(float(metric.result()))


@pytest.mark.parametrize("make", [TokenAccuracy, TokenCrossentropy, Perplexity])
def test_padding_id_and_weights_are_honoured(make):
    labels, logits = MANY
    plain, other = make(), make(ignore_class=-1, name="other")
    plain.update_state(labels[:, :97], logits[:, :97])
    other.update_state(np.where(labels == 0, -1, labels), logits)
    np.testing.assert_allclose(other.result(), plain.result(), rtol=1e-6)
    rows = make()
    two = [np.concatenate([x, x[:, ::-1]]) for x in MANY]
    rows.update_state(*two, sample_weight=np.array([1.0, 0.0]))
    np.testing.assert_allclose(rows.result(), plain.result(), rtol=1e-6)
    again = keras.metrics.deserialize(keras.metrics.serialize(other))
    assert again.get_config() == other.get_config()
    assert again.ignore_class == -1
