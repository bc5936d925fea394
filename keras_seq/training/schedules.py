r"""Learning rates that warm up, then fall.

Steps are counted from 1 as in the papers: Keras asks for step 0 at the first
update, and gets what step 1 would.
"""

import math

import keras
from keras import ops


class _WarmupSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """A straight line from 0 to `peak` at `warmup_steps`, then `after(t)`."""

    def __init__(self, peak, warmup_steps):
        if peak <= 0:
            raise ValueError(f"`peak` must be positive. Received: peak={peak}")
        if warmup_steps < 1:
            raise ValueError(
                "`warmup_steps` must be at least 1. "
                f"Received: warmup_steps={warmup_steps}"
            )
        self.peak = peak
        self.warmup_steps = warmup_steps

    def after(self, step):
        """Return the learning rate at a float `step >= warmup_steps`."""
        raise NotImplementedError

    def __call__(self, step):
        step = ops.maximum(ops.cast(step, "float32"), 1.0)
        warmup_steps = float(self.warmup_steps)
        rising = self.peak * step / warmup_steps
        falling = self.after(ops.maximum(step, warmup_steps))
        return ops.where(step < warmup_steps, rising, falling)

    def get_config(self):
        return {"peak": self.peak, "warmup_steps": self.warmup_steps}


@keras.saving.register_keras_serializable(package="keras_seq")
class WarmupInverseSquareRoot(_WarmupSchedule):
    r"""Warm-up to `peak`, then falling as one over the root of the step.

    $$ \eta(t) = \text{peak} \cdot
       \min\left(\frac{t}{w}, \sqrt{\frac{w}{t}}\right) $$

    Args:
        peak: Learning rate at the top, reached at `warmup_steps`.
        warmup_steps: $w$, updates until the top.

    Example:
        >>> schedule = WarmupInverseSquareRoot(peak=1e-3, warmup_steps=100)
        >>> [f"{float(schedule(t)):.1e}" for t in (1, 100, 400)]
        ['1.0e-05', '1.0e-03', '5.0e-04']
    """

    def after(self, step):
        return self.peak * ops.sqrt(self.warmup_steps / step)


@keras.saving.register_keras_serializable(package="keras_seq")
class Noam(WarmupInverseSquareRoot):
    r"""The schedule of "Attention is all you need", section 5.3.

    $$ \eta(t) = \text{scale} \cdot D^{-1/2} \cdot
       \min\left(t^{-1/2},\; t \cdot w^{-3/2}\right) $$

    Args:
        hidden_dim: $D$, width of the model.
        warmup_steps: $w$, updates until the top.
        scale: Factor on the whole curve.

    Example:
        >>> schedule = Noam(hidden_dim=512)
        >>> [f"{float(schedule(t)):.4e}" for t in (1, 4000)]
        ['1.7469e-07', '6.9877e-04']

    Reference: <https://arxiv.org/abs/1706.03762>
    """

    def __init__(self, hidden_dim, warmup_steps=4000, scale=1.0):
        if hidden_dim < 1:
            raise ValueError(
                "`hidden_dim` must be at least 1. "
                f"Received: hidden_dim={hidden_dim}"
            )
        super().__init__(
            peak=scale * (hidden_dim * max(warmup_steps, 1)) ** -0.5,
            warmup_steps=warmup_steps,
        )
        self.hidden_dim = hidden_dim
        self.scale = scale

    def get_config(self):
        return {
            "hidden_dim": self.hidden_dim,
            "warmup_steps": self.warmup_steps,
            "scale": self.scale,
        }


class _WarmupDecaySchedule(_WarmupSchedule):
    """Warm-up to `peak`, then down to `floor` at `total_steps`, then flat."""

    def __init__(self, peak, warmup_steps, total_steps, floor=0.0):
        super().__init__(peak, warmup_steps)
        if total_steps <= warmup_steps:
            raise ValueError(
                "`total_steps` must be more than `warmup_steps`. Received: "
                f"total_steps={total_steps}, warmup_steps={warmup_steps}"
            )
        if not 0 <= floor <= peak:
            raise ValueError(
                "`floor` must lie between 0 and `peak`. "
                f"Received: floor={floor}, peak={peak}"
            )
        self.total_steps = total_steps
        self.floor = floor

    def left(self, done):
        """Return the share of `peak - floor` left at `done` in [0, 1]."""
        raise NotImplementedError

    def after(self, step):
        done = (step - self.warmup_steps) / (
            self.total_steps - self.warmup_steps
        )
        left = self.left(ops.minimum(done, 1.0))
        return self.floor + (self.peak - self.floor) * left

    def get_config(self):
        return {
            **super().get_config(),
            "total_steps": self.total_steps,
            "floor": self.floor,
        }


@keras.saving.register_keras_serializable(package="keras_seq")
class WarmupCosine(_WarmupDecaySchedule):
    r"""Warm-up to `peak`, then half a cosine down to `floor`.

    $$ \eta(t) = \text{floor} + \tfrac12 (\text{peak} - \text{floor})
       \left(1 + \cos \pi \frac{t - w}{n - w}\right), \quad w \le t \le n $$

    Args:
        peak: Learning rate at the top, reached at `warmup_steps`.
        warmup_steps: $w$, updates until the top.
        total_steps: $n$, updates until `floor`, which then stays.
        floor: Learning rate at the end.

    Example:
        >>> schedule = WarmupCosine(1e-3, warmup_steps=10, total_steps=110)
        >>> [f"{float(schedule(t)):.1e}" for t in (5, 10, 60, 110, 200)]
        ['5.0e-04', '1.0e-03', '5.0e-04', '0.0e+00', '0.0e+00']
    """

    def left(self, done):
        return 0.5 * (1.0 + ops.cos(math.pi * done))


@keras.saving.register_keras_serializable(package="keras_seq")
class WarmupLinear(_WarmupDecaySchedule):
    r"""Warm-up to `peak`, then a straight line down to `floor`.

    $$ \eta(t) = \text{floor} + (\text{peak} - \text{floor})
       \frac{n - t}{n - w}, \quad w \le t \le n $$

    Args:
        peak: Learning rate at the top, reached at `warmup_steps`.
        warmup_steps: $w$, updates until the top.
        total_steps: $n$, updates until `floor`, which then stays.
        floor: Learning rate at the end.

    Example:
        >>> schedule = WarmupLinear(1e-3, warmup_steps=10, total_steps=110)
        >>> [f"{float(schedule(t)):.1e}" for t in (5, 10, 60, 110, 200)]
        ['5.0e-04', '1.0e-03', '5.0e-04', '0.0e+00', '0.0e+00']
    """

    def left(self, done):
        return 1.0 - done
