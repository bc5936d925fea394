"""Attention where lengths are names, as where JAX infers or exports shapes."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.ops.blockwise_attention import blockwise_attention
from keras_seq.ops.local_attention import local_attention

B, H, T, S, D, E = 2, 3, 5, 7, 11, 13


def draw(length, key_length):
    rng = np.random.default_rng(0)
    query, key, value = (
        rng.normal(size=(B, H, *shape)).astype("float32")
        for shape in [(length, D), (key_length, D), (key_length, E)]
    )
    seen = rng.random((B, key_length)) < 0.6
    seen[0] = False  # an example with nothing to see
    return query, key, value, seen


def whole(causal):
    return lambda q, k, v, seen: blockwise_attention(
        q, k, v, seen[:, None, None], causal
    )


def window(causal):
    return lambda q, k, v, seen: local_attention(q, k, v, 3, seen, causal)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("attention", [whole, window])
def test_shapes_are_inferred(attention, causal):
    inputs = [
        keras.KerasTensor((None, H, None, width), "float32")
        for width in (D, D, E)
    ]
    seen = keras.KerasTensor((None, None), "bool")
    layer = keras.layers.Lambda(lambda x: attention(causal)(*x))
    assert layer([*inputs, seen]).shape == (None, H, None, E)


@pytest.mark.skipif(
    keras.backend.backend() != "jax", reason="Only JAX exports names"
)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "attention, key_length", [(whole, S), (whole, 3), (window, T)]
)
def test_what_was_exported_gives_the_same_numbers(
    attention, key_length, causal
):
    import jax

    inputs = [ops.convert_to_tensor(x) for x in draw(T, key_length)]
    t, s = jax.export.symbolic_shape("t, s")
    s = t if attention is window else s
    shapes = [(B, H, t, D), (B, H, s, D), (B, H, s, E), (B, s)]
    exported = jax.export.export(jax.jit(attention(causal)))(
        *(
            jax.ShapeDtypeStruct(shape, x.dtype)
            for shape, x in zip(shapes, inputs, strict=True)
        )
    )
    got, want = exported.call(*inputs), attention(causal)(*inputs)
    np.testing.assert_allclose(got, want, atol=1e-6)
    assert np.abs(want[1]).max() > 0 and not np.abs(want[0]).any()
