"""Stop when a metric no longer improves, and go back to its best epoch."""

import dataclasses
import math

_SMALLER_IS_BETTER = ("loss", "entropy", "perplexity", "error")


@dataclasses.dataclass(frozen=True)
class EarlyStopping:
    """When to stop, by any number in the logs of an epoch.

    Arguments are those of `keras.callbacks.EarlyStopping`. Differs from it:
    the best weights are kept by default, also across a restart, and
    `patience=None` never stops and only goes back to the best epoch.

    Args:
        monitor: Name in the logs: `"val_loss"`, `"val_token_accuracy"`, or
            what `fit(evaluate=...)` returns, such as `"bleu"`.
        mode: `"min"`, `"max"`, or `"auto"`: smaller is better for names with
            loss, entropy, perplexity or error in them, larger for others.
        patience: Epochs without improvement before the run stops.
        min_delta: Smaller changes do not count as improvement.
        restore_best_weights: Whether the model ends with the weights of the
            best epoch.
    """

    monitor: str = "val_loss"
    mode: str = "auto"
    patience: int | None = 3
    min_delta: float = 0.0
    restore_best_weights: bool = True

    def __post_init__(self):
        if self.mode not in ("auto", "min", "max"):
            raise ValueError(
                '`mode` must be "auto", "min" or "max". '
                f"Received: mode={self.mode!r}"
            )
        if self.patience is not None and self.patience < 1:
            raise ValueError(
                "`patience` must be at least 1, or None. "
                f"Received: patience={self.patience}"
            )

    @property
    def larger_is_better(self) -> bool:
        if self.mode != "auto":
            return self.mode == "max"
        return not any(word in self.monitor for word in _SMALLER_IS_BETTER)


class BestSoFar:
    """The best epoch of a run, and for how long it has been the best.

    Args:
        rule: An `EarlyStopping`.

    Example:
        >>> best = BestSoFar(EarlyStopping("bleu", patience=2))
        >>> for epoch, bleu in enumerate([10.0, 30.0, 20.0, 25.0], start=1):
        ...     improved = best.update(epoch, {"bleu": bleu})
        >>> best.epoch, best.value, best.should_stop
        (2, 30.0, True)
    """

    def __init__(self, rule: EarlyStopping):
        self.rule = rule
        self.epoch: int | None = None
        self.value: float | None = None
        self.waited = 0

    def update(self, epoch: int, logs: dict) -> bool:
        """Take in the logs of an epoch; return whether it is the best."""
        self.check_monitor(logs)
        value = float(logs[self.rule.monitor])
        if self._improves(value):
            self.epoch, self.value, self.waited = epoch, value, 0
            return True
        self.waited += 1
        return False

    def check_monitor(self, names) -> None:
        """Raise `ValueError` if the metric is not among `names`."""
        if self.rule.monitor not in names:
            raise ValueError(
                f"`monitor` must be one of {sorted(names)}. "
                f"Received: monitor={self.rule.monitor!r}"
            )

    @property
    def should_stop(self) -> bool:
        patience = self.rule.patience
        return patience is not None and self.waited >= patience

    def state(self) -> dict:
        return {"epoch": self.epoch, "value": self.value, "waited": self.waited}

    def load(self, state: dict) -> None:
        self.epoch = state["epoch"]
        self.value = state["value"]
        self.waited = state["waited"]

    def _improves(self, value):
        if math.isnan(value):
            return False
        if self.value is None:
            return True
        gain = value - self.value
        if not self.rule.larger_is_better:
            gain = -gain
        return gain > self.rule.min_delta
