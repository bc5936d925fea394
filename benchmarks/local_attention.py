"""Attention restricted to a window: is it linear, and how much faster?"""

import math

from benchmarks import attention_work as work
from benchmarks.race import Contender, race

WINDOW = 256
LENGTHS = (2048, 4096, 8192, 16384)
FULL = 8192


def run():
    """Return figures by length, the fitted exponents, and the speed-up."""
    return [row for causal in (True, False) for row in _rows(causal)]


def _rows(causal):
    work_of = dict(batch=1, backward=False, causal=causal)
    contenders = {
        f"local {n}": Contender(
            work.keras_seq_attention,
            dict(length=n, window=WINDOW, **work_of),
        )
        for n in LENGTHS
    }
    whole = dict(length=FULL, **work_of)
    contenders["keras full"] = Contender(work.keras_attention, whole)
    contenders["keras_seq full"] = Contender(work.keras_seq_attention, whole)
    label = f"local attention, {'causal' if causal else 'both sides'}"
    results = race(contenders, repeats=7, label=label)
    local = [results[f"local {n}"] for n in LENGTHS]
    yield from (
        {
            "causal": causal,
            "n": n,
            "seconds": r.seconds,
            "memory (MB)": r.megabytes,
        }
        for n, r in zip(LENGTHS, local, strict=True)
    )
    at_full = results[f"local {FULL}"].seconds
    yield {
        "causal": causal,
        "n": "fit",
        "exponent of time": _exponent([r.seconds for r in local]),
        "exponent of memory": _exponent([r.megabytes for r in local]),
        "target": 1.15,
        f"faster than keras full at {FULL}": (
            results["keras full"].seconds / at_full
        ),
        f"faster than our full at {FULL}": (
            results["keras_seq full"].seconds / at_full
        ),
        "speed-up target": 8.0,
    }


def _exponent(values):
    """Slope of log value against log length, by least squares."""
    xs = [math.log(n) for n in LENGTHS]
    ys = [math.log(value) for value in values]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum(
        (x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)
    ) / sum((x - mean_x) ** 2 for x in xs)
