"""The laws of every model that reads one sequence and writes another."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq import explain
from tests.gradients import weight_gradients
from tests.models.sentences import (
    FAMILIES,
    SOURCE,
    TARGET,
    V,
    by_steps,
    call,
    make,
    to_numpy,
)

every_family = pytest.mark.parametrize("family", sorted(FAMILIES))
every_room = pytest.mark.parametrize("max_length", [None, 5, 8])


# --- one call ---------------------------------------------------------------


@every_family
def test_logits_are_float32_for_each_target_token(family):
    logits = call(make(family), SOURCE, TARGET)
    assert logits.shape == (3, 5, V) and logits.dtype == np.float32


@every_family
def test_a_row_gives_what_it_gives_alone(family):
    model = make(family)
    together = call(model, SOURCE, TARGET)
    for row, (s, t) in enumerate([(7, 5), (2, 3), (4, 4)]):
        alone = call(
            model, SOURCE[row : row + 1, :s], TARGET[row : row + 1, :t]
        )
        np.testing.assert_allclose(together[row, :t], alone[0], atol=1e-5)


@every_family
def test_every_source_and_earlier_target_token_is_heard(family):
    model = make(family)
    before = call(model, SOURCE, TARGET)
    for s in range(7):
        other = SOURCE.copy()
        other[0, s] = 27
        changed = call(model, other, TARGET) != before
        assert changed[0].any(axis=-1).all() and not changed[1:].any()


@every_family
def test_the_future_cannot_be_heard(family):
    model = make(family)
    before = call(model, SOURCE, TARGET)
    for t in range(5):
        other = TARGET.copy()
        other[:, t] = 27
        changed = (call(model, SOURCE, other) != before).any(axis=-1)
        assert not changed[:, :t].any()
        assert changed[0, t:].all()


@every_family
def test_an_empty_sentence_is_finite_and_so_are_its_gradients(family):
    model = make(family)
    source = SOURCE.copy()
    source[1] = 0

    def squares(source, target):
        inputs = {"source_ids": source, "target_ids": target}
        return ops.square(model(inputs))

    assert np.isfinite(call(model, source, TARGET)).all()
    nothing = np.zeros((3, 0), "int32")
    np.testing.assert_allclose(
        call(model, nothing, TARGET)[1],
        call(model, source, TARGET)[1],
        atol=1e-5,
    )
    for gradient in weight_gradients(model, squares, source, TARGET):
        assert np.isfinite(gradient).all()


@every_family
def test_gradient_reaches_every_weight(family):
    model = make(family)

    def squares(source, target):
        inputs = {"source_ids": source, "target_ids": target}
        return ops.square(model(inputs))

    found = weight_gradients(model, squares, SOURCE, TARGET)
    for weight, gradient in zip(model.trainable_weights, found, strict=True):
        if weight.path.endswith("key/bias"):
            continue  # it adds the same to all scores, which changes nothing
        assert np.abs(gradient).max() > 1e-5, weight.path


@every_family
def test_dropout_is_at_work_in_training_only(family):
    model = make(family, dropout=0.5)
    quiet = call(model, SOURCE, TARGET)
    assert (call(model, SOURCE, TARGET, training=True) != quiet).any()
    np.testing.assert_array_equal(call(model, SOURCE, TARGET), quiet)


# --- step by step -----------------------------------------------------------


@every_family
@every_room
def test_steps_equal_one_call(family, max_length):
    model = make(family)
    whole = call(model, SOURCE, TARGET)
    steps, _, _ = by_steps(model, SOURCE, TARGET, max_length)
    real = TARGET != 0
    np.testing.assert_allclose(steps[real], whole[real], atol=1e-5)
    assert steps.dtype == np.float32


@every_family
def test_a_stepper_takes_the_same_steps(family):
    model = make(family)
    step = model.stepper()
    mine = yours = model.start(ops.convert_to_tensor(SOURCE))
    for t in range(3):
        ids = ops.convert_to_tensor(TARGET[:, t])
        a, mine, _ = step(ids, mine)
        b, yours, _ = model.step(ids, yours)
        np.testing.assert_array_equal(to_numpy(a), to_numpy(b))


@every_family
def test_steps_look_where_one_call_looks(family):
    model = make(family)
    recording = explain.attention_model(model)
    inputs = {"source_ids": SOURCE, "target_ids": TARGET}
    try:
        _, whole = recording(inputs)
    except ValueError:
        whole = {}  # a model without attention
    _, steps, _ = by_steps(model, SOURCE, TARGET)
    real = TARGET != 0
    assert steps.keys() == {n for n in whole if "self_attention" not in n}
    for name, weights in steps.items():
        assert weights.shape[2:] == (5, 7)
        got = np.moveaxis(weights, 2, 1)[real]
        want = np.moveaxis(to_numpy(whole[name]), 2, 1)[real]
        np.testing.assert_allclose(got, want, atol=1e-5)
        assert not weights[1, :, :, 2:].any()


@every_family
@pytest.mark.parametrize("max_length", [None, 6])
def test_what_never_changes_comes_back_as_it_is(family, max_length):
    """A decoding loop neither carries nor reorders these."""
    _, _, states = by_steps(make(family), SOURCE, TARGET, max_length)
    kept = {
        name
        for name in states[0]
        if all(state[name] is states[0][name] for state in states)
    }
    for state in states:
        assert state.keys() == states[0].keys()
        assert all(tensor.shape[0] == 3 for tensor in state.values())
        if max_length is not None:
            assert all(x.shape == states[0][n].shape for n, x in state.items())
        for name, tensor in state.items():
            if 7 in tuple(tensor.shape[1:]):  # made from the source
                assert name in kept


@every_family
@pytest.mark.parametrize("max_length", [None, 5])
def test_rows_of_a_state_can_be_reordered(family, max_length):
    """As beams are."""
    model = make(family)
    order = np.array([2, 0, 0, 1], "int32")
    state = model.start(ops.convert_to_tensor(SOURCE), max_length)
    for t in range(2):
        _, state, _ = model.step(ops.convert_to_tensor(TARGET[:, t]), state)
    state = {name: ops.take(x, order, axis=0) for name, x in state.items()}
    logits, _, _ = model.step(ops.convert_to_tensor(TARGET[order, 2]), state)
    want = call(model, SOURCE, TARGET)[order, 2]
    np.testing.assert_allclose(to_numpy(logits), want, atol=1e-5)


@every_family
def test_steps_of_an_empty_sentence_are_finite(family):
    model = make(family)
    for source in (np.zeros((3, 2), "int32"), np.zeros((3, 0), "int32")):
        steps, attention, _ = by_steps(model, source, TARGET)
        whole = call(model, source, TARGET)
        assert np.isfinite(steps).all()
        assert not any(weights.any() for weights in attention.values())
        np.testing.assert_allclose(
            steps[TARGET != 0], whole[TARGET != 0], atol=1e-5
        )


@every_family
@pytest.mark.tensorflow
def test_one_trace_decodes_every_batch_and_length(family):
    import tensorflow as tf

    model, traces = make(family), []
    ids = tf.TensorSpec((None, None), "int32")

    @tf.function(input_signature=[ids, ids])
    def decode(source, target):
        traces.append(1)
        state = model.start(source)
        for t in range(3):
            logits, state, _ = model.step(target[:, t], state)
        return logits

    for rows in (slice(0, 3), slice(0, 1)):
        got = decode(SOURCE[rows, :6], TARGET[rows])
        want = call(model, SOURCE[rows, :6], TARGET[rows])[:, 2]
        np.testing.assert_allclose(got, want, atol=1e-5)
    assert len(traces) == 1


@every_family
@pytest.mark.tensorflow
def test_compiled_steps_equal_eager_ones(family):
    import tensorflow as tf

    model = make(family)
    step = tf.function(model.step, jit_compile=True)
    state = model.start(SOURCE, max_length=4)
    for t in range(3):
        logits, state, _ = step(TARGET[:, t], state)
    want = call(model, SOURCE, TARGET)[:, 2]
    np.testing.assert_allclose(logits, want, atol=1e-5)


# --- files, masks, precision ------------------------------------------------


@every_family
def test_a_saved_model_answers_the_same(family, tmp_path):
    model = make(family, name="polyglot")
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    assert type(again) is type(model) and again.name == "polyglot"
    assert again.get_config() == model.get_config()
    np.testing.assert_array_equal(
        call(again, SOURCE, TARGET), call(model, SOURCE, TARGET)
    )
    for a, b in zip(
        by_steps(again, SOURCE, TARGET)[:1],
        by_steps(model, SOURCE, TARGET)[:1],
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


@every_family
def test_no_mask_is_lost(family, capsys):
    model = make(family)
    events = explain.trace_masks(model, strict=True)
    assert not [event for event in events if event.event == "unused"]


@every_family
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_stays_close_and_logits_are_float32(family, policy):
    full, half = make(family), make(family, dtype=policy)
    half.set_weights(full.get_weights())
    want = call(full, SOURCE, TARGET)
    real = TARGET != 0
    scale = np.abs(want).max()
    got = call(half, SOURCE, TARGET)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got[real], want[real], atol=0.05 * scale)
    steps, _, _ = by_steps(half, SOURCE, TARGET, max_length=5)
    assert steps.dtype == np.float32
    np.testing.assert_allclose(steps[real], got[real], atol=0.05 * scale)
    again = type(half).from_config(half.get_config())
    assert again.layers[-1].dtype_policy.name == policy


@pytest.mark.parametrize("family", ["rnn_search", "seq2seq", "transformer"])
@pytest.mark.tensorflow
@pytest.mark.slow
def test_it_learns_to_copy_a_word(family):
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    model = FAMILIES[family](dropout=0.0)
    rng = np.random.default_rng(0)
    model.compile(
        keras.optimizers.Adam(1e-2),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    words = rng.integers(4, 12, (64, 1)).astype("int32")
    source = words
    target = np.concatenate([np.full((64, 1), 2, "int32"), words], axis=1)
    labels = np.concatenate([words, np.full((64, 1), 3, "int32")], axis=1)
    data = tf.data.Dataset.from_tensors(
        ({"source_ids": source, "target_ids": target}, labels)
    ).repeat(60)
    model.fit(data, verbose=0)
    guess = call(model, source, target).argmax(-1)
    assert (guess == labels).mean() > 0.95


@every_family
def test_bad_settings_are_named(family):
    with pytest.raises(ValueError, match="`overrides`.*Received: width=3"):
        FAMILIES[family](width=3)
    with pytest.raises(ValueError, match="`dropout`.*Received: dropout=1.5"):
        FAMILIES[family](dropout=1.5)
    with pytest.raises(ValueError, match="`hidden_dim`.*hidden_dim=-4"):
        FAMILIES[family](hidden_dim=-4)
