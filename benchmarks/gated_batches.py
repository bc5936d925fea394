"""Batches that a `fit` gets a few at a time, when it is its turn.

A training that is started anew for each turn would be traced anew. So it is
started once, in a thread, and waits inside its data.
"""

import threading


class GatedBatches:
    """An endless data set that pauses after every `steps` batches.

    A step that asks for the next batch has finished the one before: nothing
    here reads ahead.

    Args:
        batch: `((source_ids, target_ids), labels)`, arrays.
        steps: Batches a turn.
    """

    def __init__(self, batch, steps):
        self.batch = batch
        self.steps = steps
        self._go, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._error = None

    def dataset(self):
        """Return the `tf.data` that all contenders read, options included."""
        import tensorflow as tf

        (source, target), labels = self.batch
        example = {"source_ids": source, "target_ids": target}, labels
        dataset = tf.data.Dataset.from_generator(
            self._generate,
            output_signature=tf.nest.map_structure(
                lambda x: tf.TensorSpec((None, x.shape[1]), x.dtype), example
            ),
        )
        options = tf.data.Options()
        options.autotune.enabled = False  # it stalls now and then
        return dataset.with_options(options)

    def _generate(self):
        (source, target), labels = self.batch
        example = {"source_ids": source, "target_ids": target}, labels
        while True:
            self._go.acquire()
            for _ in range(self.steps):
                yield example
            self._done.release()

    def start(self, train):
        """Call `train()`, which never ends, in a thread; return the work."""

        def run():
            try:
                train()
            except BaseException as error:
                self._error = error
            self._done.release()

        threading.Thread(target=run, daemon=True).start()
        return self.turn

    def turn(self):
        """Let `steps` batches pass; return when all is done with them."""
        self._go.release()
        self._done.acquire()
        if self._error is not None:
            raise self._error
