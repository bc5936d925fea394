"""Backpropagation through time by hand gives TensorFlow's own gradients."""

import keras
import numpy as np
import pytest

from keras_seq import layers
from keras_seq.ops.recurrence import recur
from keras_seq.ops.rnn_cells import gru_step, lstm_step, rnn_step

pytestmark = pytest.mark.tensorflow

B, D, U = 2, 3, 5
CELLS = {
    "rnn": (rnn_step, 1, 1, False),
    "lstm": (lstm_step, 4, 2, False),
    "gru": (gru_step, 3, 1, True),
}
every_cell = pytest.mark.parametrize("name", CELLS)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def work(name, training, **options):
    """A function that gives outputs, and gradients of all there is."""
    import tensorflow as tf

    step, gates, num_states, has_bias = CELLS[name]
    states = [tf.constant(draw(B, U, seed=n)) for n in range(num_states)]
    w_h = tf.constant(0.5 * draw(U, gates * U))
    b_h = tf.constant(draw(gates * U)) if has_bias else None
    keep = tf.constant([[0.0, 1.5, 1.5, 1.5, 0.0], [1.5, 0.0, 1.5, 1.5, 1.5]])

    def run(x, mask):
        sources = [x, w_h, *states, *([b_h] if has_bias else [])]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            history, finals = recur(
                step,
                x,
                states,
                (w_h, b_h, keep),
                mask,
                training=training,
                **options,
            )
            # Every output is heard, and no two alike.
            loss = tf.reduce_sum(tf.sin(tf.reduce_sum(x, -1, True) + history))
            loss += sum(tf.reduce_sum(final**3) for final in finals)
        return history, *finals, *tape.gradient(loss, sources)

    return run


def assert_same(got, want):
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@every_cell
@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("masked", [False, True])
def test_gradients_are_those_of_autodiff(name, window, masked):
    import tensorflow as tf

    gates = CELLS[name][1]
    by_hand = tf.function(
        work(name, True, window=window)
    ).get_concrete_function(
        tf.TensorSpec((None, B, gates * U)),
        tf.TensorSpec((None, B), tf.bool) if masked else None,
    )
    eager = work(name, False, window=window)
    for length in (1, 19):
        x = tf.constant(draw(length, B, gates * U, seed=7))
        mask = tf.constant(draw(length, B) < 0.5) if masked else None
        given = (x, mask) if masked else (x,)
        assert_same(by_hand(*given), eager(x, mask))
    for found in by_hand(*[tensor[:0] for tensor in given]):
        assert np.isfinite(found).all()


@every_cell
def test_gradients_are_the_same_when_compiled(name):
    import tensorflow as tf

    x = tf.constant(draw(11, B, CELLS[name][1] * U, seed=7))
    mask = tf.constant(draw(11, B) < 0.5)
    compiled = tf.function(work(name, True, window=4), jit_compile=True)
    assert_same(compiled(x, mask), work(name, False, window=4)(x, mask))


@pytest.mark.parametrize("length", [5, 16])
def test_lengths_without_whole_turns_or_remainder_compile(length):
    import tensorflow as tf

    x = tf.constant(draw(length, B, U, seed=7))
    compiled = tf.function(work("rnn", True), jit_compile=True)
    assert_same(compiled(x, None), work("rnn", False)(x, None))


@pytest.mark.parametrize("batch_size", [0, 1])
def test_a_batch_may_hold_one_row_or_none(batch_size):
    import tensorflow as tf

    layer = layers.LSTM(U, return_sequences=True)
    layer.build((batch_size, 11, D))
    x = tf.constant(draw(batch_size, 11, D))

    def run(x, training):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=training)
        weights = [w.value for w in layer.trainable_variables]
        return y, *tape.gradient(y, [x, *weights])

    by_hand = tf.function(lambda x: run(x, True)).get_concrete_function(
        tf.TensorSpec((batch_size, None, D))
    )
    assert_same(by_hand(x), run(x, False))


def custom_gradients(function):
    """The operations of a traced function whose gradient is written by hand."""
    nodes = list(function.graph.as_graph_def().node)
    return [n.name for n in nodes if "_gradient_op_type" in n.attr]


def test_only_training_pays_for_gradients():
    import tensorflow as tf

    layer = layers.LSTM(U)
    layer.build((B, 7, D))
    spec = tf.TensorSpec((B, 7, D))

    def trace(training):
        function = tf.function(lambda x: layer(x, training=training))
        return function.get_concrete_function(spec)

    assert custom_gradients(trace(True))
    assert not custom_gradients(trace(False))


@pytest.mark.parametrize(
    "options",
    [
        {"activation": "relu"},
        {"recurrent_activation": "hard_sigmoid"},
        {"unroll": True},
    ],
)
def test_what_is_not_known_by_heart_is_left_to_autodiff(options):
    import tensorflow as tf

    layer = layers.LSTM(U, **options)
    layer.build((B, 7, D))
    function = tf.function(lambda x: layer(x, training=True))
    traced = function.get_concrete_function(tf.TensorSpec((B, 7, D)))
    assert not custom_gradients(traced)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_trained_model_is_the_one_that_runs_eagerly(jit_compile):
    x, y = draw(8, 11, D), draw(8, 1)
    x[3, 5:] = x[5, :4] = x[6] = 0  # padding after, before, everywhere
    # Compiled code draws other random numbers than eager code does.
    dropout = {"dropout": 0.3, "recurrent_dropout": 0.4, "seed": 3}
    dropout = {} if jit_compile else dropout
    trained = []
    for options in ({"run_eagerly": True}, {"jit_compile": jit_compile}):
        keras.utils.set_random_seed(1)
        model = keras.Sequential(
            [
                keras.layers.Masking(),
                layers.Bidirectional(
                    layers.LSTM(U, **dropout),
                ),
                keras.layers.Dense(1),
            ]
        )
        model.compile(keras.optimizers.SGD(0.1), "mse", **options)
        model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
        trained.append(model.get_weights())
    assert_same(*trained)


def test_mixed_precision_trains():
    policy = keras.dtype_policies.DTypePolicy("mixed_float16")
    model = keras.Sequential([layers.GRU(U, dtype=policy)])
    model.compile("sgd", "mse", jit_compile=False)
    history = model.fit(draw(4, 9, D), draw(4, U), verbose=0)
    assert np.isfinite(history.history["loss"]).all()


def saved_and_loaded(layer, training, folder, **options):
    import tensorflow as tf

    module = tf.Module()
    module.weights = [w.value for w in layer.weights]
    module.run = tf.function(
        lambda x: layer(x, training=training),
        input_signature=[tf.TensorSpec((None, None, D))],
    )
    options = tf.saved_model.SaveOptions(**options)
    tf.saved_model.save(module, folder, options=options)
    return tf.saved_model.load(folder)


def test_a_saved_model_answers_and_has_gradients(tmp_path):
    import tensorflow as tf

    layer = layers.LSTM(U)
    layer.build((B, None, D))
    x = tf.constant(draw(B, 7, D))
    answer = saved_and_loaded(layer, False, tmp_path / "answer")
    # What was made for training can be saved without its gradient only.
    trained = saved_and_loaded(
        layer, True, tmp_path / "train", experimental_custom_gradients=False
    )
    assert_same([answer.run(x), trained.run(x)], [layer(x), layer(x)])

    def gradient(function):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(function(x) ** 2)
        return tape.gradient(total, x)

    assert_same([gradient(answer.run)], [gradient(layer)])
