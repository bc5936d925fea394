"""Bidirectional: merging, padding, and Keras's weights."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq import layers

B, T, D, U = 3, 7, 2, 5
MASK = np.array(
    [[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0], [0, 1, 1, 0, 1, 0, 0]], bool
)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def numpy(outputs):
    if not isinstance(outputs, (list, tuple)):
        return ops.convert_to_numpy(outputs)
    return [ops.convert_to_numpy(x) for x in outputs]


def make(merge_mode="concat", inner=layers.LSTM, **options):
    layer = layers.Bidirectional(inner(U, **options), merge_mode=merge_mode)
    layer.build((B, T, D))
    layer.set_weights([draw(*w.shape) for w in layer.get_weights()])
    return layer


@pytest.mark.parametrize("merge_mode", ["concat", "sum", "mul", "ave"])
@pytest.mark.parametrize("return_sequences", [False, True])
def test_merges_what_both_directions_found(merge_mode, return_sequences):
    apart = make(None, return_sequences=return_sequences)
    merged = make(merge_mode, return_sequences=return_sequences)
    x = draw(B, T, D)
    forward, backward = numpy(apart(x, mask=MASK))
    want = {
        "concat": np.concatenate([forward, backward], axis=-1),
        "sum": forward + backward,
        "mul": forward * backward,
        "ave": (forward + backward) / 2,
    }[merge_mode]
    np.testing.assert_allclose(numpy(merged(x, mask=MASK)), want, atol=1e-6)
    assert merged.compute_output_shape((B, T, D)) == want.shape


@pytest.mark.parametrize("merge_mode", ["concat", "sum", "mul", "ave", None])
@pytest.mark.parametrize("kind", ["SimpleRNN", "LSTM", "GRU"])
@pytest.mark.parametrize("return_state", [False, True])
def test_takes_the_place_of_keras(merge_mode, kind, return_state):
    pair = [
        library.Bidirectional(
            getattr(library, kind)(
                U, return_sequences=True, return_state=return_state
            ),
            merge_mode=merge_mode,
        )
        for library in (keras.layers, layers)
    ]
    x, mask = draw(B, T, D), np.arange(T) < [[7], [4], [1]]
    for layer in pair:
        layer.build(x.shape)
    pair[0].set_weights([draw(*w.shape) for w in pair[0].get_weights()])
    pair[1].set_weights(pair[0].get_weights())
    for visible in (None, mask):
        old, new = (numpy(layer(x, mask=visible)) for layer in pair)
        for a, b in zip(
            new if isinstance(new, list) else [new],
            old if isinstance(old, list) else [old],
            strict=True,
        ):
            np.testing.assert_allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("kind", [layers.SimpleRNN, layers.LSTM, layers.GRU])
def test_padded_row_equals_the_row_alone_in_both_directions(kind):
    layer = make(inner=kind, return_sequences=True, return_state=True)
    x = draw(B, T, D)
    x[~MASK] = np.nan
    output, *states = numpy(layer(x, mask=MASK))
    np.testing.assert_array_equal(output[~MASK], 0)
    for row, visible in enumerate(MASK):
        alone, *alone_states = numpy(layer(x[row : row + 1, visible]))
        np.testing.assert_allclose(output[row, visible], alone[0], atol=1e-6)
        for state, expected in zip(states, alone_states, strict=True):
            np.testing.assert_allclose(state[row], expected[0], atol=1e-6)


def test_output_knows_what_comes_after():
    layer = make(return_sequences=True)
    x = draw(B, T, D)
    changed = x.copy()
    changed[:, -1] += 1
    before, after = numpy(layer(x)), numpy(layer(changed))
    np.testing.assert_allclose(before[:, 0, :U], after[:, 0, :U], atol=1e-7)
    assert not np.allclose(before[:, 0, U:], after[:, 0, U:])


def test_initial_states_are_forward_then_backward():
    layer = make(None)
    x = draw(B, T, D)
    states = [draw(B, U, seed=n) for n in range(4)]
    forward, backward = numpy(layer(x, initial_state=states))
    alone = numpy(layer.forward_layer(x, initial_state=states[:2]))
    np.testing.assert_allclose(forward, alone, atol=1e-6)
    alone = numpy(layer.backward_layer(x, initial_state=states[2:]))
    np.testing.assert_allclose(backward, alone, atol=1e-6)


def test_backward_layer_may_differ():
    layer = layers.Bidirectional(
        layers.LSTM(U), backward_layer=layers.LSTM(U, "relu", go_backwards=True)
    )
    layer(draw(B, T, D))
    assert layer.backward_layer.activation is keras.activations.relu
    assert layer.forward_layer.activation is keras.activations.tanh


def test_weights_may_be_given():
    weights = make().get_weights()
    layer = layers.Bidirectional(layers.LSTM(U), weights=weights)
    layer(draw(B, T, D))
    for a, b in zip(layer.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("merge_mode", ["sum", None])
@pytest.mark.parametrize("return_state", [False, True])
def test_mask_goes_with_each_sequence_and_no_state(merge_mode, return_state):
    ids = np.array([[4, 9, 0], [3, 1, 2]])
    embedded = keras.layers.Embedding(10, D, mask_zero=True)(ids)
    layer = make(merge_mode, return_sequences=True, return_state=return_state)
    outputs = layer(embedded)
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    sequences = 2 if merge_mode is None else 1
    for n, output in enumerate(outputs):
        mask = getattr(output, "_keras_mask", None)
        if n < sequences:
            np.testing.assert_array_equal(numpy(mask), ids > 0)
        else:
            assert mask is None


def test_stateful_windows_carry_both_directions():
    layer = make(stateful=True)
    x = draw(B, T, D)
    first, second = numpy(layer(x)), numpy(layer(x))
    assert not np.allclose(first, second)
    assert len(layer.states) == 4
    layer.reset_state()
    np.testing.assert_array_equal(numpy(layer(x)), first)


def test_keras_layers_may_be_wrapped_too():
    x = draw(B, T, D)
    ours = layers.Bidirectional(keras.layers.GRU(U))
    theirs = keras.layers.Bidirectional(keras.layers.GRU(U))
    want = theirs(x)
    ours.build(x.shape)
    ours.set_weights(theirs.get_weights())
    np.testing.assert_allclose(numpy(ours(x)), numpy(want), atol=1e-6)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="layer.*Received"):
        layers.Bidirectional(keras.layers.Dense(2))
    with pytest.raises(ValueError, match="merge_mode.*Received: max"):
        layers.Bidirectional(layers.LSTM(2), merge_mode="max")
    with pytest.raises(ValueError, match="opposite.*Received"):
        layers.Bidirectional(layers.LSTM(2), backward_layer=layers.LSTM(2))
    with pytest.raises(ValueError, match="return_state.*Received"):
        layers.Bidirectional(
            layers.LSTM(2),
            backward_layer=layers.LSTM(2, go_backwards=True, return_state=True),
        )
