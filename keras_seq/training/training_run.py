"""The loop over epochs: train, save, evaluate, stop.

What makes an exact resume possible is an order of things. At the end of an
epoch the checkpoint is written first and the evaluation comes after it, so
everything an evaluation decides (history, best weights, whether to stop) is
decided again, and equally, by a process that starts from that checkpoint.
"""

import time

import numpy as np

from keras_seq.training.averaging import averaged_weights
from keras_seq.training.checkpoints import arrays_of, assign, check_fit
from keras_seq.training.early_stopping import BestSoFar
from keras_seq.training.epochs import batches
from keras_seq.training.interrupts import deferred_interrupt

LOOK_EVERY_SECONDS = 0.5


class DivergedError(FloatingPointError):
    """The loss or the weights are no longer finite numbers."""


class TrainingRun:
    """A run of `fit`, at some place between its first batch and its end.

    Args:
        steps: A `GraphSteps`.
        train: Object with `epoch(epoch, start_step)` and `steps(epoch)`.
        validation: The same, or None.
        evaluate: Function of the model that returns more numbers, or None.
        epochs: How many epochs there are to be.
        early_stopping: An `EarlyStopping`, or None.
        time_limit: Seconds after which to stop, or None.
        seed: Seed of the data; noted, to refuse a checkpoint of another one.
        checkpoints: A `CheckpointFolder`, or None.
        save_every_seconds: Time between checkpoints within an epoch; None
            for at the ends of epochs only.
        progress: A `Progress`.
    """

    def __init__(
        self,
        steps,
        train,
        *,
        validation=None,
        evaluate=None,
        epochs=1,
        early_stopping=None,
        time_limit=None,
        seed=0,
        checkpoints=None,
        save_every_seconds=300,
        progress,
    ):
        self.model = steps.model
        self.steps = steps
        self.train = train
        self.validation = validation
        self.evaluate = evaluate
        self.epochs = epochs
        self.time_limit = time_limit
        self.seed = seed
        self.checkpoints = checkpoints
        self.save_every_seconds = save_every_seconds
        self.progress = progress

        self.epoch = 0  # epochs that are over
        self.batch = 0  # batches done of the next one
        self.batches_in_all = 0
        self.history = []
        self.best = BestSoFar(early_stopping) if early_stopping else None
        self.best_weights = []
        self._seconds_before = 0.0
        self._started = self._saved_at = time.perf_counter()
        self._saved_step = None

    def seconds(self) -> float:
        """Return how long the run has taken, restarts included."""
        return self._seconds_before + time.perf_counter() - self._started

    def run(self, after_epoch=lambda: None) -> str:
        """Train to the end; return why it ended."""
        self._check_monitor()
        while self.epoch < self.epochs:
            self._train_epoch()
            self._finish_epoch()
            after_epoch()
            if self.best is not None and self.best.should_stop:
                return "early_stopping"
            if self._out_of_time():
                return "time_limit"
        return "epochs"

    def finish(self) -> dict:
        """Give the model its final weights; return the logs of their epoch."""
        best, average = self.best, self.steps.average
        if best is not None and best.rule.restore_best_weights and best.epoch:
            assign(self.best_weights, self.model.weights)
            return self.history[best.epoch - 1]
        if average is not None:
            assign(average.values(), self.model.trainable_variables)
        return self.history[-1] if self.history else {}

    def _check_monitor(self):
        """Say before the first epoch, not after it, that a name is wrong."""
        if self.best is None or self.evaluate is not None:
            return
        objective = self.steps.objective
        every = ["loss", *objective.results()]
        names = every if objective.metrics_in_training else ["loss"]
        if self.validation is not None:
            names = names + [f"val_{name}" for name in every]
        self.best.check_monitor([*names, "learning_rate"])

    # === Training ===

    def _train_epoch(self):
        steps, progress = self.steps, self.progress
        if self.batch == 0:
            steps.training_meter.reset()
            steps.objective.reset()
        dataset = batches(self.train, self.epoch, self.batch)
        before = self.batch
        looked_at = 0.0
        progress.start_epoch(self.train.steps(self.epoch))
        with deferred_interrupt() as interrupted:
            for batch in dataset:
                if self.batch and steps.between_updates and self._out_of_time():
                    break
                steps.train(batch)
                self.batch += 1
                self.batches_in_all += 1
                if not steps.between_updates:
                    continue
                now = time.perf_counter()
                if now - looked_at > LOOK_EVERY_SECONDS:
                    logs = self._training_logs()
                    done = self.batch - before
                    progress.show(self.epoch + 1, self.batch, done, logs)
                    looked_at = now
                if interrupted():
                    self._save()
                    raise KeyboardInterrupt
                if self._is_time_to_save(now):
                    self._save()
            steps.finish_update()
            progress.end_epoch(self.batch, self.batch - before)
            if self.batch == 0:
                raise ValueError("`train_data` must hold at least one batch.")
            self._save()
            if interrupted():
                raise KeyboardInterrupt

    def _training_logs(self):
        meter = self.steps.training_meter
        bad = meter.first_bad_batch()
        if bad is not None:
            raise DivergedError(self._diverged(f"the loss of batch {bad}"))
        logs = {"loss": meter.mean()}
        if self.steps.objective.metrics_in_training:
            logs.update(_numbers(self.steps.objective.results()))
        return logs

    def _finish_epoch(self):
        logs = {"epoch": self.epoch + 1, **self._training_logs()}
        logs["learning_rate"] = float(self.steps.optimizer.learning_rate)
        if self.steps.average is not None:
            self.steps.average.end_epoch()
        with averaged_weights(self.model, self.steps.average):
            logs.update(self._evaluation_logs())
            if self.best is not None and self.best.update(self.epoch + 1, logs):
                self.best_weights = arrays_of(self.model.weights)
        self.progress.epoch_line(self.seconds(), logs)
        logs["seconds"] = round(self.seconds(), 3)
        self.history.append(logs)
        self.epoch += 1
        self.batch = 0

    def _evaluation_logs(self):
        logs = {}
        if self.validation is not None:
            self.progress.note(f"epoch {self.epoch + 1}: validating ...")
            self.steps.objective.reset()
            logs["loss"] = self.steps.evaluate(batches(self.validation))
            logs.update(_numbers(self.steps.objective.results()))
            logs = {f"val_{name}": value for name, value in logs.items()}
        if self.evaluate is not None:
            self.progress.note(f"epoch {self.epoch + 1}: evaluating ...")
            logs.update(_numbers(self.evaluate(self.model)))
        return logs

    def _out_of_time(self):
        return self.time_limit is not None and self.seconds() >= self.time_limit

    # === Saving and restoring ===

    def _is_time_to_save(self, now):
        every = self.save_every_seconds
        return every is not None and now - self._saved_at >= every

    def _save(self):
        if self.checkpoints is None or self._saved_step == self.batches_in_all:
            return
        self._training_logs()  # raises if the loss is not a number
        arrays = {name: arrays_of(v) for name, v in self._variables().items()}
        for array, variable in zip(
            arrays["model"], self.model.variables, strict=True
        ):
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise DivergedError(self._diverged(f"`{variable.path}`"))
        arrays["best"] = self.best_weights
        if self.steps.average is not None:
            arrays["average"] = self.steps.average.arrays()
        state = {
            "epoch": self.epoch,
            "batch": self.batch,
            "batches_in_all": self.batches_in_all,
            "seconds": self.seconds(),
            "must_match": self._must_match(),
            "history": self.history,
            "best": self.best.state() if self.best is not None else None,
        }
        self.checkpoints.save(self.batches_in_all, state, arrays)
        self._saved_at = time.perf_counter()
        self._saved_step = self.batches_in_all

    def go_on_from(self, checkpoint):
        """Be where the run was when `checkpoint` was written."""
        state, path = checkpoint.state, checkpoint.path
        for name, here in self._must_match().items():
            there = state["must_match"][name]
            if there != here:
                raise ValueError(
                    f"`{name}` must be {there}, as in the checkpoint {path}. "
                    f"Received: {name}={here}"
                )
        groups = self._variables()
        for name, variables in groups.items():
            check_fit(name, checkpoint.arrays.get(name, []), variables, path)
        if self.steps.average is not None:
            self.steps.average.load(checkpoint.arrays.get("average", []), path)
        for name, variables in groups.items():
            assign(checkpoint.arrays.get(name, []), variables)
        if self.best is not None:
            self.best.load(state["best"])
            self.best_weights = checkpoint.arrays.get("best", [])
        self.epoch = state["epoch"]
        self.batch = state["batch"]
        self.batches_in_all = self._saved_step = state["batches_in_all"]
        self.history = state["history"]
        self._seconds_before = state["seconds"]

    def _must_match(self):
        """Return the settings without which a checkpoint makes no sense."""
        average, best = self.steps.average, self.best
        return {
            "seed": self.seed,
            "steps_per_epoch": self.train.steps(0),
            "average": None if average is None else str(average.rule),
            "early_stopping": None if best is None else best.rule.monitor,
        }

    def _variables(self):
        return {
            # All that the model holds: also the seeds of its dropout.
            "model": self.model.variables,
            "optimizer": self.steps.optimizer.variables,
            "meter": self.steps.training_meter.variables,
            "metrics": self.steps.objective.variables,
        }

    def _diverged(self, what):
        good = self.checkpoints.paths() if self.checkpoints is not None else []
        kept = f"The last good checkpoint is {good[-1]}. " if good else ""
        return (
            f"Training diverged: {what} in epoch {self.epoch + 1} is not a "
            f"finite number. {kept}A lower learning rate, a longer warm-up "
            "or `global_clipnorm=1.0` may help."
        )


def _numbers(results):
    """Return a dict of Python floats (lists, for metrics with many values)."""
    numbers = {}
    for name, value in results.items():
        value = value.numpy() if hasattr(value, "numpy") else value
        numbers[name] = np.asarray(value).tolist()
    return numbers
