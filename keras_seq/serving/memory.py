"""Keep a process that runs for months as small as what it holds."""

import ctypes
import gc
import os

_M_ARENA_MAX = -8  # of glibc's malloc.h


def use_few_arenas() -> None:
    """Let threads share memory that was freed, where the C library is glibc.

    By itself it gives almost every thread an arena of its own, up to eight
    per core, and none uses what another has freed.
    """
    _call("mallopt", _M_ARENA_MAX, max(2, os.cpu_count() or 2))


def settle() -> None:
    """Tell the garbage collector that what is there now will stay.

    TensorFlow and the models are millions of objects. To look through all of
    them takes so long that clients would notice.
    """
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Return what is free to the system; a model has just been let go."""
    gc.unfreeze()
    settle()
    _call("malloc_trim", 0)


def _call(name, *arguments):
    try:
        getattr(ctypes.CDLL(None), name)(*arguments)
    except (AttributeError, OSError, TypeError):
        return  # another C library, which has no such function
