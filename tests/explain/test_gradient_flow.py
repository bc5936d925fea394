"""How far back a loss is heard, measured against the chain rule by hand."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq import layers
from keras_seq.explain import gradient_flow, plot_gradient_flow
from tests.gradients import gradients
from tests.oracles import recurrent as oracle

B, T, D, U = 2, 7, 3, 5
KINDS = {
    "SimpleRNN": (layers.SimpleRNN, oracle.rnn_step),
    "LSTM": (layers.LSTM, oracle.lstm_step),
    "GRU": (layers.GRU, oracle.gru_step),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def make(kind, **options):
    layer = KINDS[kind][0](U, name="memory", **options)
    layer.build((None, None, D))
    layer.set_weights([0.7 * draw(*w.shape) for w in layer.get_weights()])
    return layer


def scaled_rotation(scale):
    """A linear RNN that turns its state, and scales it, at each step."""
    layer = layers.SimpleRNN(U, activation=None, name="memory")
    layer.build((None, None, D))
    kernel, recurrent_kernel, bias = layer.get_weights()
    rotation, _ = np.linalg.qr(draw(U, U))
    layer.set_weights([kernel, scale * rotation, bias])
    return layer


@pytest.mark.parametrize("scale", [0.6, 1.0, 2.0])
def test_a_rotation_scales_the_gradient_at_each_step(scale):
    flow = gradient_flow(scaled_rotation(scale), draw(B, T, D))["memory"]
    powers = scale ** np.arange(T)
    np.testing.assert_allclose(flow.norm / flow.norm[0], powers, rtol=1e-4)
    np.testing.assert_allclose(flow.singular_values, scale, rtol=1e-5)
    np.testing.assert_allclose(flow.spectral_radius, scale, rtol=1e-5)
    np.testing.assert_allclose(flow.growth, powers, rtol=1e-4)
    assert flow.half_life() == (2 if scale == 0.6 else None)
    np.testing.assert_array_equal(flow.lag, np.arange(T))


@every_kind
def test_norm_is_the_gradient_of_what_follows(kind):
    layer = make(kind, return_state=True)
    x = draw(B, T, D)
    flow = gradient_flow(layer, x)["memory"]
    for lag in (0, 3, T - 1):
        read = T - lag
        _, *states = layer(x[:, :read])

        def rest_of_the_way(h, *c, read=read):
            output = h
            if read < T:
                output, *_ = layer(x[:, read:], initial_state=[h, *c])
            return ops.sum(ops.square(output)) / 2

        states = [ops.convert_to_numpy(s) for s in states]
        dh, *_ = gradients(rest_of_the_way, *states)
        np.testing.assert_allclose(
            flow.norms[:, lag], np.linalg.norm(dh, axis=-1), rtol=1e-4
        )


@every_kind
def test_norms_are_those_of_the_chain_rule(kind):
    layer = make(kind, return_sequences=True)
    x, upstream = draw(B, T, D), draw(B, T, U, seed=1)
    heard = ops.convert_to_tensor(upstream)
    flow = gradient_flow(layer, x, loss=lambda y: y * heard)["memory"]
    for row in range(B):
        want = oracle.backpropagate(
            KINDS[kind][1],
            x[row],
            layer.get_weights(),
            layer.cell.num_states(),
            upstream[row],
        )
        norms = np.linalg.norm(want, axis=-1)[::-1]  # latest first
        np.testing.assert_allclose(flow.norms[row], norms[:, 0], rtol=1e-4)
        if kind == "LSTM":
            np.testing.assert_allclose(
                flow.cell_norms[row], norms[:, 1], rtol=1e-4, atol=1e-7
            )
    assert (flow.cell_norm is None) == (kind != "LSTM")


@every_kind
def test_jacobians_are_those_of_the_equations(kind):
    layer = make(kind)
    x, (_, step) = draw(B, T, D), KINDS[kind]
    weights = layer.get_weights()
    flow = gradient_flow(layer, x, example=1)["memory"]
    num_states = layer.cell.num_states()
    zeros = [np.zeros((B, U)) for _ in range(num_states)]
    for lag in (0, 2):
        read = T - 1 - lag
        _, states = oracle.run(step, x[:, :read], zeros, weights)
        before = np.concatenate([state[1] for state in states])
        jacobian = np.stack(
            [
                oracle.central_difference(
                    lambda s, n=n, read=read: np.concatenate(
                        step(x[1, read], np.split(s, num_states), *weights)
                    )[n],
                    before,
                )
                for n in range(num_states * U)
            ]
        )
        np.testing.assert_allclose(
            flow.singular_values[lag],
            np.linalg.svd(jacobian, compute_uv=False),
            atol=1e-5,
        )
        np.testing.assert_allclose(
            flow.spectral_radius[lag],
            np.abs(np.linalg.eigvals(jacobian)).max(),
            atol=1e-5,
        )


def test_growth_bounds_the_gradient_of_a_plain_rnn():
    flow = gradient_flow(make("SimpleRNN"), draw(B, T, D))["memory"]
    assert (flow.norms[0] <= flow.growth * flow.norms[0, 0] + 1e-6).all()


@every_kind
def test_padding_is_no_step(kind):
    layer = make(kind)
    x = draw(B, T, D)
    mask = np.array([[1] * T, [0, 1, 0, 1, 1, 0, 0]], bool)
    inputs = keras.Input((None, D))
    masked = keras.layers.Masking()(inputs)
    x[~mask] = 0
    model = keras.Model(inputs, layer(masked))
    flow = gradient_flow(model, x, example=1)["memory"]
    alone = gradient_flow(layer, x[1:, mask[1]])["memory"]
    np.testing.assert_allclose(flow.norms[1, :3], alone.norms[0], rtol=1e-4)
    assert np.isnan(flow.norms[1, 3:]).all()
    assert np.isfinite(flow.norm).all()
    np.testing.assert_allclose(
        flow.singular_values, alone.singular_values, rtol=1e-4
    )


def test_every_recurrent_layer_of_a_model_is_found():
    inputs = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(11, D, mask_zero=True)(inputs)
    x = layers.Bidirectional(
        layers.LSTM(U, return_sequences=True, name="lstm"), name="both"
    )(x)
    x = layers.GRU(U, name="gru")(x)
    model = keras.Model(inputs, keras.layers.Dense(1)(x))
    ids = np.array([[3, 1, 4, 1, 0, 0, 0], [2, 7, 1, 8, 2, 8, 1]])
    flows = gradient_flow(
        model,
        ids,
        y=np.ones((2, 1), "float32"),
        loss=keras.losses.MeanSquaredError(),
    )
    assert sorted(name.split("/")[-1] for name in flows) == [
        "backward_lstm",
        "forward_lstm",
        "gru",
    ]
    for flow in flows.values():
        assert (flow.norm > 0).all()
        assert flow.singular_values.shape[0] == 4  # steps of row 0


def test_a_window_ends_the_flow():
    layer = make("GRU", bptt_window=3)
    flow = gradient_flow(layer, draw(B, T, D))["memory"]
    assert flow.norm[0] > 0 and not flow.norm[1:].any()  # windows 3, 3, 1


def test_nothing_is_left_behind():
    layer = make("LSTM")
    x = draw(B, T, D)
    before = ops.convert_to_numpy(layer(x))
    gradient_flow(layer, x)
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(x)), before)


def test_a_model_without_memory_is_refused():
    with pytest.raises(ValueError, match="recurrent.*Received"):
        gradient_flow(keras.layers.Dense(2), draw(B, D))


def test_drawing_has_a_line_for_each_layer(tmp_path):
    x = draw(B, T, D)
    flows = {
        kind: gradient_flow(make(kind), x)["memory"]
        for kind in ("SimpleRNN", "LSTM")
    }
    figure = plot_gradient_flow(flows, title="Two memories")
    norms, values = figure.axes
    assert [line.get_label() for line in norms.lines] == [
        "SimpleRNN",
        "LSTM",
        "LSTM, its cells",
    ]
    assert norms.get_yscale() == "log"
    np.testing.assert_allclose(
        values.lines[0].get_ydata(),
        np.median(flows["SimpleRNN"].singular_values, axis=0),
    )
    path = plot_gradient_flow(flows, tmp_path / "flow.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="path.*Received"):
        plot_gradient_flow(flows, tmp_path / "flow.gif")
    with pytest.raises(ValueError, match="flows.*Received"):
        plot_gradient_flow({})
