"""Dynamic batching: requests that wait together are answered together.

Requests wait in buckets of those that may share a call. Who has waited longest
chooses the next bucket, so none is left waiting for ever. One call of a model
runs at a time, since a second would only slow it down - but for shorter texts:
they do not wait until a long one is done.
"""

import collections
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

import numpy as np

from keras_seq.serving.batching_options import BatchingOptions
from keras_seq.serving.company import company_of
from keras_seq.serving.queued_request import QueuedRequest, Share
from keras_seq.serving.serving_error import ServingError, bad_request

_RETRY_AFTER = 1
# A model that takes long is worth waiting longer for, by a part of its time.
_WORTH_WAITING = 0.1


class Batcher:
    """A queue, and the threads that empty it.

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
        self._buckets = {}  # company -> deque of requests
        self._calls = []  # lengths of what is being answered
        self._took = {}  # signature -> seconds of its last call
        self._waiting = 0
        self._expected = 1  # requests that are known to come together
        self._closed = False
        # One thread watches the queue; the others wait until it is busy.
        self._is_watched = False
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._needed = threading.Condition(self._lock)
        self._threads = [
            threading.Thread(
                target=self._work, name=f"keras-seq-batcher-{i}", daemon=True
            )
            for i in range(self._options.max_calls)
        ]
        for thread in self._threads:
            thread.start()

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
            ServingError: 503 if the queue is full or closed; 400 for more
                rows than a call may have, if they cannot be divided.
        """
        options = self._options
        can_share = self._signatures[signature].can_batch
        company = company_of(signature, inputs, can_share)
        request = QueuedRequest(company, signature, inputs, seconds)
        if request.rows < 1:
            raise bad_request("The inputs must have at least one row")
        if len(company) == 2 and request.rows > max(options.max_batch_size, 64):
            raise bad_request(
                f"signature {signature!r} answers at most "
                f"{max(options.max_batch_size, 64)} rows at once. "
                f"Received: {request.rows}"
            )
        with self._lock:
            if self._closed:
                raise ServingError(503, "The model is stopping", _RETRY_AFTER)
            if self._waiting >= options.queue_limit:
                raise ServingError(
                    503,
                    f"The queue is full: {self._waiting} requests wait",
                    _RETRY_AFTER,
                )
            self._enqueue(request)
        return request.future

    def close(self) -> None:
        """Answer what is queued, take nothing new, and end the threads."""
        with self._lock:
            self._closed = True
            self._changed.notify()
        for thread in self._threads:
            thread.join()

    def _enqueue(self, request):
        bucket = self._buckets.get(request.company)
        if bucket is None:
            bucket = self._buckets[request.company] = collections.deque()
        bucket.append(request)
        self._waiting += 1
        # Who watches knows when to look again, unless this changes it.
        if (
            len(bucket) == 1
            or request.rows > 1
            or self._waiting >= self._expected
        ):
            self._changed.notify()

    def _work(self):
        while (shares := self._next_batch()) is not None:
            request = shares[0].request
            live = [share for share in shares if share.request.is_wanted()]
            if live:
                self._observe(len(live))
                start = time.monotonic()
                self._answer(live)
                self._took[request.signature] = time.monotonic() - start
            with self._lock:
                self._calls.remove(request.length)
                for share in live:
                    if not share.request.is_done:
                        self._enqueue(share.request)
                if self._buckets or self._closed:
                    self._changed.notify()

    def _next_batch(self):
        """Wait for requests; return them, or None at the end."""
        with self._lock:
            while True:
                company, when = self._first_ready()
                now = time.monotonic()
                if company is not None and when <= now:
                    self._needed.notify()
                    return self._take(company)
                if self._closed and not self._buckets and not self._calls:
                    self._needed.notify_all()
                    self._changed.notify_all()
                    return None
                if self._is_watched:
                    self._needed.wait()
                    continue
                self._is_watched = True
                self._changed.wait(None if company is None else when - now)
                self._is_watched = False

    def _first_ready(self):
        """Return the bucket whose turn is next, and when that is."""
        options = self._options
        below = min(self._calls, default=float("inf"))
        allowed = [c for c in self._buckets if c[0] < below]
        if not allowed:
            return None, 0.0
        company = min(allowed, key=lambda c: self._buckets[c][0].arrived)
        bucket = self._buckets[company]
        if (
            self._closed
            or len(company) == 2
            or self._waiting >= self._expected
            or sum(request.left for request in bucket) >= options.max_batch_size
        ):
            return company, 0.0
        took = self._took.get(bucket[0].signature, 0.0)
        patience = max(options.timeout, _WORTH_WAITING * took)
        return company, bucket[0].arrived + patience

    def _take(self, company):
        """Take a batch from a bucket."""
        bucket = self._buckets[company]
        room = self._options.max_batch_size
        shares = []
        while bucket and (not shares or bucket[0].left <= room):
            request = bucket.popleft()
            # What nobody shares is not divided either.
            most = request.left if len(company) == 2 else room
            shares.append(request.share(most))
            room -= shares[-1].rows
        if not bucket:
            del self._buckets[company]
        self._waiting -= len(shares)
        self._expected = min(
            len(shares) + self._waiting, self._options.max_batch_size
        )
        self._calls.append(company[0])
        return shares

    def _answer(self, shares: list[Share]):
        try:
            inputs = [share.inputs for share in shares]
            outputs = self._run(shares[0].request.signature, _join(inputs))
            answers = _split(outputs, [share.rows for share in shares])
        except Exception as error:
            if len(shares) == 1:
                shares[0].request.fail(error)
                return
            # One of them is to blame; the others shall not hear of it.
            half = len(shares) // 2
            self._answer(shares[:half])
            self._answer(shares[half:])
            return
        for share, answer in zip(shares, answers, strict=True):
            share.request.accept(answer)


def _join(inputs):
    if len(inputs) == 1:
        return inputs[0]
    return {
        key: np.concatenate([each[key] for each in inputs]) for key in inputs[0]
    }


def _split(outputs, rows):
    if len(rows) == 1:
        return [outputs]
    for key, array in outputs.items():
        if array.shape[0] != sum(rows):
            raise ValueError(
                f"output {key!r} must have one row per input row. "
                f"Received: {array.shape[0]} for {sum(rows)}"
            )
    ends = np.cumsum(rows).tolist()
    return [
        {key: array[end - count : end] for key, array in outputs.items()}
        for end, count in zip(ends, rows, strict=True)
    ]
