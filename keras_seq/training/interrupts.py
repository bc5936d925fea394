"""Let Ctrl-C wait for the end of a training step."""

import contextlib
import signal
import threading


@contextlib.contextmanager
def deferred_interrupt():
    """Note a Ctrl-C instead of raising it; the body asks whether one came.

    In the middle of an update some weights are new and some are old, and the
    count of steps lags behind them. A second Ctrl-C is raised at once.
    Outside the main thread, where Python delivers no signals, this does
    nothing.

    >>> with deferred_interrupt() as interrupted:
    ...     signal.raise_signal(signal.SIGINT)
    ...     interrupted()
    True
    """
    came = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield came.is_set
        return

    def note(number, frame):
        if came.is_set():
            raise KeyboardInterrupt
        came.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield came.is_set
    finally:
        signal.signal(signal.SIGINT, before)
