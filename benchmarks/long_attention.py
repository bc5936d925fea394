"""Exact attention on long sequences beside Keras's: memory first, then time."""

from benchmarks import attention_work as work
from benchmarks.race import Contender, race

LENGTH = 8192


def run():
    """Return rows of figures at n = 8192, forward, causal and not."""
    rows = []
    for causal in (True, False):
        arguments = dict(length=LENGTH, batch=1, backward=False, causal=causal)
        results = race(
            {
                "keras": Contender(work.keras_attention, arguments),
                "keras_seq": Contender(work.keras_seq_attention, arguments),
            },
            repeats=5,
            label=f"long attention n={LENGTH}",
        )
        keras, ours = results["keras"], results["keras_seq"]
        rows.append(
            {
                "n": LENGTH,
                "causal": causal,
                "time ours / keras": ours.seconds / keras.seconds,
                "time target": 1.2,
                "memory ours / keras": ours.megabytes / keras.megabytes,
                "memory target": 1 / 8,
                "memory ours (MB)": ours.megabytes,
                "memory keras (MB)": keras.megabytes,
            }
        )
    return rows
