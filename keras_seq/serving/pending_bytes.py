"""A bound on what all clients together may have sent and not got answered."""

import contextlib

from keras_seq.serving.serving_error import ServingError

_RETRY_AFTER = 1


class PendingBytes:
    """Counts bytes of requests; used by one event loop only.

    Args:
        most: How many there may be.

    >>> pending = PendingBytes(100)
    >>> with pending.hold(60), pending.hold(60):
    ...     pass
    Traceback (most recent call last):
    keras_seq.serving.serving_error.ServingError: The server holds 60 bytes ...
    """

    def __init__(self, most: int):
        self._most = most
        self._held = 0

    @contextlib.contextmanager
    def hold(self, size: int):
        """Hold room for a request, for as long as the block lasts.

        Raises:
            ServingError: 503 if there is none.
        """
        if self._held and self._held + size > self._most:
            raise ServingError(
                503,
                f"The server holds {self._held} bytes of unanswered requests",
                _RETRY_AFTER,
            )
        self._held += size
        try:
            yield
        finally:
            self._held -= size
