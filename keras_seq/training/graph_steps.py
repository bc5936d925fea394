"""The training step and the evaluation step, as TensorFlow graphs.

A step never waits for Python: losses and metrics add up in variables, which
are read now and then.
"""

import tensorflow as tf


class LossMeter:
    """Mean of a loss over all batches so far, kept in graph."""

    def __init__(self):
        # float64: an epoch has more tokens than float32 can count.
        self.total = tf.Variable(0.0, trainable=False, dtype=tf.float64)
        self.weight = tf.Variable(0.0, trainable=False, dtype=tf.float64)
        self.batches = tf.Variable(0, trainable=False, dtype=tf.int64)
        self.first_bad = tf.Variable(0, trainable=False, dtype=tf.int64)

    @property
    def variables(self):
        return [self.total, self.weight, self.batches, self.first_bad]

    def add(self, total, weight):
        """Take in a batch. Runs in graph."""
        self.total.assign_add(tf.cast(total, tf.float64))
        self.weight.assign_add(tf.cast(weight, tf.float64))
        batch = self.batches.assign_add(1)
        is_first_bad = ~tf.math.is_finite(total) & (self.first_bad == 0)
        self.first_bad.assign(tf.where(is_first_bad, batch, self.first_bad))

    def reset(self):
        for variable in self.variables:
            variable.assign(tf.zeros_like(variable))

    def mean(self) -> float:
        return float(tf.math.divide_no_nan(self.total, self.weight))

    def first_bad_batch(self) -> int | None:
        """Return the number of the first batch whose loss was not finite."""
        return int(self.first_bad) or None


class GraphSteps:
    """What is done with a batch.

    Args:
        model: A Keras model; it is built here if need be.
        objective: An `Objective`.
        optimizer: A Keras optimizer.
        batch_spec: `element_spec` of the training data.
        average: Makes the running average of the weights, or None.
        global_clipnorm: Largest norm of all gradients together, or None.
        gradient_accumulation_steps: Batches per update.
        jit_compile: Whether XLA compiles the steps, anew for each shape.
    """

    def __init__(
        self,
        model,
        objective,
        optimizer,
        batch_spec,
        *,
        average=None,
        global_clipnorm=None,
        gradient_accumulation_steps=1,
        jit_compile=False,
    ):
        self.model = model
        self.objective = objective
        self.optimizer = optimizer
        self.global_clipnorm = global_clipnorm
        self.accumulation = gradient_accumulation_steps
        self.jit_compile = jit_compile
        self.training_meter = LossMeter()
        self.evaluation_meter = LossMeter()
        self._evaluators = []  # pairs of batch spec and graph
        self._waiting = 0  # batches whose gradients are not applied yet

        # Tracing makes the variables of layers and metrics that are made on
        # their first call, so that a checkpoint finds them.
        self._evaluator(batch_spec).get_concrete_function()
        self.variables = model.trainable_variables
        if not optimizer.built:
            optimizer.build(self.variables)
        self.average = average.start(model) if average else None
        if self.accumulation == 1:
            self._train = self._graph(self._training_step, batch_spec)
        else:
            self._sums = [
                tf.Variable(tf.zeros_like(v.value), trainable=False)
                for v in self.variables
            ]
            self._weight = tf.Variable(0.0, trainable=False)
            self._train = self._graph(self._accumulation_step, batch_spec)
            self._update = self._graph(self._update_step)

    @property
    def between_updates(self) -> bool:
        """Whether the last batch is already in the weights."""
        return self._waiting == 0

    def train(self, batch):
        """Learn from a batch."""
        self._train(batch)
        if self.accumulation > 1:
            self._waiting += 1
            if self._waiting == self.accumulation:
                self.finish_update()

    def finish_update(self):
        """Apply the gradients of the last batches of an epoch, if any wait."""
        if self._waiting:
            self._update()
            self._waiting = 0

    def evaluate(self, dataset) -> float:
        """Return the mean loss over `dataset`; metrics are in the objective."""
        evaluate = self._evaluator(dataset.element_spec)
        self.evaluation_meter.reset()
        for batch in dataset:
            evaluate(batch)
        return self.evaluation_meter.mean()

    def _graph(self, step, *signature):
        return tf.function(
            step,
            input_signature=signature,
            jit_compile=self.jit_compile,
            autograph=False,  # as in Keras; it would only slow the tracing
        )

    def _evaluator(self, spec):
        for known, graph in self._evaluators:
            if known == spec:
                return graph
        graph = self._graph(self._evaluation_step, spec)
        self._evaluators.append((spec, graph))
        return graph

    def _evaluation_step(self, batch):
        total, weight = self.objective(self.model, batch, training=False)
        self.evaluation_meter.add(total, weight)

    def _training_step(self, batch):
        gradients, _ = self._gradients(batch)
        self._apply(gradients)

    def _accumulation_step(self, batch):
        gradients, weight = self._gradients(batch)
        self._weight.assign_add(weight)
        for sum_, gradient in zip(self._sums, gradients, strict=True):
            if gradient is not None:
                sum_.assign_add(tf.cast(weight, gradient.dtype) * gradient)

    def _update_step(self):
        self._apply(
            [
                tf.math.divide_no_nan(sum_, tf.cast(self._weight, sum_.dtype))
                for sum_ in self._sums
            ]
        )
        for variable in [self._weight, *self._sums]:
            variable.assign(tf.zeros_like(variable))

    def _gradients(self, batch):
        """Return the gradients of the batch's mean loss, and its weight."""
        with tf.GradientTape() as tape:
            total, weight = self.objective(self.model, batch, training=True)
            weight = tf.cast(weight, total.dtype)
            # The mean, not the sum, so that float16 does not overflow.
            mean = tf.math.divide_no_nan(total, weight)
            scaled = self.optimizer.scale_loss(mean)
        self.training_meter.add(total, weight)
        gradients = tape.gradient(scaled, [v.value for v in self.variables])
        # Rows of an embedding arrive as a list that names some rows twice;
        # their norm is right only after they were added up.
        dense = [g if g is None else tf.convert_to_tensor(g) for g in gradients]
        return dense, weight

    def _apply(self, gradients):
        if self.global_clipnorm is not None:
            # Gradients are still scaled (float16), so the limit is, too.
            limit = self.optimizer.scale_loss(float(self.global_clipnorm))
            gradients, _ = tf.clip_by_global_norm(gradients, limit)
        self.optimizer.apply(gradients, self.variables)
        if self.average is not None:
            self.average.update()
