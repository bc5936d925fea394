"""Multi-head attention beside Keras's and PyTorch's, causal, by length."""

from benchmarks import attention_work as work
from benchmarks.race import Contender, race

BATCH = 8
PEERS = {
    "keras": work.keras_attention,
    "keras_seq": work.keras_seq_attention,
    "torch": work.torch_attention,
    "projections": work.projections_alone,
}
# What the ratio to Keras must reach, forward and forward+backward.
TARGETS = {64: (1.5, 2.0), 256: (1.2, 1.35), 1024: (1.3, 1.4)}


def run():
    """Return rows of figures, one per length and direction."""
    rows = []
    for length, targets in TARGETS.items():
        for backward, target in zip((False, True), targets, strict=True):
            arguments = dict(length=length, batch=BATCH, backward=backward)
            direction = "f+b" if backward else "fwd"
            results = race(
                {n: Contender(f, arguments) for n, f in PEERS.items()},
                repeats=25 if length < 1024 else 9,
                label=f"attention n={length} {direction}",
            )
            keras, ours = results["keras"], results["keras_seq"]
            rows.append(
                {
                    "n": length,
                    "direction": direction,
                    "ours / keras": keras.seconds / ours.seconds,
                    "target": target,
                    "torch / keras": keras.seconds / results["torch"].seconds,
                    "projections alone / keras": (
                        keras.seconds / results["projections"].seconds
                    ),
                    "memory ours (MB)": ours.megabytes,
                    "memory keras (MB)": keras.megabytes,
                    "memory torch (MB)": results["torch"].megabytes,
                }
            )
    return rows
