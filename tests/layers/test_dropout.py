"""Dropout: the mean is kept, the rate is met, the gradient drops the same."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seq.layers.dropout import Dropout
from keras_seq.ops.tensorflow_dropout import dropout

pytestmark = pytest.mark.tensorflow

T, D = 211, 307


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def scales(rate, seeds, count):
    """What each of `count` ones became, for each seed; `(seeds, count)`."""
    seeds = tf.constant([[seed, 7] for seed in range(seeds)])
    once = tf.function(lambda seed: dropout(tf.ones([count]), rate, seed))
    return np.stack([once(seed).numpy() for seed in seeds])


# 0.1 and 0.3 are no multiples of 1/256; nor is 0.001 more than one of them.
@pytest.mark.parametrize("rate", [0.001, 0.1, 0.25, 0.3, 0.99, 255 / 256])
def test_rate_and_mean_are_right_on_average(rate):
    calls, count = 400, 1009
    found = scales(rate, calls, count)
    dropped = (found == 0).mean()
    # The threshold varies from call to call by less than 1/256.
    deviation = np.sqrt(
        rate * (1 - rate) / (calls * count) + 1 / (4 * 256**2 * calls)
    )
    assert abs(dropped - rate) < 5 * deviation
    each = found.std(axis=0).max() / np.sqrt(calls * count)
    assert abs(found.mean() - 1) < 5 * max(each, deviation)


def test_what_is_kept_is_scaled_alike():
    (found,) = scales(0.3, 1, 5000)
    low, high = np.unique(found)
    assert low == 0
    kept = (found > 0).mean()
    assert high in np.float32(256 / (256 - np.array([76, 77])))
    assert abs(kept * high - 1) < 0.05


def test_neighbours_are_dropped_independently():
    kept = scales(0.5, 40, 4001) > 0
    for step in (1, 2, 3, 4, 8):
        both = (kept[:, :-step] & kept[:, step:]).mean()
        assert abs(both - 0.25) < 0.01
    assert abs((kept[:-1] & kept[1:]).mean() - 0.25) < 0.01


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_gradient_drops_what_the_values_drop(jit_compile, dtype):
    x = tf.cast(draw(T, D), dtype)

    @tf.function(jit_compile=jit_compile)
    def run(x, seed):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = dropout(x, 0.3, seed)
        return y, tape.gradient(y, x)

    y, gradient = run(x, tf.constant([1, 2]))
    assert y.dtype == gradient.dtype == dtype
    factor = tf.cast(gradient, "float32").numpy()
    np.testing.assert_allclose(
        tf.cast(y, "float32"), tf.cast(x, "float32") * factor, rtol=1e-2
    )
    assert 0.2 < (factor == 0).mean() < 0.4


def test_a_length_known_only_later_is_no_hindrance():
    run = tf.function(
        lambda x: dropout(x, 0.5, tf.constant([1, 2])),
        input_signature=[tf.TensorSpec((None, None, 3))],
    )
    for shape in ((0, 5, 3), (2, 7, 3)):
        assert run(tf.ones(shape)).shape == shape


def test_the_same_seed_drops_the_same_and_goes_on():
    def three(seed):
        layer = Dropout(0.5, seed=seed)
        return [layer(np.ones((T, D)), training=True) for _ in range(3)]

    first, second = three(5), three(5)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], three(6)[0])


def test_each_step_of_a_compiled_loop_drops_others():
    layer = Dropout(0.5, seed=1)

    @tf.function
    def run():
        return layer(tf.ones((T, D)), training=True)

    assert not np.array_equal(run(), run())


@pytest.mark.parametrize("rate, want", [(0.0, 1.0), (1.0, 0.0)])
def test_nothing_and_everything_can_be_dropped(rate, want):
    found = Dropout(rate)(np.ones((T, D)), training=True)
    np.testing.assert_array_equal(found, np.full((T, D), want))


def test_a_rate_beyond_what_a_byte_can_tell_is_met_too():
    found = Dropout(0.999, seed=1)(np.ones((T, D)), training=True)
    assert abs((found == 0).numpy().mean() - 0.999) < 0.001
    assert found.numpy().max() == pytest.approx(1000)


def test_it_does_nothing_but_in_training():
    x = draw(T, D)
    np.testing.assert_array_equal(Dropout(0.5)(x), x)
    np.testing.assert_array_equal(Dropout(0.5)(x, training=False), x)


def test_a_shape_of_the_noise_is_keras_s_business():
    found = Dropout(0.5, noise_shape=(T, 1), seed=1)(
        np.ones((T, D)), training=True
    )
    whole_rows = keras.ops.convert_to_numpy(found)
    assert set(np.unique(whole_rows)) == {0.0, 2.0}
    assert (whole_rows == whole_rows[:, :1]).all()


def test_masks_pass_through_and_it_can_be_saved(tmp_path):
    inputs = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(11, D, mask_zero=True)(inputs)
    layer = Dropout(0.3, seed=3, name="dropped")
    model = keras.Model(inputs, layer(x))
    assert model.output._keras_mask is not None
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    config = again.get_layer("dropped").get_config()
    assert type(again.get_layer("dropped")) is Dropout
    assert (config["rate"], config["seed"]) == (0.3, 3)
