"""RotaryPositions: the paper's rotation at the place a step stands."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.layers import RotaryPositions
from tests.gradients import gradients
from tests.mask_probe import mask_after
from tests.oracles import positions as oracle

B, T, H, D = 2, 7, 3, 10


def sample(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def numpy(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def test_turns_each_head_as_the_paper_does():
    x = sample(B, T, H, D)
    layer = RotaryPositions(max_wavelength=500, scaling_factor=3.0)
    got = numpy(layer(x, start_index=4))
    for b, t, h in np.ndindex(B, T, H):
        want = oracle.rotated(x[b, t, h], 4 + t, 500, 3.0)
        np.testing.assert_allclose(got[b, t, h], want, atol=1e-5)


@pytest.mark.parametrize("shape", [(B, T, D), (B, T, H, D)])
def test_step_by_step_equals_all_at_once(shape):
    x, layer = sample(*shape), RotaryPositions()
    whole = numpy(layer(x))
    for t in range(T):
        for start_index in (t, ops.convert_to_tensor(t)):
            step = numpy(layer(x[:, t : t + 1], start_index=start_index))
            np.testing.assert_allclose(step, whole[:, t : t + 1], atol=1e-6)


def test_each_row_of_a_batch_may_have_positions_of_its_own():
    x, layer = sample(B, T, H, D), RotaryPositions()
    positions = np.random.default_rng(1).integers(0, 50, (B, T))
    got = numpy(layer(x, positions=positions))
    for b in range(B):
        want = numpy(layer(x[b : b + 1], positions=positions[b]))[0]
        np.testing.assert_array_equal(got[b], want)


def test_the_gradient_is_turned_back():
    # The rotation is orthogonal: the gradient of x' . c is c turned back.
    x, c = sample(1, 1, D), np.ones(D)
    layer = RotaryPositions()
    (gradient,) = gradients(lambda x: layer(x, start_index=5), x)
    want = oracle.rotated(c, -5)
    np.testing.assert_allclose(gradient[0, 0], want, atol=1e-5)


def test_agrees_with_keras_hub():
    keras_hub = pytest.importorskip("keras_hub")
    x = sample(B, T, H, D)
    theirs = keras_hub.layers.RotaryEmbedding(max_wavelength=500)
    ours = RotaryPositions(max_wavelength=500)
    np.testing.assert_allclose(
        numpy(ours(x, start_index=4)),
        numpy(theirs(x, start_index=4)),
        atol=1e-5,
    )


def test_mask_of_an_embedding_passes_through():
    ids = np.array([[4, 9, 0, 0, 0], [3, 1, 2, 8, 0]])
    embedding = keras.layers.Embedding(10, D, mask_zero=True)
    mask = mask_after(embedding, RotaryPositions(), token_ids=ids)
    assert mask == (ids != 0).astype(int).tolist()


def test_wrong_rank_and_odd_width_raise():
    for inputs in (np.zeros((B, D), "float32"), keras.Input((D,))):
        with pytest.raises(ValueError, match=r"`inputs`.*\(B, T, D\).*Rec"):
            RotaryPositions()(inputs)
    for inputs in (np.zeros((B, T, 7), "float32"), keras.Input((T, 7))):
        with pytest.raises(ValueError, match=r"even.*Received.*7"):
            RotaryPositions()(inputs)


def test_bad_arguments_raise():
    with pytest.raises(ValueError, match="`scaling_factor`.*Received: 0"):
        RotaryPositions(scaling_factor=0)
    with pytest.raises(ValueError, match="`max_wavelength`.*Received: 0"):
        RotaryPositions(max_wavelength=0)
