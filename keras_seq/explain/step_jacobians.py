"""The Jacobian of one step of a recurrent layer, at every step it took."""

import numpy as np
from keras import ops

from keras_seq.explain.gradients import gradients

# Rows of states that are pushed through the cell at once.
ROWS = 8192


def step_jacobians(record, taken, example=0):
    r"""Return $ds_t / ds_{t-1}$ of one row of a batch, the last step first.

    Args:
        record: A `StateRecord`.
        taken: True where a step was taken, array `(T, B)`.
        example: Which row.

    Returns:
        `(T', S, S)` for the `T'` steps that were taken; `S` is the width of
        all states together, and row `i` of a Jacobian belongs to the new
        state's entry `i`.
    """
    taken = np.nonzero(taken[:, example])[0][::-1]
    cell = record.cell
    width = cell.units * cell.num_states()
    inputs = ops.convert_to_numpy(record.inputs)[taken, example]
    states = [ops.convert_to_numpy(s)[taken, example] for s in record.before]
    per_call = max(1, ROWS // width)
    parts = [
        _jacobians(
            cell,
            inputs[start : start + per_call],
            [state[start : start + per_call] for state in states],
        )
        for start in range(0, len(taken), per_call)
    ]
    return np.concatenate([np.zeros((0, width, width)), *parts])


def _jacobians(cell, inputs, states):
    """One Jacobian per row, by asking each copy of a row for one entry."""
    rows, width = len(inputs), cell.units * len(states)
    copies = [np.repeat(array, width, axis=0) for array in (inputs, *states)]
    asked = ops.convert_to_tensor(
        np.tile(np.eye(width, dtype=inputs.dtype), (rows, 1))
    )

    def answers(*states):
        _, new = cell(ops.convert_to_tensor(copies[0]), list(states))
        return ops.sum(ops.concatenate(new, axis=-1) * asked)

    found = np.concatenate(gradients(answers, copies[1:]), axis=-1)
    return found.reshape(rows, width, width).astype("float64")
