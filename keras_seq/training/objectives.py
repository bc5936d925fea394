"""What training makes small: the loss of a batch, and metrics beside it."""

import keras
import tensorflow as tf


class Objective:
    """Base class: a loss as a sum and a weight, so that batches can be joined.

    Subclass it where a loss needs more than labels and predictions: two
    forward passes, a penalty on attention, an output layer that is applied
    to real tokens only. `metrics` are Keras metrics that `__call__` updates;
    `fit` resets and reports them.

    Attributes:
        metrics: Keras metrics.
        metrics_in_training: Whether `__call__` updates them in training too.

    Example:
        >>> class Penalty(Objective):
        ...     def __call__(self, model, batch, training):
        ...         errors = tf.square(model(batch, training=training))
        ...         return tf.reduce_sum(errors), tf.size(errors)
        >>> total, weight = Penalty()(lambda x, training: x, [1.0, 3.0], False)
        >>> float(total), int(weight)
        (10.0, 2)
    """

    def __init__(self, metrics=(), metrics_in_training=True):
        for metric in metrics:
            if not isinstance(metric, keras.metrics.Metric):
                raise ValueError(
                    "`metrics` must hold `keras.metrics.Metric` objects. "
                    f"Received: {metric!r}"
                )
        self.metrics = list(metrics)
        self.metrics_in_training = metrics_in_training

    def __call__(self, model, batch, training):
        """Return the sum of the losses of a batch, and what to divide it by.

        Args:
            model: The model.
            batch: One element of the data set.
            training: True in a training step, False in an evaluation.
        """
        raise NotImplementedError

    @property
    def variables(self):
        return [v for metric in self.metrics for v in metric.variables]

    def reset(self):
        for metric in self.metrics:
            metric.reset_state()

    def results(self):
        """Return the metrics by name."""
        return {metric.name: metric.result() for metric in self.metrics}


class SupervisedObjective(Objective):
    """A Keras loss of `(x, y)` or `(x, y, sample_weight)`.

    The losses of `keras_seq.training` are weighted by token or row; any
    other is taken to be a mean over rows, and batches are joined by their
    number of rows. What layers add (`add_loss`, regularizers) is added.
    """

    def __init__(self, loss, metrics=(), metrics_in_training=True):
        super().__init__(metrics, metrics_in_training)
        self.loss = keras.losses.get(loss)
        reduction = getattr(self.loss, "reduction", "mean")
        if reduction in ("sum", "none", None):
            raise ValueError(
                "`loss` must be a mean, so that it does not grow with the "
                f"batch. Received: reduction={reduction!r}"
            )

    def __call__(self, model, batch, training):
        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(batch)
        y_pred = model(x, training=training)
        if self.metrics_in_training or not training:
            for metric in self.metrics:
                metric.update_state(y, y_pred, sample_weight=sample_weight)
        total, weight = self._total_and_weight(y, y_pred, sample_weight)
        if model.losses:
            total += weight * tf.add_n(model.losses)
        return total, weight

    def _total_and_weight(self, y, y_pred, sample_weight):
        if hasattr(self.loss, "total_and_weight"):
            return self.loss.total_and_weight(y, y_pred, sample_weight)
        rows = tf.cast(tf.shape(y_pred)[0], "float32")
        if isinstance(self.loss, keras.losses.Loss):
            mean = self.loss(y, y_pred, sample_weight=sample_weight)
        else:
            mean = tf.reduce_mean(self.loss(y, y_pred))
        return mean * rows, rows


class CompiledObjective(Objective):
    """The loss, or losses, and metrics a model was compiled with."""

    def __init__(self, model, metrics_in_training=True):
        super().__init__(metrics_in_training=metrics_in_training)
        self.model = model

    def __call__(self, model, batch, training):
        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(batch)
        y_pred = model(x, training=training)
        mean = model.compute_loss(x, y, y_pred, sample_weight, training)
        if self.metrics_in_training or not training:
            model.compute_metrics(x, y, y_pred, sample_weight)
        rows = tf.cast(tf.shape(tf.nest.flatten(y_pred)[0])[0], "float32")
        return mean * rows, rows

    @property
    def variables(self):
        return self.model.metrics_variables

    def reset(self):
        self.model.reset_metrics()

    def results(self):
        results = dict(self.model.get_metrics_result())
        results.pop("loss", None)  # of Keras's own loop, which did not run
        return results


def as_objective(model, loss, metrics, metrics_in_training=True):
    """Return the `Objective` that `fit`'s arguments ask for."""
    if isinstance(loss, Objective):
        if metrics:
            raise ValueError(
                "An `Objective` brings its own metrics; `metrics` must be "
                f"empty beside it. Received: {metrics!r}"
            )
        return loss
    if loss is not None:
        return SupervisedObjective(loss, metrics, metrics_in_training)
    if not getattr(model, "compiled", False):
        raise ValueError(
            "`loss` must be given for a model that is not compiled."
        )
    if metrics:
        raise ValueError(
            "`metrics` must come with a `loss`; a compiled model brings both. "
            f"Received: {metrics!r}"
        )
    return CompiledObjective(model, metrics_in_training)
