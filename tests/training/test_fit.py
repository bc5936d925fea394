"""What `fit` does to a model, beside resuming (see test_resume.py)."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seq import training
from keras_seq.training.checkpoints import CheckpointFolder, arrays_of

pytestmark = pytest.mark.tensorflow

ROWS, FEATURES, CLASSES = 24, 5, 3


def make_data(seed=0, rows=ROWS):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, FEATURES)).astype("float32")
    return x, np.argmax(x[:, :CLASSES], axis=-1)


def make_model(**options):
    keras.utils.set_random_seed(1)
    return keras.Sequential(
        [keras.Input((FEATURES,)), keras.layers.Dense(CLASSES, **options)]
    )


def fit(model=None, data=None, **changes):
    model = make_model() if model is None else model
    arguments = {
        "loss": training.ClassCrossentropy(),
        "optimizer": keras.optimizers.SGD(0.1),
        "batch_size": 6,
        "verbose": 0,
    }
    data = make_data() if data is None else data
    return model, training.fit(model, data, **{**arguments, **changes})


def assert_same_weights(one, two, **tolerance):
    for a, b in zip(
        arrays_of(one.weights), arrays_of(two.weights), strict=True
    ):
        np.testing.assert_allclose(a, b, **tolerance)


# === The step ===


def test_one_step_is_gradient_descent_by_hand():
    x, y = make_data(rows=6)
    model = make_model()
    kernel, bias = arrays_of(model.weights)
    logits = x @ kernel + bias
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    error = (p - np.eye(CLASSES)[y]) / len(x)
    model, result = fit(model, (x, y))
    new_kernel, new_bias = arrays_of(model.weights)
    np.testing.assert_allclose(
        new_kernel, kernel - 0.1 * x.T @ error, atol=1e-6
    )
    np.testing.assert_allclose(new_bias, bias - 0.1 * error.sum(0), atol=1e-6)
    loss = -np.log(p[np.arange(6), y]).mean()
    np.testing.assert_allclose(result.history[0]["loss"], loss, rtol=1e-5)


def token_batches(lengths, width=9):
    """Batches of one row each, with very different numbers of tokens."""
    rng = np.random.default_rng(2)
    rows = [np.pad(rng.integers(1, 7, n), (0, width - n)) for n in lengths]
    return np.stack(rows)


def make_tagger():
    keras.utils.set_random_seed(1)
    return keras.Sequential(
        [
            keras.Input((None,)),
            keras.layers.Embedding(7, 5),
            keras.layers.Dense(7),
        ]
    )


def train_tagger(token_ids, batch_size, **changes):
    changes = {
        "loss": training.MaskedCrossentropy(label_smoothing=0.1),
        "batch_size": batch_size,
        **changes,
    }
    data = tf.data.Dataset.from_tensor_slices((token_ids, token_ids))
    model = make_tagger()
    return fit(model, data.batch(batch_size), **changes)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_micro_batches_add_up_to_one_large_batch(optimizer):
    token_ids = token_batches([9, 1, 3, 5, 2, 9])

    def make():
        if optimizer == "sgd":
            return keras.optimizers.SGD(0.5)
        return training.Adam(0.01, epsilon=1e-3)

    large, a = train_tagger(token_ids, 3, optimizer=make(), global_clipnorm=0.1)
    small, b = train_tagger(
        token_ids,
        1,
        optimizer=make(),
        global_clipnorm=0.1,
        gradient_accumulation_steps=3,
    )
    assert_same_weights(large, small, atol=1e-6)
    np.testing.assert_allclose(
        a.history[0]["loss"], b.history[0]["loss"], rtol=1e-6
    )


def test_last_micro_batches_of_an_epoch_are_not_lost():
    token_ids = token_batches([9, 1, 3])
    large, _ = train_tagger(token_ids, 3)
    small, _ = train_tagger(token_ids, 1, gradient_accumulation_steps=5)
    assert_same_weights(large, small, atol=1e-6)


def test_epoch_loss_is_weighted_by_token():
    token_ids = token_batches([9, 1])
    still = keras.optimizers.SGD(0.0)
    _, result = train_tagger(token_ids, 1, optimizer=still)
    whole = training.MaskedCrossentropy(label_smoothing=0.1)
    want = whole(token_ids, make_tagger()(token_ids))
    np.testing.assert_allclose(result.history[0]["loss"], want, rtol=1e-6)


def test_gradients_are_clipped_all_together():
    step = {"optimizer": keras.optimizers.SGD(1.0), "batch_size": ROWS}
    before = arrays_of(make_model().weights)
    model, _ = fit(global_clipnorm=0.01, **step)
    moved = [
        a - b for a, b in zip(arrays_of(model.weights), before, strict=True)
    ]
    norm = np.sqrt(sum((m**2).sum() for m in moved))
    np.testing.assert_allclose(norm, 0.01, rtol=1e-3)


def test_repeated_tokens_are_added_up_before_the_norm_is_taken():
    ids = np.full((1, 4), 3)  # one row of the embedding, four times
    model = make_tagger()
    before = arrays_of(model.weights)
    fit(
        model,
        (ids, ids),
        loss=training.MaskedCrossentropy(),
        optimizer=keras.optimizers.SGD(1.0),
        global_clipnorm=1e-3,
    )
    moved = [
        a - b for a, b in zip(arrays_of(model.weights), before, strict=True)
    ]
    norm = np.sqrt(sum((m**2).sum() for m in moved))
    np.testing.assert_allclose(norm, 1e-3, rtol=1e-2)


def test_mixed_precision_learns():
    # Not bfloat16: there are virtual machines whose processor promises
    # instructions for it (AMX) and dies of them.
    with training.precision("mixed_float16"):
        model = make_model()
    assert keras.config.dtype_policy().name == "float32"
    _, result = fit(
        model,
        optimizer=training.Adam(0.1),
        epochs=8,
        global_clipnorm=1.0,
        gradient_accumulation_steps=2,
    )
    assert model.layers[0].compute_dtype == "float16"
    assert model.weights[0].dtype == "float32"
    assert result.history[-1]["loss"] < 0.7 * result.history[0]["loss"]


def test_float16_gradients_are_scaled_and_clipped_at_their_true_size():
    with training.precision("mixed_float16"):
        model = make_model()
    before = arrays_of(model.weights)
    fit(
        model,
        optimizer=keras.optimizers.SGD(1.0),
        batch_size=ROWS,
        global_clipnorm=0.01,
    )
    moved = [
        a - b for a, b in zip(arrays_of(model.weights), before, strict=True)
    ]
    norm = np.sqrt(sum((m**2).sum() for m in moved))
    np.testing.assert_allclose(norm, 0.01, rtol=1e-2)


def test_xla_gives_the_same_run():
    arguments = {
        "average": training.ExponentialAverage(0.5),
        "metrics": [keras.metrics.SparseCategoricalAccuracy()],
        "validation_data": make_data(1),
        "epochs": 2,
    }
    plain, a = fit(**arguments)
    arguments["metrics"] = [keras.metrics.SparseCategoricalAccuracy()]
    compiled, b = fit(jit_compile=True, **arguments)
    assert_same_weights(plain, compiled, atol=1e-5)
    assert b.history[-1]["val_loss"] == pytest.approx(a.history[-1]["val_loss"])


# === Losses and models of every kind ===


def test_compiled_model_trains_as_with_keras():
    def compiled():
        model = make_model(kernel_regularizer="l2")
        model.compile(
            keras.optimizers.SGD(0.1),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        return model

    x, y = make_data()
    theirs, ours = compiled(), compiled()
    history = theirs.fit(x, y, batch_size=6, shuffle=False, verbose=0).history
    batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(6)
    result = training.fit(ours, batches, validation_data=(x, y), verbose=0)
    assert_same_weights(ours, theirs, atol=1e-6)
    logs = result.history[0]
    assert logs["accuracy"] == pytest.approx(history["accuracy"][0])
    assert logs["loss"] == pytest.approx(history["loss"][0], rel=1e-5)
    assert logs["val_loss"] == pytest.approx(
        theirs.evaluate(x, y, verbose=0)[0], rel=1e-5
    )


def test_penalties_of_layers_are_added():
    x, y = make_data()
    model = make_model(kernel_regularizer=keras.regularizers.L2(0.5))
    penalty = 0.5 * (arrays_of(model.weights)[0] ** 2).sum()
    alone = training.ClassCrossentropy()(y, model(x))
    still = keras.optimizers.SGD(0.0)
    _, result = fit(model, optimizer=still)
    np.testing.assert_allclose(
        result.history[0]["loss"], float(alone) + penalty, rtol=1e-5
    )


def test_loss_by_name_by_function_and_by_objective_agree():
    class Mine(training.Objective):
        def __call__(self, model, batch, training):
            x, y = batch
            wrong = model(x, training=training) - tf.one_hot(y, CLASSES)
            return tf.reduce_sum(wrong**2), tf.size(wrong)

    def function(y_true, y_pred):
        return tf.square(tf.one_hot(tf.cast(y_true, "int32"), 3) - y_pred)

    x, y = make_data()
    one_hot = (x, np.eye(CLASSES, dtype="float32")[y])
    by_name, _ = fit(data=one_hot, loss="mse", batch_size=ROWS)
    by_function, _ = fit(loss=function, batch_size=ROWS)
    by_objective, _ = fit(
        data=tf.data.Dataset.from_tensors((x, y)), loss=Mine()
    )
    assert_same_weights(by_name, by_function, atol=1e-6)
    assert_same_weights(by_name, by_objective, atol=1e-6)


def test_model_that_was_never_called_is_built():
    class Lazy(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(CLASSES)

        def call(self, x):  # takes no `training`
            return self.dense(x)

    model, result = fit(
        Lazy(),
        metrics=[keras.metrics.AUC(name="auc")],
        loss="mse",
        data=(make_data()[0], np.eye(CLASSES)[make_data()[1]]),
    )
    assert len(model.weights) == 2
    assert 0 <= result.history[0]["auc"] <= 1


def test_named_inputs_and_sample_weights_arrive():
    a, b = keras.Input((FEATURES,), name="a"), keras.Input((1,), name="b")
    both = keras.layers.Concatenate()([a, b])
    model = keras.Model({"a": a, "b": b}, keras.layers.Dense(CLASSES)(both))
    x, y = make_data()
    inputs = {"a": x, "b": x[:, :1]}
    weights = np.zeros(ROWS)
    before = arrays_of(model.weights)
    _, result = fit(model, (inputs, y, weights))
    assert result.history[0]["loss"] == 0.0
    for old, new in zip(before, arrays_of(model.weights), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("compiled", [False, True])
def test_metrics_can_be_left_to_the_validation(compiled):
    def metrics():
        return [keras.metrics.SparseCategoricalAccuracy(name="accuracy")]

    arguments = {
        "validation_data": make_data(1),
        "metrics_in_training": False,
        "metrics": metrics(),
        "early_stopping": training.EarlyStopping("val_accuracy"),
    }
    model = make_model()
    if compiled:
        model.compile("sgd", training.ClassCrossentropy(), metrics=metrics())
        arguments |= {"metrics": (), "loss": None, "optimizer": None}
    model, result = fit(model, **arguments)
    assert "accuracy" not in result.history[0]
    x, y = make_data(1)
    right = np.mean(np.argmax(model(x), axis=-1) == y)
    assert result.history[0]["val_accuracy"] == pytest.approx(right)
    arguments["early_stopping"] = training.EarlyStopping("accuracy")
    with pytest.raises(ValueError, match="`monitor`"):
        fit(model, **arguments)


# === Stopping, averaging, evaluating ===


def scripted(values):
    """An `evaluate` that returns given numbers and what the model then was."""
    seen = []

    def evaluate(model):
        seen.append(arrays_of(model.weights))
        return {"bleu": values[len(seen) - 1]}

    return evaluate, seen


def test_early_stopping_goes_back_to_the_best_weights():
    evaluate, seen = scripted([1.0, 5.0, 4.0, 3.0, 9.0])
    rule = training.EarlyStopping("bleu", patience=2)
    model, result = fit(epochs=5, evaluate=evaluate, early_stopping=rule)
    assert result.stopped_because == "early_stopping"
    assert len(result.history) == 4 and result.best_epoch == 2
    assert result.final_metrics["bleu"] == 5.0
    for now, best in zip(arrays_of(model.weights), seen[1], strict=True):
        np.testing.assert_array_equal(now, best)


def test_last_weights_stay_if_the_best_are_not_wanted():
    evaluate, seen = scripted([1.0, 5.0, 4.0])
    rule = training.EarlyStopping("bleu", restore_best_weights=False)
    model, result = fit(epochs=3, evaluate=evaluate, early_stopping=rule)
    assert result.best_epoch == 2 and result.final_metrics["bleu"] == 4.0
    for now, last in zip(arrays_of(model.weights), seen[2], strict=True):
        np.testing.assert_array_equal(now, last)


def test_wrong_monitor_is_refused_before_the_first_epoch():
    model = make_model()
    before = arrays_of(model.weights)
    rule = training.EarlyStopping("val_loss")
    with pytest.raises(ValueError, match=r"`monitor`.*'loss'.*'val_loss'"):
        fit(model, early_stopping=rule)
    np.testing.assert_array_equal(before[0], arrays_of(model.weights)[0])


def test_time_limit_stops_within_an_epoch():
    many = make_data(rows=600)
    before = arrays_of(make_model().weights)
    model, result = fit(data=many, epochs=100, time_limit=1e-9)
    assert result.stopped_because == "time_limit"
    assert len(result.history) == 1
    assert np.any(arrays_of(model.weights)[0] != before[0])  # one update


# === What is left behind ===


def test_folder_holds_weights_record_and_curves(tmp_path):
    model, result = fit(
        folder=tmp_path / "run",
        epochs=2,
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="accuracy")],
        validation_data=make_data(1),
        optimizer=training.Adam(training.WarmupCosine(0.1, 2, 8)),
        early_stopping=training.EarlyStopping("val_accuracy"),
        settings={"preset": "tiny"},
        seed=11,
    )
    folder = tmp_path / "run"
    again = make_model()
    again.load_weights(folder / "model.weights.h5")
    assert_same_weights(model, again)
    assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((folder / "run.json").read_text())
    assert record["status"] == "finished"
    assert record["final_metrics"] == result.final_metrics
    assert record["versions"]["keras"] == keras.__version__
    assert record["seconds"] > 0 and "started" in record
    settings = record["settings"]
    assert settings["preset"] == "tiny" and settings["seed"] == 11
    assert settings["parameters"] == model.count_params()
    assert settings["early_stopping"]["EarlyStopping"]["patience"] == 3
    schedule = settings["optimizer"]["Adam"]["learning_rate"]["config"]
    assert schedule["peak"] == 0.1


def test_diverging_run_stops_and_keeps_the_last_good_checkpoint(tmp_path):
    x, y = make_data()
    bad = x.copy()
    bad[13] = np.inf
    data = tf.data.Dataset.from_tensor_slices((bad, y)).batch(6)
    with pytest.raises(training.DivergedError, match=r"batch 3 in epoch 1"):
        fit(data=data, folder=tmp_path, save_every_seconds=0)
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["status"] == "diverged"
    checkpoint = CheckpointFolder(tmp_path / "checkpoints").latest()
    assert checkpoint.state["batch"] == 2
    assert all(np.isfinite(array).all() for array in checkpoint.arrays["model"])


def test_weights_that_are_not_finite_are_never_saved(tmp_path):
    """A finite loss can still have an infinite gradient."""
    with pytest.raises(training.DivergedError, match="kernel|bias"):
        fit(
            folder=tmp_path,
            batch_size=ROWS,
            optimizer=keras.optimizers.SGD(float("inf")),
        )
    assert CheckpointFolder(tmp_path / "checkpoints").latest() is None


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"epochs": 0}, "`epochs`"),
        ({"gradient_accumulation_steps": 0}, "`gradient_accumulation_steps`"),
        ({"batch_size": 0}, "`batch_size`"),
        ({"loss": None}, "`loss`"),
        ({"optimizer": None}, "`optimizer`"),
        ({"metrics": ["accuracy"]}, "`metrics`"),
        ({"verbose": 3}, "`verbose`"),
        ({"data": "reviews.csv"}, "Data must be"),
        ({"data": (np.ones((3, 5)), np.ones(4))}, r"\[3, 4\] rows"),
        ({"loss": keras.losses.MeanSquaredError(reduction="sum")}, "`loss`"),
        ({"folder": "x", "keep_checkpoints": 0}, "`keep`"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_bad_argument_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        fit(**changes)


def test_empty_data_is_refused():
    nothing = tf.data.Dataset.from_tensor_slices(make_data()).take(0).batch(2)
    with pytest.raises(ValueError, match="at least one batch"):
        fit(data=nothing)
