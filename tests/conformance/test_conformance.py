"""Laws that every public layer obeys, whatever it computes."""

import inspect

import keras
import numpy as np
import pytest
from keras import ops, tree

from keras_seq import layers
from tests.conformance.cases import CASES

BACKEND = keras.backend.backend()
every_case = pytest.mark.parametrize("name", sorted(CASES))
every_sequence_case = pytest.mark.parametrize(
    "name", sorted(n for n, case in CASES.items() if case.has_sequence)
)


def arrays(outputs):
    """All output tensors, in order, as float32 or integer NumPy arrays."""
    return [
        ops.convert_to_numpy(
            ops.cast(x, "float32")
            if keras.backend.is_float_dtype(x.dtype)
            else x
        )
        for x in tree.flatten(outputs)
    ]


def symbolic_inputs(case, length="as given"):
    return [
        keras.Input(
            batch_shape=(None, None, *shape[2:])
            if length is None and case.has_sequence
            else (None, *shape[1:]),
            dtype=dtype,
        )
        for shape, dtype in zip(case.shapes, case.input_dtypes(), strict=True)
    ]


def as_model(case, length="as given"):
    """A functional model of this one layer."""
    layer = case.make()
    inputs = symbolic_inputs(case, length)
    return keras.Model(inputs, case.call(layer, *inputs))


def test_every_public_layer_has_a_case():
    public = {
        name
        for name, value in vars(layers).items()
        if inspect.isclass(value) and issubclass(value, keras.layers.Layer)
    }
    assert public == set(CASES)


@every_case
def test_config_names_every_argument_and_round_trips(name):
    layer = CASES[name].make()
    config = layer.get_config()
    parameters = inspect.signature(type(layer).__init__).parameters
    wanted = set(parameters) - {"self", "kwargs"}
    assert wanted <= set(config), wanted - set(config)
    for argument in wanted:
        default = parameters[argument].default
        assert config[argument] != default, (
            f"the case must set `{argument}` off its default"
        )
    again = type(layer).from_config(config).get_config()
    assert again == config


@every_case
def test_keras_file_round_trips_bit_for_bit(name, tmp_path):
    case = CASES[name]
    model = as_model(case)
    inputs = case.sample()
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    for before, after in zip(
        arrays(model(inputs)), arrays(again(inputs)), strict=True
    ):
        np.testing.assert_array_equal(before, after)


@every_case
def test_symbolic_shape_and_dtype_equal_the_real_ones(name):
    case = CASES[name]
    fixed = [
        keras.Input(batch_shape=shape, dtype=dtype)
        for shape, dtype in zip(case.shapes, case.input_dtypes(), strict=True)
    ]
    symbolic = tree.flatten(case.call(case.make(), *fixed))
    eager = tree.flatten(case.call(case.make(), *case.sample()))
    assert [tuple(s.shape) for s in symbolic] == [tuple(e.shape) for e in eager]
    assert [keras.backend.standardize_dtype(s.dtype) for s in symbolic] == [
        keras.backend.standardize_dtype(e.dtype) for e in eager
    ]


@every_case
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision_stays_finite_and_close(name, policy):
    case = CASES[name]
    inputs = case.sample()
    full = case.make()
    want = arrays(case.call(full, *inputs))
    half = type(full).from_config({**full.get_config(), "dtype": policy})
    case.call(half, *inputs)
    half.set_weights(full.get_weights())
    for got, expected in zip(
        arrays(case.call(half, *inputs)), want, strict=True
    ):
        assert np.isfinite(got).all()
        np.testing.assert_allclose(got, expected, atol=case.half_atol)


@every_case
@pytest.mark.skipif(BACKEND == "torch", reason="Keras does not jit PyTorch")
def test_compiled_equals_eager(name):
    case = CASES[name]
    layer = case.make()
    inputs = [ops.convert_to_tensor(x) for x in case.sample()]
    eager = arrays(case.call(layer, *inputs))
    if BACKEND == "jax":
        import jax

        compiled = jax.jit(lambda *x: case.call(layer, *x))
    else:
        import tensorflow as tf

        compiled = tf.function(
            lambda *x: case.call(layer, *x), jit_compile=True
        )
    for got, want in zip(arrays(compiled(*inputs)), eager, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@every_sequence_case
def test_one_model_takes_every_length(name):
    case = CASES[name]
    model = as_model(case, length=None)
    for batch, length in ((2, 5), (3, 1), (1, 7)):
        inputs = case.sample(batch=batch, length=length)
        got = arrays(model.predict_on_batch(inputs))
        eager = arrays(model(inputs))
        for a, b in zip(got, eager, strict=True):
            assert a.shape[0] == batch
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@every_sequence_case
@pytest.mark.parametrize("batch, length", [(2, 1), (2, 0), (0, 3)])
def test_shortest_and_empty_inputs_give_finite_answers(name, batch, length):
    case = CASES[name]
    layer = case.make()
    case.call(layer, *case.sample())
    outputs = arrays(case.call(layer, *case.sample(batch=batch, length=length)))
    for output in outputs:
        assert output.shape[0] == batch
        assert np.isfinite(output).all()


@every_case
def test_inference_is_deterministic(name):
    case = CASES[name]
    layer = case.make()
    inputs = case.sample()
    once, twice = (arrays(case.call(layer, *inputs)) for _ in range(2))
    for a, b in zip(once, twice, strict=True):
        np.testing.assert_array_equal(a, b)
