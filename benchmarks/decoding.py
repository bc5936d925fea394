"""Decoding 64 tokens: our SavedModel beside KerasHub's loop and CTranslate2."""

import multiprocessing
import tempfile

from benchmarks import decoding_work as work
from benchmarks.decoding_models import TOKENS, make_models
from benchmarks.race import Contender, race

# Of the ratio of `serving_default` and of `fast` to KerasHub's cached loop, by
# batch; and of `fast` to CTranslate2, by beam.
TO_KERAS_HUB = {1: (1.5, 3.5), 32: (1.5, 2.5)}
TO_CTRANSLATE2 = {1: 0.9, 4: 0.75}
REPEATS = {(1, 1): 41, (1, 32): 11, (4, 1): 31, (4, 32): 7}


def run():
    """Return one row for each beam and batch."""
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own, which takes its threads with it.
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=make_models, args=(folder,))
        process.start()
        process.join()
        if process.exitcode:
            raise RuntimeError("the models could not be made")
        return [
            _row(folder, beam, batch, repeats)
            for (beam, batch), repeats in REPEATS.items()
        ]


def _row(folder, beam, batch, repeats):
    setting = {"folder": folder, "batch": batch, "beam": beam}
    contenders = {
        "default": (work.keras_seq, {"signature": "serving_default"}),
        "fast": (work.keras_seq, {"signature": "fast"}),
        "ctranslate2, 1 thread": (work.ctranslate2, {"threads": 1}),
        "ctranslate2, 2 threads": (work.ctranslate2, {"threads": 2}),
    }
    if beam == 1:
        contenders["keras_hub"] = (work.keras_hub, {})
    results = race(
        {
            name: Contender(factory, setting | more)
            for name, (factory, more) in contenders.items()
        },
        repeats=repeats,
        label=f"decoding, beam {beam}, batch {batch}",
    )
    speeds = {
        name: batch * TOKENS / result.seconds
        for name, result in results.items()
    }
    best_of_theirs = max(
        speed for name, speed in speeds.items() if "ctranslate2" in name
    )
    row = {"beam": beam, "batch": batch}
    if beam == 1:
        for name, wanted in zip(
            ("default", "fast"), TO_KERAS_HUB[batch], strict=True
        ):
            row[f"{name} / KerasHub"] = speeds[name] / speeds["keras_hub"]
            row[f"wanted of {name}"] = wanted
    row["fast / CTranslate2"] = speeds["fast"] / best_of_theirs
    row["wanted"] = TO_CTRANSLATE2[beam]
    return row | {
        f"{name} (tokens/s)": round(speed) for name, speed in speeds.items()
    }
