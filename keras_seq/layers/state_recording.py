"""Let someone outside see, and nudge, the states of recurrent layers.

While a `recording_states()` is open, every recurrent layer that runs hands in
what it read and the states it went through. A nudge that is added to each
state changes nothing if it is zero, and its gradient is $dL/dh_t$ (for an LSTM
also $dL/dc_t$), which no output of the layer would give.
"""

import contextlib
import contextvars
import dataclasses

from keras import ops

from keras_seq.ops.recurrence import state_history

_current = contextvars.ContextVar("state_recording", default=None)


@dataclasses.dataclass(frozen=True)
class StateRecord:
    """One run of a recurrent layer; time first, in the order of reading.

    Attributes:
        cell: The cell that was run.
        inputs: What it read, `(T, B, D)`.
        before: Each state before each step, `[(T, B, U), ...]`.
        after: Each state after each step, `[(T, B, U), ...]`.
        mask: True where a step was taken, `(T, B)`, or `None`.
    """

    cell: object
    inputs: object
    before: list
    after: list
    mask: object


@contextlib.contextmanager
def recording_states(nudges=None):
    """Collect `{layer path: StateRecord}` of what runs inside.

    Args:
        nudges: `{layer path: (T, B, S)}`, added to that layer's states, `S`
            wide in all, after each step.

    >>> from keras_seq.layers import LSTM
    >>> layer = LSTM(4, name="memory")
    >>> with recording_states() as found:
    ...     _ = layer(ops.ones((2, 5, 3)))
    >>> {name: tuple(r.after[0].shape) for name, r in found.items()}
    {'memory': (5, 2, 4)}
    """
    found = {}
    token = _current.set((found, nudges or {}))
    try:
        yield found
    finally:
        _current.reset(token)


def is_recording():
    """Return True if states are wanted by someone outside."""
    return _current.get() is not None


def record(layer, inputs, states, mask, training):
    """Run `layer.cell` as `layer` would, and hand in what happened."""
    found, nudges = _current.get()
    first = layer.path or layer.name
    name, call = first, 1
    while name in found:  # a layer that is called again, as shared ones are
        call += 1
        name = f"{first}:{call}"
    cell, nudge = layer.cell, nudges.get(name)
    weights = cell.step_weights(ops.shape(inputs)[1], training)
    x = cell.project(inputs, training)
    width = x.shape[-1]
    if nudge is not None:
        x = ops.concatenate([x, ops.cast(nudge, x.dtype)], axis=-1)

    def step(x, states):
        new = type(cell).step(
            x[..., :width], states, weights, **cell.settings()
        )
        if nudge is None:
            return new
        parts = ops.split(x[..., width:], len(new), axis=-1)
        return [s + part for s, part in zip(new, parts, strict=True)]

    after, finals = state_history(
        step,
        x,
        states,
        mask,
        window=layer.bptt_window,
        unroll=layer.unroll,
    )
    before = [
        ops.concatenate([ops.expand_dims(first, 0), later], axis=0)[:-1]
        for first, later in zip(states, after, strict=True)
    ]
    found[name] = StateRecord(cell, inputs, before, after, mask)
    return after[0], finals
