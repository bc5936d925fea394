"""Answers on their way from a model's thread to the event loop.

A batch answers many requests at once. They reach the loop by one call, since
waking it costs as much as answering a request.
"""

import asyncio
import collections
from concurrent.futures import Future

from keras_seq.serving.serving_error import ServingError


class Mailbox:
    """Where an event loop finds the answers of other threads."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self.loop = loop
        self._arrived = collections.deque()
        self._is_called = False

    async def wait_for(self, answer: Future, seconds: float):
        """Return the result of `answer`.

        Raises:
            ServingError: 504 if it does not come in time.
        """
        waiter = self.loop.create_future()
        answer.add_done_callback(lambda done: self._put(waiter, done))
        alarm = self.loop.call_later(seconds, _give_up, waiter, seconds)
        try:
            return await waiter
        finally:
            alarm.cancel()
            answer.cancel()  # which does nothing if it is here

    def _put(self, waiter, done):
        self._arrived.append((waiter, done))
        if self._is_called:
            return
        self._is_called = True
        try:
            self.loop.call_soon_threadsafe(self._deliver)
        except RuntimeError:  # the loop has ended, and so have its clients
            return

    def _deliver(self):
        self._is_called = False  # before looking: what comes now calls again
        while self._arrived:
            waiter, done = self._arrived.popleft()
            if waiter.done():
                continue
            if done.cancelled():
                waiter.cancel()
            elif error := done.exception():
                waiter.set_exception(error)
            else:
                waiter.set_result(done.result())


def _give_up(waiter, seconds):
    if not waiter.done():
        waiter.set_exception(
            ServingError(504, f"No answer within {seconds:g} seconds")
        )
