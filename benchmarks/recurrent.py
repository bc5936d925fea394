"""Bidirectional LSTM beside Keras's and PyTorch's: one training step."""

from benchmarks import recurrent_work as work
from benchmarks.race import Contender, race

PEERS = {
    "keras": work.keras_lstm,
    "keras_seq": work.keras_seq_lstm,
    "torch": work.torch_lstm,
}
# What the ratio to Keras must reach.
TARGET = 1.15


def run():
    """Return rows of figures, one per way to run TensorFlow."""
    rows = []
    for name, jit_compile in (("graph", False), ("XLA", True)):
        arguments = {"jit_compile": jit_compile}
        results = race(
            {n: Contender(f, arguments) for n, f in PEERS.items()},
            repeats=15,
            label=f"bidirectional LSTM, {name}",
        )
        keras, ours = results["keras"], results["keras_seq"]
        rows.append(
            {
                "TensorFlow": name,
                "ours / keras": keras.seconds / ours.seconds,
                "target": TARGET,
                "torch / keras": keras.seconds / results["torch"].seconds,
                "keras (ms)": 1e3 * keras.seconds,
                "memory ours (MB)": ours.megabytes,
                "memory keras (MB)": keras.megabytes,
                "memory torch (MB)": results["torch"].megabytes,
            }
        )
    return rows
