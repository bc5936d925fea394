"""A line of JSON for each request."""

import asyncio
import json
import sys
import time

_FLUSH_SECONDS = 0.2


class AccessLog:
    """Writes requests down, a few at once: each write costs a system call.

    Args:
        stream: Where to; default: the standard error.
    """

    def __init__(self, stream=None):
        self._stream = stream or sys.stderr
        self._lines = []

    def note(self, method: str, path: str, status: int, seconds: float):
        """Note a request, from within an event loop."""
        if not self._lines:
            loop = asyncio.get_running_loop()
            loop.call_later(_FLUSH_SECONDS, self.flush)
        self._lines.append(
            f'{{"time":{time.time():.3f},"level":"INFO","event":"request",'
            f'"method":{json.dumps(method)},"path":{json.dumps(path[:200])},'
            f'"status":{status},"milliseconds":{1e3 * seconds:.2f}}}\n'
        )

    def flush(self) -> None:
        """Write what was noted."""
        lines, self._lines = self._lines, []
        try:
            self._stream.write("".join(lines))
            self._stream.flush()
        except (OSError, ValueError):
            return  # who read it has gone; the requests matter more
