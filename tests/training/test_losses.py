"""The losses against NumPy, and what padding may not do to them."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_seq.training import (
    BinaryCrossentropy,
    ClassCrossentropy,
    MaskedCrossentropy,
)
from keras_seq.training.crossentropy import crossentropy
from tests.oracles import training as oracle

pytestmark = pytest.mark.tensorflow

B, T, V = 3, 5, 7


def tokens(seed=0, scale=3.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(1, V, size=(B, T))
    labels[0, 3:] = 0
    labels[2, 1:] = 0
    return labels, (scale * rng.normal(size=(B, T, V))).astype("float32")


def loss_and_gradient(loss, labels, logits, jit_compile=False):
    @tf.function(jit_compile=jit_compile)
    def run(logits):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            value = loss(labels, logits)
        return value, tape.gradient(value, logits)

    value, gradient = run(tf.constant(logits))
    return value.numpy(), gradient.numpy()


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
def test_loss_and_gradient_are_those_of_the_equation(smoothing, jit_compile):
    labels, logits = tokens()
    loss = MaskedCrossentropy(label_smoothing=smoothing)
    got, gradient = loss_and_gradient(loss, labels, logits, jit_compile)
    total, weight = oracle.masked_crossentropy(labels, logits, smoothing)
    np.testing.assert_allclose(got, total / weight, rtol=1e-6)
    want = np.zeros(logits.shape)
    for b, t in zip(*np.nonzero(labels), strict=True):
        want[b, t] = oracle.crossentropy_gradient(
            labels[b, t], logits[b, t], smoothing
        )
    np.testing.assert_allclose(gradient, want / weight, rtol=1e-4, atol=1e-7)


def test_smoothing_is_keras_style():
    target = oracle.smoothed_target(label=2, classes=4, smoothing=0.1)
    np.testing.assert_allclose(target, [0.025, 0.025, 0.925, 0.025])
    logits = np.random.default_rng(0).normal(size=(1, 1, 4)).astype("float32")
    keras_loss = keras.losses.CategoricalCrossentropy(
        from_logits=True, label_smoothing=0.1
    )
    want = keras_loss(keras.ops.one_hot([2], 4), logits[0])
    got = MaskedCrossentropy(label_smoothing=0.1)(np.array([[2]]), logits)
    np.testing.assert_allclose(got, want, rtol=1e-6)


@settings(deadline=None, max_examples=25)
@given(
    smoothing=st.sampled_from([0.0, 1e-4, 0.1, 0.9]),
    scale=st.sampled_from([0.0, 1.0, 100.0]),
    seed=st.integers(0, 999),
)
def test_crossentropy_holds_for_any_logits(smoothing, scale, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, V, size=B)
    logits = (scale * rng.normal(size=(B, V))).astype("float32")
    got = crossentropy(labels, logits, smoothing)
    want = [
        oracle.crossentropy(y, z, smoothing)
        for y, z in zip(labels, logits, strict=True)
    ]
    # A loss is a difference of logits, which float32 rounds at their size.
    rounding = np.finfo("float32").eps * np.abs(logits).max()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 + 2 * rounding)


def test_padding_added_changes_nothing():
    labels, logits = tokens()
    loss = MaskedCrossentropy(label_smoothing=0.1)
    longer = np.pad(labels, [(0, 2), (0, 4)])
    more = np.pad(logits, [(0, 2), (0, 4), (0, 0)], constant_values=9.0)
    np.testing.assert_allclose(
        loss(longer, more), loss(labels, logits), rtol=1e-6
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_batch_without_tokens_costs_nothing_and_has_finite_gradients(smoothing):
    _, logits = tokens()
    nothing = np.zeros((B, T), int)
    loss = MaskedCrossentropy(label_smoothing=smoothing)
    got, gradient = loss_and_gradient(loss, nothing, logits)
    assert got == 0.0
    np.testing.assert_array_equal(gradient, np.zeros_like(logits))


def test_padding_id_may_lie_outside_the_vocabulary():
    labels, logits = tokens()
    loss = MaskedCrossentropy(label_smoothing=0.1, ignore_class=-100)
    outside = np.where(labels == 0, -100, labels)
    want = MaskedCrossentropy(label_smoothing=0.1)(labels, logits)
    np.testing.assert_allclose(loss(outside, logits), want, rtol=1e-6)


def test_batches_are_joined_by_token_not_by_batch():
    rng = np.random.default_rng(1)
    loss = MaskedCrossentropy()
    few = (rng.integers(1, V, (1, 3)), rng.normal(size=(1, 3, V)))
    many = (rng.integers(1, V, (1, 97)), rng.normal(size=(1, 97, V)))
    parts = [loss.total_and_weight(*batch) for batch in (few, many)]
    assert [float(weight) for _, weight in parts] == [3.0, 97.0]
    both = [
        np.concatenate(pair, axis=1) for pair in zip(few, many, strict=True)
    ]
    joined = sum(float(total) for total, _ in parts) / 100
    np.testing.assert_allclose(loss(*both), joined, rtol=1e-5)


def test_sample_weight_of_rows_or_tokens_stands_in_the_denominator():
    labels, logits = tokens()
    weights = np.random.default_rng(2).uniform(size=(B, T))
    total, weight = oracle.masked_crossentropy(labels, logits, weights=weights)
    loss = MaskedCrossentropy()
    np.testing.assert_allclose(
        loss(labels, logits, sample_weight=weights), total / weight, rtol=1e-5
    )
    rows = np.array([0.0, 2.0, 0.0])
    np.testing.assert_allclose(
        loss(labels, logits, sample_weight=rows),
        loss(labels[1:2], logits[1:2]),
        rtol=1e-6,
    )


@pytest.mark.parametrize("policy", ["float16", "bfloat16"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_low_precision_logits_are_summed_in_float32(policy, smoothing):
    labels, logits = tokens(scale=8.0)
    low = keras.ops.cast(logits, policy)
    exact = np.asarray(keras.ops.cast(low, "float32"))
    total, weight = oracle.masked_crossentropy(labels, exact, smoothing)
    got = MaskedCrossentropy(label_smoothing=smoothing)(labels, low)
    np.testing.assert_allclose(got, total / weight, rtol=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_class_crossentropy_takes_one_label_a_row(smoothing):
    labels = np.array([4, 0, 6])
    logits = np.random.default_rng(3).normal(size=(B, V)).astype("float32")
    want = np.mean(
        [
            oracle.crossentropy(y, z, smoothing)
            for y, z in zip(labels, logits, strict=True)
        ]
    )
    loss = ClassCrossentropy(label_smoothing=smoothing)
    np.testing.assert_allclose(loss(labels, logits), want, rtol=1e-6)
    np.testing.assert_allclose(loss(labels[:, None], logits), want, rtol=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_binary_crossentropy_meets_labels_of_either_rank(smoothing):
    labels = np.array([1, 0, 1])
    logits = np.array([[2.0], [-1.0], [-3.0]], "float32")
    want = np.mean(
        [
            oracle.binary_crossentropy(y, z[0], smoothing)
            for y, z in zip(labels, logits, strict=True)
        ]
    )
    loss = BinaryCrossentropy(label_smoothing=smoothing)
    for y in (labels, labels[:, None]):
        for z in (logits, logits[:, 0]):
            np.testing.assert_allclose(loss(y, z), want, rtol=1e-6)


def test_binary_crossentropy_does_not_overflow():
    loss = BinaryCrossentropy()
    far = np.array([1e4, -1e4], "float32")
    assert float(loss(np.array([1, 0]), far)) == 0.0
    assert float(loss(np.array([0, 1]), far)) == 1e4


@pytest.mark.parametrize(
    "loss",
    [
        MaskedCrossentropy(label_smoothing=0.3, ignore_class=5, name="other"),
        ClassCrossentropy(label_smoothing=0.3, name="other"),
        BinaryCrossentropy(label_smoothing=0.3, name="other"),
    ],
    ids=lambda loss: type(loss).__name__,
)
def test_every_argument_survives_saving(loss):
    again = keras.losses.deserialize(keras.losses.serialize(loss))
    assert type(again) is type(loss)
    assert again.get_config() == loss.get_config()
    assert again.label_smoothing == 0.3 and again.name == "other"


@pytest.mark.parametrize("smoothing", [-0.1, 1.0])
def test_smoothing_outside_its_range_is_refused(smoothing):
    with pytest.raises(ValueError, match="`label_smoothing`.*Received"):
        MaskedCrossentropy(label_smoothing=smoothing)


def test_model_fit_of_keras_takes_the_loss():
    labels, _ = tokens()
    model = keras.Sequential(
        [keras.layers.Embedding(V, 11, mask_zero=True), keras.layers.Dense(V)]
    )
    model.compile("sgd", MaskedCrossentropy(label_smoothing=0.1))
    history = model.fit(labels, labels, epochs=1, batch_size=B, verbose=0)
    assert np.isfinite(history.history["loss"][0])


def test_replicas_of_a_strategy_share_one_loss():
    labels, logits = tokens()
    loss = MaskedCrossentropy()
    alone = float(loss(labels, logits))

    class Two:  # stands for `tf.distribute.MirroredStrategy` on two devices
        num_replicas_in_sync = 2

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tf.distribute, "get_strategy", Two)
        assert float(loss(labels, logits)) == pytest.approx(alone / 2)
