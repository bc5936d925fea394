"""How long something took, on the wall and on the processor."""

import resource
import time


def clock():
    """Return wall seconds and CPU seconds, user and system."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), used.ru_utime + used.ru_stime
