"""The fit that every task shares."""

import dataclasses
import pathlib
import sys

import keras

from keras_seq.training.atomic_files import replacing
from keras_seq.training.averaging import ExponentialAverage, LastEpochsAverage
from keras_seq.training.checkpoints import CheckpointFolder
from keras_seq.training.curves import draw_curves
from keras_seq.training.early_stopping import EarlyStopping
from keras_seq.training.epochs import as_epochs, batches
from keras_seq.training.graph_steps import GraphSteps
from keras_seq.training.objectives import as_objective
from keras_seq.training.precision import with_loss_scaling
from keras_seq.training.progress import Progress
from keras_seq.training.run_record import RunRecord
from keras_seq.training.training_run import DivergedError, TrainingRun


@dataclasses.dataclass(frozen=True)
class FitResult:
    """What came out of a run.

    Attributes:
        history: The logs of each epoch: `epoch`, `loss`, metrics, `val_...`,
            what `evaluate` returned, `learning_rate`, and the `seconds` since
            the start of the run.
        final_metrics: The logs of the epoch whose weights the model has.
        best_epoch: Number of the best epoch, if `early_stopping` was given.
        stopped_because: `"epochs"`, `"early_stopping"` or `"time_limit"`.
        seconds: How long it took, restarts included.
    """

    history: list[dict]
    final_metrics: dict
    best_epoch: int | None
    stopped_because: str
    seconds: float


def fit(
    model,
    train_data,
    *,
    loss=None,
    optimizer=None,
    metrics=(),
    metrics_in_training: bool = True,
    validation_data=None,
    evaluate=None,
    epochs: int = 1,
    batch_size: int = 32,
    steps_per_epoch: int | None = None,
    early_stopping: EarlyStopping | None = None,
    average: ExponentialAverage | LastEpochsAverage | None = None,
    global_clipnorm: float | None = None,
    gradient_accumulation_steps: int = 1,
    jit_compile: bool = False,
    time_limit: float | None = None,
    seed: int = 0,
    folder=None,
    resume: bool = False,
    save_every_seconds: float | None = 300,
    keep_checkpoints: int = 2,
    settings: dict | None = None,
    verbose="auto",
) -> FitResult:
    """Train `model`, so that a run can be repeated, killed and gone on with.

    With a `folder`, it holds at the end `model.weights.h5`, `run.json` (every
    setting, versions, times, metrics), `curves.png`, and `checkpoints/`. A
    run that was killed at any moment goes on with `resume=True` and ends, on
    a CPU, with the same weights bit for bit as one that was not: weights,
    optimizer, averages, the seeds of dropout, the place in the data, metrics
    and early stopping are all in the checkpoint. For that, call
    `keras.utils.set_random_seed` before building the model, draw random
    numbers in layers from `keras.random.SeedGenerator` (as Keras's own
    layers do), and let the data come in the same order each time.

    Differs from `keras.Model.fit`: the loss of an epoch is weighted by token
    or row, not by batch; no step waits for Python; TensorFlow only.

    Args:
        model: A Keras model, compiled or not.
        train_data: `keras_seq.data.Batches`; a tuple of arrays `(x, y)`, which
            is shuffled by `seed`; a `tf.data.Dataset` of batches; a function
            that makes one from the index of the epoch; or any object with
            `epoch(epoch, start_step)` and `steps(epoch)`.
        loss: A Keras loss or its name, an `Objective`, or None for what the
            model was compiled with.
        optimizer: A Keras optimizer or its name; None for the compiled one.
        metrics: `keras.metrics.Metric` objects.
        metrics_in_training: Whether training batches are measured too; False
            leaves the metrics, and their cost, to the validation.
        validation_data: Like `train_data`; looked at after each epoch, with
            averaged weights if there are any.
        evaluate: Function of the model that returns a dict of numbers, such
            as `{"bleu": 31.2}`; called after each epoch.
        epochs: How often to go through the data, at most.
        batch_size: Rows per batch, if the data are arrays.
        steps_per_epoch: Batches per epoch, if a `tf.data.Dataset` has no end
            or is to be cut into shorter epochs.
        early_stopping: When to stop early, and which weights to end with.
        average: `ExponentialAverage(decay)` or `LastEpochsAverage(epochs)`:
            evaluate with averaged weights, and end with them.
        global_clipnorm: Shrink the gradients to this norm, all together.
        gradient_accumulation_steps: Batches per update. The update is that
            of one large batch, also if the batches differ in tokens.
        jit_compile: Let XLA compile the step, once for each shape of batch.
        time_limit: Seconds after which to stop, at least one update later.
        seed: Order of array data; noted in `run.json` in any case.
        folder: Where to save; None saves nothing.
        resume: Go on with the run in `folder`, if there is one. Without it, a
            folder that already holds a run is refused.
        save_every_seconds: Time between checkpoints within an epoch (0: after
            each update; None: only at the end of each epoch).
        keep_checkpoints: How many checkpoints stay.
        settings: More settings to write into `run.json`.
        verbose: 0 is silent; 1 draws a bar on a terminal and writes a line
            per epoch elsewhere; `"auto"` speaks to terminals only.

    Returns:
        A `FitResult`. The model has the final weights.

    Raises:
        DivergedError: The loss is NaN or infinite; the last good checkpoint
            stays.

    Example:
        >>> import keras, numpy as np
        >>> from keras_seq import training
        >>> keras.utils.set_random_seed(0)
        >>> x = np.random.normal(size=(64, 3))
        >>> y = x[:, 0] > 0
        >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
        >>> result = fit(
        ...     model, (x, y), loss=training.BinaryCrossentropy(),
        ...     optimizer=training.Adam(0.1),
        ...     metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)],
        ...     epochs=10, verbose=0,
        ... )
        >>> result.history[-1]["binary_accuracy"] > 0.9
        True
    """
    arguments = dict(locals())  # first of all, so that it holds just these
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            "`fit` needs the TensorFlow backend. "
            f"Received: KERAS_BACKEND={keras.backend.backend()}"
        )
    for name in ("epochs", "gradient_accumulation_steps"):
        if arguments[name] < 1:
            raise ValueError(
                f"`{name}` must be at least 1. Received: {arguments[name]}"
            )
    checkpoints = checkpoint = None
    if folder is not None:
        folder = pathlib.Path(folder)
        checkpoints = CheckpointFolder(folder / "checkpoints", keep_checkpoints)
        checkpoint = _checkpoint_to_resume(checkpoints, resume)
    train = as_epochs(
        train_data, batch_size, seed, steps_per_epoch=steps_per_epoch
    )
    validation = None
    if validation_data is not None:
        validation = as_epochs(validation_data, batch_size, shuffle=False)
    steps = GraphSteps(
        model,
        as_objective(model, loss, metrics, metrics_in_training),
        _optimizer_for(model, optimizer),
        batches(train).element_spec,
        average=average,
        global_clipnorm=global_clipnorm,
        gradient_accumulation_steps=gradient_accumulation_steps,
        jit_compile=jit_compile,
    )
    run = TrainingRun(
        steps,
        train,
        validation=validation,
        evaluate=evaluate,
        epochs=epochs,
        early_stopping=early_stopping,
        time_limit=time_limit,
        seed=seed,
        checkpoints=checkpoints,
        save_every_seconds=save_every_seconds,
        progress=Progress(epochs, verbose),
    )
    record = RunRecord(
        folder / "run.json" if folder is not None else None,
        _settings(arguments, run),
    )
    if checkpoint is not None:
        run.go_on_from(checkpoint)
        record.resume()
    return _finish(run, record, folder)


