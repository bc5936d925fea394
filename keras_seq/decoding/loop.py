"""The loop that decoding runs in, chosen by backend.

A TensorFlow graph has a loop whose tensors may grow; `keras.ops.while_loop` has
not. Run eagerly, a loop of Python does, on every backend.
"""

from typing import Any, NamedTuple

import keras
from keras import ops


class Probe(NamedTuple):
    """What one call of `step` shows, before any step is taken.

    Attributes:
        vocabulary_size: `V`.
        constants: Names of the state's entries that `step` returns as the
            very tensors it was given.
        shapes: Of each of the state's entries after the call.
    """

    vocabulary_size: int
    constants: frozenset
    shapes: dict[str, tuple]


def probe(step, token_ids, state) -> Probe:
    """Look at `step` from outside; costs nothing in a graph and on JAX."""
    found = {}

    def look(token_ids, state):
        logits, new, _ = step(token_ids, state)
        if new.keys() != state.keys():
            raise ValueError(
                "`step` must return a state with the entries it was given, "
                f"{sorted(state)}. Received: {sorted(new)}"
            )
        found["vocabulary_size"] = logits.shape[-1]
        found["constants"] = frozenset(k for k in state if new[k] is state[k])
        found["shapes"] = {k: tuple(new[k].shape) for k in state}
        return logits

    if keras.backend.backend() == "jax":
        import jax

        jax.eval_shape(look, token_ids, state)
    elif _is_tensorflow_graph():
        import tensorflow as tf

        # In a graph of its own, which is thrown away.
        tf.function(
            lambda: look(token_ids, state), autograph=False
        ).get_concrete_function()
    else:
        look(token_ids, state)
    if found["vocabulary_size"] is None:
        raise ValueError(
            "`step` must return logits (B, V) whose V is known while tracing. "
            "Received: V=None"
        )
    return Probe(**found)


def repeat_while(goes_on, body, carry, state, seen: Probe) -> dict[str, Any]:
    """Return `carry` after `body` was run as long as `goes_on(carry)`.

    Args:
        goes_on: `carry -> scalar bool`.
        body: `(carry, state) -> (carry, state)`; the shapes in `carry` stay.
            It is not run where one of them is known to hold nothing.
        carry: A dict of tensors.
        state: The model's; its constants do not pass through the loop.
        seen: What `probe` saw.
    """
    if any(0 in x.shape for x in carry.values()):
        return carry  # no row or no room; JAX cannot trace a turn of nothing
    constants = {k: x for k, x in state.items() if k in seen.constants}
    moving = {k: x for k, x in state.items() if k not in seen.constants}

    def turn(carry, moving):
        carry, state = body(carry, {**constants, **moving})
        return carry, {k: state[k] for k in moving}

    def condition(carry, _):
        return goes_on(carry)

    grows = any(
        tuple(x.shape)[1:] != seen.shapes[k][1:] for k, x in moving.items()
    )
    if _is_tensorflow_graph():
        loop = _tensorflow_loop
    elif keras.backend.backend() == "jax" and not grows:
        loop = ops.while_loop
    else:
        loop = _python_loop
    if loop is _tensorflow_loop:
        carry, _ = loop(condition, turn, carry, moving, seen.shapes)
    else:
        carry, _ = loop(condition, turn, (carry, moving))
    return carry


def _python_loop(condition, turn, variables):
    while bool(condition(*variables)):
        variables = turn(*variables)
    return variables


def _tensorflow_loop(condition, turn, carry, moving, shapes_after):
    import tensorflow as tf

    def either(before, after):
        batch, *rest = before
        sizes = zip(rest, after[1:], strict=True)
        rest = [n if n == m else None for n, m in sizes]
        return tf.TensorShape([batch, *rest])

    invariants = {
        name: either(x.shape, shapes_after[name]) for name, x in moving.items()
    }

    def turn_in_shape(carry, moving):
        carry, moving = turn(carry, moving)
        for name, tensor in moving.items():
            tensor.set_shape(invariants[name])
        return carry, moving

    return tf.while_loop(
        condition,
        turn_in_shape,
        (carry, moving),
        shape_invariants=(
            {k: x.shape for k, x in carry.items()},
            invariants,
        ),
    )


def pick_rows(x, rows):
    """Return `x[rows]`, for rows that exist.

    One operation where `keras.ops.take` is seven, since it sees to negative
    indices; a loop pays for each at every step.
    """
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        return tf.gather(x, rows)
    return ops.take(x, rows, axis=0)


def _is_tensorflow_graph():
    if keras.backend.backend() != "tensorflow":
        return False
    import tensorflow as tf

    return not tf.executing_eagerly()
