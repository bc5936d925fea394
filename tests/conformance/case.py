"""What a conformance case is: a layer off its defaults, and what to feed it."""

import dataclasses
from collections.abc import Callable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Case:
    """How to make one public layer, and the inputs its call takes.

    Attributes:
        make: Builds the layer with *no* argument at its default value.
        shapes: One shape per positional input; axis 0 is the batch, axis 1
            the sequence. Distinct primes, so that no axis can pass for another.
        dtypes: One per input. Integers are drawn from `[0, high)`.
        high: Upper bound of integer inputs.
        call: How to call it, for layers that need more than `layer(*inputs)`.
        has_sequence: False for layers whose axis 1 is not a sequence.
        half_atol: How far half precision may stray from full precision.
    """

    make: Callable
    shapes: list
    dtypes: tuple = ()
    high: int = 5
    call: Callable = lambda layer, *inputs: layer(*inputs)
    has_sequence: bool = True
    half_atol: float = 3e-2

    def input_dtypes(self):
        return self.dtypes or ("float32",) * len(self.shapes)

    def sample(self, seed=0, batch=None, length=None):
        """Random inputs, optionally with another batch size or length."""
        rng = np.random.default_rng(seed)
        arrays = []
        for shape, dtype in zip(self.shapes, self.input_dtypes(), strict=True):
            shape = list(shape)
            if batch is not None:
                shape[0] = batch
            if length is not None:
                shape[1] = length
            if dtype.startswith("int"):
                arrays.append(rng.integers(0, self.high, shape).astype(dtype))
            else:
                arrays.append(rng.normal(size=shape).astype(dtype))
        return arrays
