"""A request in the queue, answered whole or, if it is large, in shares."""

import dataclasses
import time
from concurrent.futures import Future

import numpy as np

from keras_seq.serving.serving_error import ServingError


class QueuedRequest:
    """Rows that wait for their answers.

    Args:
        company: What it shares with those that it may share a call with.
        signature: Name of the signature.
        inputs: Arrays by name.
        seconds: How long the client will wait.
    """

    def __init__(self, company, signature: str, inputs: dict, seconds: float):
        self.company = company
        self.signature = signature
        self.arrived = time.monotonic()
        self.future = Future()
        sizes = {len(array) for array in inputs.values() if array.ndim}
        self.rows = max(sizes, default=1)
        self._inputs = inputs
        self._deadline = self.arrived + seconds
        self._asked = 0
        self._answers = []

    @property
    def length(self) -> int:
        """How long its texts are; see `company_of`."""
        return self.company[0]

    @property
    def left(self) -> int:
        """How many rows have not been asked yet."""
        return self.rows - self._asked

    @property
    def is_done(self) -> bool:
        """Whether the client has its answer, or does not want it any more."""
        return self.future.done()

    def share(self, most: int) -> "Share":
        """Take the next rows, as many as `most`."""
        start, self._asked = self._asked, min(self._asked + most, self.rows)
        if self._asked - start == self.rows:
            return Share(self, self._inputs, self.rows)
        part = slice(start, self._asked)
        inputs = {key: array[part] for key, array in self._inputs.items()}
        return Share(self, inputs, self._asked - start)

    def is_wanted(self) -> bool:
        """Whether the client still waits; if it is too late, say so to it."""
        if not self.future.running():
            if not self.future.set_running_or_notify_cancel():
                return False  # the client has gone
        if time.monotonic() > self._deadline:
            self.fail(ServingError(504, "Timed out while waiting in the queue"))
            return False
        return True

    def accept(self, outputs: dict) -> None:
        """Take the answer to a share; the last one completes the request."""
        self._answers.append(outputs)
        if self.left:
            self.arrived = time.monotonic()  # others come first now
            return
        if len(self._answers) > 1:
            outputs = {
                key: np.concatenate([answer[key] for answer in self._answers])
                for key in outputs
            }
        self.future.set_result(outputs)

    def fail(self, error: Exception) -> None:
        """Answer with an error."""
        self.future.set_exception(error)


@dataclasses.dataclass(frozen=True)
class Share:
    """Rows of a request that are asked together.

    Attributes:
        request: Whose they are.
        inputs: Arrays by name.
        rows: How many.
    """

    request: QueuedRequest
    inputs: dict
    rows: int
