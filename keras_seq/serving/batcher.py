"""Dynamic batching: requests that wait together are answered together.

One thread runs one model. While it runs, requests queue in buckets of the same
signature, the same shapes and about the same text length, since a batch takes
as long as its longest row. The oldest request chooses the next bucket, so none
is left waiting for ever.
"""

import collections
import dataclasses
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

import numpy as np

from keras_seq.serving.serving_error import ServingError

_RETRY_AFTER = 1


@dataclasses.dataclass(frozen=True)
class BatchingOptions:
    """How requests are put together.

    Attributes:
        max_batch_size: Rows of a call; 1 answers requests one by one. A
            request of more rows is a call of its own.
        timeout: Seconds that a request may wait for company. It does only
            while there is some to be had: on a quiet server nobody waits.
        queue_limit: Requests that may wait; the next one is refused.
    """

    max_batch_size: int = 64
    timeout: float = 0.002
    queue_limit: int = 512

    def __post_init__(self):
        for name in ("max_batch_size", "queue_limit"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"`{name}` must be at least 1. "
                    f"Received: {getattr(self, name)}"
                )
        if not 0 <= self.timeout <= 10:
            raise ValueError(
                "`timeout` must be from 0 to 10 seconds. "
                f"Received: {self.timeout}"
            )


@dataclasses.dataclass(eq=False)
class _Task:
    signature: str
    inputs: dict
    rows: int
    deadline: float
    arrived: float
    future: Future


class Batcher:
    """A queue, and the thread that empties it.

    Args:
        run: `run(signature, inputs) -> outputs`, arrays by name.
        signatures: `{name: Signature}`, which say what may share a call.
        options: How requests are put together.
        observe: Called with the number of requests of each batch.
    """

    def __init__(
        self,
        run: Callable,
        signatures: dict,
        options: BatchingOptions | None = None,
        observe: Callable[[int], None] = lambda requests: None,
    ):
        self._run = run
        self._signatures = signatures
        self._options = options or BatchingOptions()
        self._observe = observe
        self._buckets = collections.OrderedDict()  # by arrival of its oldest
        self._waiting = 0
        self._changed = threading.Condition()
        self._closed = False
        self._has_company = False
        self._thread = threading.Thread(
            target=self._work, name="keras-seq-batcher", daemon=True
        )
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many requests are in the queue."""
        return self._waiting

    def submit(self, signature: str, inputs: dict, seconds: float) -> Future:
        """Queue a request; return the future of its outputs.

        Args:
            signature: Name of the signature.
            inputs: Arrays by name.
            seconds: How long the client will wait. What is still queued then
                is dropped, with a 504.

        Raises:
            ServingError: 503 if the queue is full or closed.
        """
        now = time.monotonic()
        key, rows = self._bucket(signature, inputs)
        task = _Task(signature, inputs, rows, now + seconds, now, Future())
        with self._changed:
            if self._closed:
                raise ServingError(503, "The model is stopping", _RETRY_AFTER)
            if self._waiting >= self._options.queue_limit:
                raise ServingError(
                    503,
                    f"The queue is full: {self._waiting} requests wait",
                    _RETRY_AFTER,
                )
            self._buckets.setdefault(key, collections.deque()).append(task)
            self._waiting += 1
            self._changed.notify()
        return task.future

    def close(self) -> None:
        """Answer what is queued, take nothing new, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _bucket(self, signature, inputs):
        """Return what requests of one batch have in common, and the rows."""
        alone = (object(),), 1
        if not self._signatures[signature].can_batch:
            return alone
        sizes = {array.shape[0] for array in inputs.values()}
        if len(sizes) != 1:
            return alone
        shapes = tuple(
            (key, array.shape[1:], _length_class(array))
            for key, array in sorted(inputs.items())
        )
        return (signature, *shapes), sizes.pop()

    def _work(self):
        while (batch := self._next_batch()) is not None:
            live = [task for task in batch if self._is_wanted(task)]
            if live:
                self._observe(len(live))
                self._answer(live)

    def _next_batch(self):
        options = self._options
        with self._changed:
            while not self._buckets:
                if self._closed:
                    return None
                self._changed.wait()
            key = min(self._buckets, key=lambda k: self._buckets[k][0].arrived)
            bucket = self._buckets[key]
            until = bucket[0].arrived + options.timeout
            while (
                self._has_company
                and len(key) > 1
                and not self._closed
                and sum(task.rows for task in bucket) < options.max_batch_size
                and (left := until - time.monotonic()) > 0
            ):
                self._changed.wait(left)
            batch = [bucket.popleft()]
            rows = batch[0].rows
            while bucket and rows + bucket[0].rows <= options.max_batch_size:
                batch.append(bucket.popleft())
                rows += batch[-1].rows
            if not bucket:
                del self._buckets[key]
            self._waiting -= len(batch)
            self._has_company = len(batch) > 1 or self._waiting > 0
            return batch

    def _is_wanted(self, task):
        if not task.future.set_running_or_notify_cancel():
            return False  # the client has gone
        if time.monotonic() > task.deadline:
            task.future.set_exception(
                ServingError(504, "Timed out while waiting in the queue")
            )
            return False
        return True

    def _answer(self, batch):
        try:
            inputs = {
                key: np.concatenate([task.inputs[key] for task in batch])
                if len(batch) > 1
                else batch[0].inputs[key]
                for key in batch[0].inputs
            }
            outputs = self._run(batch[0].signature, inputs)
            answers = _split(outputs, [task.rows for task in batch])
        except Exception as error:
            if len(batch) == 1:
                batch[0].future.set_exception(error)
                return
            # One of them is to blame; the others shall not hear of it.
            for task in batch:
                self._answer([task])
            return
        for task, answer in zip(batch, answers, strict=True):
            task.future.set_result(answer)


def _length_class(array):
    """Return which texts are about as long: up to twice the length."""
    if array.dtype != object or not array.size:
        return 0
    longest = max(map(len, array.ravel().tolist()))
    return max(longest.bit_length(), 6)  # below 64 bytes all are short


def _split(outputs, rows):
    if len(rows) == 1:
        return [outputs]
    for key, array in outputs.items():
        if array.shape[0] != sum(rows):
            raise ValueError(
                f"output {key!r} must have one row per input row. "
                f"Received: {array.shape[0]} for {sum(rows)}"
            )
    ends = np.cumsum(rows)[:-1]
    parts = {key: np.split(array, ends) for key, array in outputs.items()}
    return [
        {key: part[i] for key, part in parts.items()} for i in range(len(rows))
    ]
