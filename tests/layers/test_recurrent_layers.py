"""SimpleRNN, LSTM and GRU: against the equations, Keras, and padding."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq import layers
from tests.gradients import gradients
from tests.oracles import recurrent as oracle

B, T, D, U = 3, 7, 2, 5
KINDS = {
    "SimpleRNN": (layers.SimpleRNN, keras.layers.SimpleRNN, oracle.rnn_step),
    "LSTM": (layers.LSTM, keras.layers.LSTM, oracle.lstm_step),
    "GRU": (layers.GRU, keras.layers.GRU, oracle.gru_step),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
# One row each: whole, padded right, left, inside, all padding.
PADDINGS = np.array(
    [
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 0, 0, 0, 0],
        [0, 0, 1, 1, 1, 1, 1],
        [1, 0, 0, 1, 0, 1, 0],
        [0, 0, 0, 0, 0, 0, 0],
    ],
    bool,
)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def numpy(outputs):
    if not isinstance(outputs, (list, tuple)):
        return ops.convert_to_numpy(outputs)
    return [ops.convert_to_numpy(x) for x in outputs]


def make(kind, weight_seed=0, **options):
    """A layer whose every weight, biases too, is random."""
    layer = KINDS[kind][0](U, **options)
    layer.build((None, T, D) if not options.get("stateful") else (B, T, D))
    rng = np.random.default_rng(weight_seed)
    layer.set_weights([rng.normal(size=w.shape) for w in layer.get_weights()])
    return layer


def initial_states(layer, batch, seed=5):
    return [
        draw(batch, U, seed=seed + n) for n in range(layer.cell.num_states())
    ]


@every_kind
@settings(max_examples=5, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    length=st.sampled_from([0, 1, T]),
    backwards=st.booleans(),
)
def test_layer_follows_the_equations(kind, seed, length, backwards):
    layer = make(
        kind,
        seed,
        return_sequences=True,
        return_state=True,
        go_backwards=backwards,
    )
    x = draw(B, length, D, seed=seed)
    states = initial_states(layer, B)
    mask = np.random.default_rng(seed).random((B, length)) < 0.6
    output, *finals = numpy(layer(x, initial_state=states, mask=mask))
    want, want_finals = oracle.run(
        KINDS[kind][2], x, states, layer.get_weights(), mask, backwards
    )
    np.testing.assert_allclose(output, want, atol=1e-5)
    for final, expected in zip(finals, want_finals, strict=True):
        np.testing.assert_allclose(final, expected, atol=1e-5)


@every_kind
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"return_sequences": True, "return_state": True},
        {"return_sequences": True, "go_backwards": True},
        {"use_bias": False, "activation": "relu", "unroll": True},
        {"recurrent_activation": "hard_sigmoid", "reset_after": False},
        {"return_sequences": True, "zero_output_for_mask": True},
    ],
    ids=lambda options: "-".join(options) or "default",
)
@pytest.mark.parametrize("padded", [False, True])
def test_takes_the_place_of_keras(kind, options, padded):
    new_class, old_class, _ = KINDS[kind]
    options = dict(options)
    if kind != "GRU":
        options.pop("reset_after", None)
    if kind == "SimpleRNN":
        options.pop("recurrent_activation", None)
    old, new = old_class(U, **options), new_class(U, **options)
    x = draw(B, T, D)
    mask = np.arange(T) < [[7], [4], [1]] if padded else None
    want = numpy(old(x, mask=mask))
    new.build(x.shape)
    old.set_weights([draw(*w.shape) for w in old.get_weights()])
    new.set_weights(old.get_weights())
    want, got = numpy(old(x, mask=mask)), numpy(new(x, mask=mask))
    np.testing.assert_equal(type(got), type(want))
    for a, b in zip(
        got if isinstance(got, list) else [got],
        want if isinstance(want, list) else [want],
        strict=True,
    ):
        np.testing.assert_allclose(a, b, atol=1e-5)


@every_kind
def test_fresh_weights_are_distributed_as_those_of_keras(kind):
    new_class, old_class, _ = KINDS[kind]
    pair = []
    for cls in (new_class, old_class):
        keras.utils.set_random_seed(1)
        layer = cls(31)
        layer.build((None, T, 29))
        pair.append(layer.get_weights())
    for ours, theirs in zip(*pair, strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours.std(), theirs.std(), rtol=0.1)
    np.testing.assert_array_equal(pair[0][2], pair[1][2])  # the forget gate


@every_kind
@pytest.mark.parametrize("backwards", [False, True])
def test_padded_row_equals_the_row_alone(kind, backwards):
    layer = make(
        kind,
        return_sequences=True,
        return_state=True,
        go_backwards=backwards,
    )
    x = draw(len(PADDINGS), T, D)
    x[~PADDINGS] = np.nan
    together = numpy(layer(x, mask=PADDINGS))
    for row, visible in enumerate(PADDINGS):
        alone = numpy(layer(x[row : row + 1, visible]))
        kept = visible[::-1] if backwards else visible
        np.testing.assert_allclose(
            together[0][row, kept], alone[0][0], atol=1e-6
        )
        for final, expected in zip(together[1:], alone[1:], strict=True):
            np.testing.assert_allclose(final[row], expected[0], atol=1e-6)


@every_kind
def test_nan_in_padding_reaches_no_gradient(kind):
    layer = make(kind, return_sequences=True)
    x = draw(len(PADDINGS), T, D)
    x[~PADDINGS] = np.nan
    (gradient,) = gradients(lambda x: layer(x, mask=PADDINGS), x)
    assert np.isfinite(gradient).all()
    np.testing.assert_array_equal(gradient[~PADDINGS], 0)
    assert gradient[PADDINGS].any(axis=-1).all()


@every_kind
def test_masked_steps_repeat_the_carried_state_or_are_zero(kind):
    x = draw(len(PADDINGS), T, D)
    layer = make(kind, return_sequences=True)
    states = initial_states(layer, len(PADDINGS))
    output = numpy(layer(x, initial_state=states, mask=PADDINGS))
    np.testing.assert_array_equal(output[1, 3:], output[1, [2] * 4])
    np.testing.assert_array_equal(output[2, :2], states[0][[2, 2]])
    np.testing.assert_array_equal(output[4], states[0][[4] * T])
    layer.zero_output_for_mask = True
    zeroed = numpy(layer(x, initial_state=states, mask=PADDINGS))
    np.testing.assert_array_equal(zeroed[~PADDINGS], 0)
    np.testing.assert_array_equal(zeroed[PADDINGS], output[PADDINGS])


@every_kind
def test_last_output_is_the_final_state(kind):
    layer = make(kind, return_state=True)
    output, h, *_ = numpy(layer(draw(5, T, D), mask=PADDINGS))
    np.testing.assert_array_equal(output, h)
    assert not output[4].any()


@every_kind
def test_mask_arrives_from_an_embedding_and_goes_on(kind):
    ids = np.array([[4, 9, 0, 0, 0], [3, 1, 2, 8, 0]])
    embed = keras.layers.Embedding(10, D, mask_zero=True)
    for backwards in (False, True):
        layer = make(kind, return_sequences=True, go_backwards=backwards)
        embedded = embed(ids)
        output = layer(embedded)
        alone = numpy(layer(embed(ids[:1, :2])))[0]
        at = slice(3, 5) if backwards else slice(0, 2)
        np.testing.assert_allclose(numpy(output)[0, at], alone, atol=1e-6)
        mask = numpy(layer.compute_mask(embedded, embed.compute_mask(ids)))
        np.testing.assert_array_equal(
            mask, (ids > 0)[:, ::-1] if backwards else ids > 0
        )
    assert make(kind).compute_mask(embedded, ids > 0) is None


@every_kind
def test_initial_state_may_be_a_symbolic_tensor(kind):
    layer = make(kind)
    inputs = keras.Input((None, D))
    states = [keras.Input((U,)) for _ in range(layer.cell.num_states())]
    model = keras.Model([inputs, *states], layer(inputs, initial_state=states))
    x, values = draw(B, T, D), initial_states(layer, B)
    want, _ = oracle.run(KINDS[kind][2], x, values, layer.get_weights())
    np.testing.assert_allclose(
        numpy(model([x, *values])), want[:, -1], atol=1e-5
    )


@every_kind
def test_windows_of_a_stateful_layer_equal_one_long_run(kind):
    stateful = make(kind, stateful=True, return_sequences=True)
    plain = make(kind, return_sequences=True)
    x = draw(B, 2 * T, D)
    first, second = numpy(stateful(x[:, :T])), numpy(stateful(x[:, T:]))
    np.testing.assert_allclose(
        np.concatenate([first, second], axis=1), numpy(plain(x)), atol=1e-5
    )
    stateful.reset_state()
    np.testing.assert_array_equal(numpy(stateful(x[:, :T])), first)
    assert len(stateful.get_weights()) == len(plain.get_weights())
    with pytest.raises(ValueError, match="batch size.*Received"):
        stateful(x[:1])


@every_kind
def test_fit_carries_the_state_from_window_to_window(kind):
    inputs = keras.Input((T, D), batch_size=B)
    layer = KINDS[kind][0](U, stateful=True)
    model = keras.Model(inputs, keras.layers.Dense(1)(layer(inputs)))
    model.compile("sgd", "mse")
    x = draw(B, T, D)
    states = []
    for _ in range(2):
        model.fit(x, np.zeros((B, 1)), batch_size=B, verbose=0)
        states.append([numpy(s).copy() for s in layer.states])
    assert states[0][0].any()
    assert not np.allclose(states[0][0], states[1][0])
    layer.reset_state()
    assert not numpy(layer.states[0]).any()


def test_stateful_needs_a_batch_size():
    with pytest.raises(ValueError, match="stateful.*Received"):
        layers.LSTM(U, stateful=True)(keras.Input((T, D)))


@every_kind
def test_truncated_gradient_is_that_of_the_equations(kind):
    window = 3
    layer = make(kind, return_sequences=True, bptt_window=window)
    x, upstream = draw(B, T, D), draw(B, T, U, seed=1)
    states = initial_states(layer, B)

    def loss(x, *states):
        outputs = layer(x, initial_state=list(states))
        return ops.sum(ops.multiply(outputs, upstream))

    _, *got = gradients(loss, x, *states)

    def first_window(which, value):
        trial = [*states[:which], value, *states[which + 1 :]]
        part, _ = oracle.run(
            KINDS[kind][2], x[:, :window], trial, layer.get_weights()
        )
        return (part * upstream[:, :window]).sum()

    for which, found in enumerate(got):
        want = oracle.central_difference(
            lambda value, which=which: first_window(which, value),
            states[which],
        )
        np.testing.assert_allclose(found, want, rtol=1e-4, atol=2e-5)


@every_kind
def test_dropout_is_held_over_time_and_off_at_inference(kind):
    x = np.repeat(draw(B, 1, D), 2 * T, axis=1)
    for which in ("dropout", "recurrent_dropout"):
        layer = make(kind, **{which: 0.5, "seed": 3})
        plain = make(kind)
        np.testing.assert_array_equal(numpy(layer(x)), numpy(plain(x)))
        noisy, again = (numpy(layer(x, training=True)) for _ in range(2))
        assert not np.allclose(noisy, again)
        assert not np.allclose(noisy, numpy(plain(x)))
    # With the input masked out whole, a held mask leaves a constant input.
    layer = make(kind, dropout=0.5, seed=3, return_sequences=True)
    rate = np.abs(numpy(layer.cell.project(ops.ones((9, B, D)), True)))
    np.testing.assert_allclose(rate, rate[:1].repeat(9, axis=0), rtol=1e-5)


@every_kind
@pytest.mark.parametrize("batch, length", [(0, 4), (2, 0), (0, 0), (1, 1)])
def test_empty_input_gives_the_initial_state(kind, batch, length):
    layer = make(kind, return_sequences=True, return_state=True)
    states = initial_states(layer, batch)
    output, *finals = numpy(layer(draw(batch, length, D), initial_state=states))
    assert output.shape == (batch, length, U)
    if length == 0:
        for final, state in zip(finals, states, strict=True):
            np.testing.assert_array_equal(final, state)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="units.*Received: 0"):
        layers.LSTM(0)
    with pytest.raises(ValueError, match="dropout.*Received: 1.5"):
        layers.GRU(3, dropout=1.5)
    with pytest.raises(ValueError, match="use_cudnn.*Received: maybe"):
        layers.LSTM(3, use_cudnn="maybe")
    with pytest.raises(ValueError, match="bptt_window.*Received: 0"):
        layers.SimpleRNN(3, bptt_window=0)
    with pytest.raises(ValueError, match="initial_state.*Received: 1"):
        layers.LSTM(3)(draw(B, T, D), initial_state=[draw(B, 3)])
    with pytest.raises(ValueError, match="mask.*Received"):
        layers.LSTM(3)(draw(B, T, D), mask=np.ones((B, T + 1), bool))
