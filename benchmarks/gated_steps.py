"""Training steps that are done a few at a time, when it is their turn.

A training that is started anew for each turn would be traced anew. So it is
started once, in a thread, and waits before its next step. (To let it wait
inside its data is not enough: what reads ahead would go on learning in
somebody else's turn.)
"""

import threading


class GatedSteps:
    """A gate before every step of a training.

    Args:
        steps: Steps a turn.
    """

    def __init__(self, steps):
        self.steps = steps
        self._go, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._at = 0
        self._error = None

    def before_step(self):
        """Wait for the turn; the training calls this before each step."""
        if self._at == 0:
            self._go.acquire()

    def after_step(self):
        """End the turn with its last step; called after each one is done."""
        self._at = (self._at + 1) % self.steps
        if self._at == 0:
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
        """Let the next steps pass; return when the last of them is done."""
        self._go.release()
        self._done.acquire()
        if self._error is not None:
            raise self._error


def endless(batch):
    """Return the `tf.data` that all contenders read, options included.

    Args:
        batch: `((source_ids, target_ids), labels)`, arrays.
    """
    import tensorflow as tf

    (source, target), labels = batch
    example = {"source_ids": source, "target_ids": target}, labels
    options = tf.data.Options()
    options.autotune.enabled = False  # it stalls now and then
    dataset = tf.data.Dataset.from_tensors(example).repeat()
    return dataset.with_options(options)
