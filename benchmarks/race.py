"""Race contenders fairly on a noisy machine.

Each contender lives in a process of its own, since thread pools of different
engines fight; they take turns, one run each, round after round, so that what
else happens on the machine hits all alike. Medians are compared.
"""

import dataclasses
import gc
import multiprocessing
import re
import statistics
import sys
import time
from collections.abc import Callable

WARM_UP = 2


@dataclasses.dataclass(frozen=True)
class Contender:
    """A way to do the work: `factory(**arguments)` returns the work to time.

    The work is a function without arguments that returns when it is done.
    """

    factory: Callable
    arguments: dict


@dataclasses.dataclass(frozen=True)
class Result:
    """Median seconds of a run, and how much memory the first one added."""

    seconds: float
    megabytes: float


def race(contenders, repeats=9, label=""):
    """Return `{name: Result}` of contenders that take turns."""
    context = multiprocessing.get_context("spawn")
    lines = {}
    results = {}
    try:
        for name, contender in contenders.items():
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_serve, args=(theirs, contender), daemon=True
            )
            process.start()
            theirs.close()
            lines[name] = ours, process
            # One at a time: while one measures its memory, the rest wait.
            results[name] = ours.recv()
            if isinstance(results[name], str):
                raise RuntimeError(f"{label} {name}: {results[name]}")
        times = {name: [] for name in contenders}
        for round_ in range(repeats):
            _progress(f"{label}: round {round_ + 1} of {repeats}")
            for name, (line, _) in lines.items():
                line.send(True)
                times[name].append(line.recv())
    finally:
        for line, process in lines.values():
            line.close()
            process.terminate()
            process.join()
        _progress("")
    return {
        name: Result(statistics.median(times[name]), results[name])
        for name in contenders
    }


def _progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _serve(line, contender):
    try:
        work = contender.factory(**contender.arguments)
        gc.collect()
        _forget_peak()
        before = _memory("VmRSS")
        work()
        line.send((_memory("VmHWM") - before) / 1024)
        for _ in range(WARM_UP):
            work()
    except Exception as error:  # the parent says whose it was
        line.send(f"{type(error).__name__}: {error}")
        return
    try:
        while line.recv():
            start = time.perf_counter()
            work()
            line.send(time.perf_counter() - start)
    except EOFError:
        return


def _forget_peak():
    """Let the kernel's high-water mark start anew (Linux)."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _memory(field):
    """Return `VmRSS` or `VmHWM` of this process, in KB."""
    with open("/proc/self/status") as file:
        return int(re.search(rf"{field}:\s+(\d+)", file.read()).group(1))
