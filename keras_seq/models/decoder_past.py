"""What a Transformer's decoder remembers of the tokens before.

For K hypotheses a row, which beam search keeps, all K new keys are put beside
those of the steps before, and stay there: `(B, H, L * K, D)`. Which of them a
hypothesis descends from is a row of numbers to add to its scores, `lineage`.
So when hypotheses change places, those few numbers are copied and not the keys
and values; and K queries at a time meet the keys of their row in one product.
"""

import numpy as np
from keras import ops

from keras_seq.ops.masks import HIDDEN
from keras_seq.ops.positions import (
    angles,
    sinusoidal_encoding,
    wave_frequencies,
)


def past_of(state, name, beam_size):
    """Return the past that `state` holds, by the name of one of its keys."""
    kind = _Growing if "position" not in state else _Fixed
    return kind(state, name, beam_size)


def first_lineage(state, name, beam_size):
    """Return `(B * K, L * K)`: all hypotheses begin as one, each on its own."""
    batch, _, length, _ = ops.shape(state[name])
    own = ops.tile(_own(beam_size), (batch, length))
    if "position" not in state:
        return own
    step = ops.arange(length * beam_size, dtype="int32") // beam_size
    return ops.where(step < _steps_so_far(state), own, HIDDEN)


def _own(beam_size):
    """Return `(K, K)`: a hypothesis sees what it wrote itself."""
    return ops.where(ops.eye(beam_size, dtype="bool"), 0.0, HIDDEN)


def _steps_so_far(state):
    # All rows take their steps together. (There may be no row.)
    return ops.max(state["position"], initial=0)


class _Past:
    """`bias`, what to add to scores `(B, 1, K, L * K)`, or `None`."""

    bias = None

    def __init__(self, state, name, beam_size):
        self.beam_size = beam_size
        self.moved_on = {}
        self.look_at(state, name)
        if beam_size > 1:
            lineage = self.with_own(state["lineage"])
            self.moved_on["lineage"] = lineage
            width = ops.shape(lineage)[1]
            self.bias = ops.reshape(lineage, (-1, 1, beam_size, width))

    def own_columns(self, lineage):
        """Return `(B * K, K)`, for the columns of this step."""
        rows = ops.shape(lineage)[0] // self.beam_size
        return ops.tile(_own(self.beam_size), (rows, 1))

    def encoding(self, width):
        """Return the encoding of this step's position, `(1, D)`."""
        return sinusoidal_encoding(ops.reshape(self.step, (1,)), width)

    def turn(self, width, max_wavelength):
        """Return cosines and sines, each `(1, width)`, of this step's turn."""
        theta = wave_frequencies(
            np.arange(width) % (width // 2), width, max_wavelength
        )
        angle = angles(ops.reshape(self.step, (1,)), theta)
        return ops.cos(angle), ops.sin(angle)


class _Growing(_Past):
    """A past that is joined by each step."""

    def look_at(self, state, name):
        self.step = ops.shape(state[name])[2] // self.beam_size

    def with_own(self, lineage):
        return ops.concatenate([lineage, self.own_columns(lineage)], axis=1)

    def join(self, past, new):
        return ops.concatenate([past, new], axis=2)


class _Fixed(_Past):
    """Room for a number of steps, of which the first few are taken."""

    def look_at(self, state, name):
        self.step = _steps_so_far(state)
        self.moved_on["position"] = state["position"] + 1
        # A tensor, if XLA is to find it out from the shape of the source.
        length = ops.shape(state[name])[2]
        self.check_room(length)
        place = ops.arange(length, dtype="int32")
        hidden = ops.where(place <= self.step, 0.0, HIDDEN)
        self.bias = ops.reshape(hidden, (1, 1, 1, length))

    def check_room(self, length):
        """Refuse a step that there is no room for, where that is known."""
        try:
            step, room = int(self.step), int(length) // self.beam_size
        except (TypeError, ValueError, RuntimeError):
            return  # a graph is being made: its loop has a limit
        if step >= room:
            raise ValueError(
                "`max_length` of `start` must be as many steps as are taken. "
                f"Received: max_length={room}, step {step + 1}"
            )

    def with_own(self, lineage):
        here = (0, self.step * self.beam_size)
        return ops.slice_update(lineage, here, self.own_columns(lineage))

    def join(self, past, new):
        here = (0, 0, self.step * self.beam_size, 0)
        return ops.slice_update(past, here, new)
