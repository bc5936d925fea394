"""Training a Transformer: our `fit` beside KerasHub under `fit` and PyTorch."""

from benchmarks import training_work as work
from benchmarks.race import Contender, race

STEPS = 4  # a turn
# What the ratios must reach.
TO_KERAS_HUB, TO_TORCH = 1.7, 1.0


def run():
    """Return one row a contender; the last one is what bounds ours."""
    contenders = {
        "KerasHub layers, fit": Contender(work.keras_hub_fit, {}),
        "PyTorch nn.Transformer": Contender(work.torch_loop, {}),
        "keras_seq, fit": Contender(work.keras_seq_fit, {}),
        "keras_seq, fit, attention not dropped": Contender(
            work.keras_seq_fit, {"attention_dropout": 0.0}
        ),
        "the matrix products alone": Contender(work.products_alone, {}),
    }
    results = race(
        {
            name: Contender(c.factory, {"steps": STEPS, **c.arguments})
            for name, c in contenders.items()
        },
        repeats=9,
        label="training",
    )
    keras_hub, torch = list(results.values())[:2]
    return [
        {
            "trained by": name,
            "tokens/s": STEPS * work.BATCH * work.LENGTH / result.seconds,
            "ratio to KerasHub": keras_hub.seconds / result.seconds,
            "wanted": TO_KERAS_HUB,
            "ratio to PyTorch": torch.seconds / result.seconds,
            "wanted of it": TO_TORCH,
            "ms a step": 1e3 * result.seconds / STEPS,
            "memory (MB)": result.megabytes,
        }
        for name, result in results.items()
    ]