def _checkpoint_to_resume(checkpoints, resume):
    if resume:
        return checkpoints.latest()
    if checkpoints.paths():
        raise ValueError(
            f"`folder` already holds a run, {checkpoints.folder}. Pass "
            "`resume=True` to go on with it, or choose another folder."
        )
    return None


def _optimizer_for(model, optimizer):
    if optimizer is None:
        optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        raise ValueError(
            "`optimizer` must be given for a model that is not compiled."
        )
    return with_loss_scaling(keras.optimizers.get(optimizer), model)


def _settings(arguments, run):
    own = {
        **arguments,
        "optimizer": run.steps.optimizer,
        "steps_per_epoch": run.train.steps(0),
        "model": run.model.name,
        "parameters": run.model.count_params(),
        "precision": run.model.dtype_policy.name,
    }
    return {**(own.pop("settings") or {}), **own}


def _finish(run, record, folder):
    """Run to the end, and leave everything in order however it ends."""

    def write(status, **more):
        record.write(
            status=status,
            seconds=run.seconds(),
            history=run.history,
            best_epoch=run.best.epoch if run.best is not None else None,
            **more,
        )

    write("running")
    try:
        reason = run.run(after_epoch=lambda: write("running"))
    except KeyboardInterrupt:
        write("interrupted")
        if folder is not None:
            print(
                f"\nStopped in epoch {run.epoch + 1}; everything is saved in "
                f"{folder}. Run the same with `resume=True` to go on.",
                file=sys.stderr,
            )
        raise
    except Exception as error:
        status = "diverged" if isinstance(error, DivergedError) else "failed"
        write(status, error=str(error))
        raise
    result = FitResult(
        history=run.history,
        final_metrics=run.finish(),
        best_epoch=run.best.epoch if run.best is not None else None,
        stopped_because=reason,
        seconds=run.seconds(),
    )
    if folder is not None:
        with replacing(folder / "model.weights.h5") as unfinished:
            run.model.save_weights(unfinished)
        draw_curves(run.history, folder / "curves.png", result.best_epoch)
    write(
        "finished",
        stopped_because=reason,
        final_metrics=result.final_metrics,
    )
    return result
