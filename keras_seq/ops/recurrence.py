"""Run a recurrent cell over time: masks, carried state, truncated gradients."""

import keras
from keras import ops

from keras_seq.ops.portable import is_portable


def recur(
    step,
    inputs,
    states,
    weights=(),
    mask=None,
    *,
    return_history=True,
    window=None,
    unroll=False,
    training=False,
    **settings,
):
    r"""Apply $s_t = \mathrm{step}(x_t, s_{t-1})$ from the first step on.

    Shapes:
        inputs `(T, B, ...)`, states `[(B, U), ...]`, mask `(T, B)`
        -> history of the first state `(T, B, U)`, final states
        `[(B, U), ...]`.

    Masking: where `mask` is False the states are carried through unchanged,
    so a row gives what it would give with those steps cut out. The history
    repeats the carried state there. What stands in a masked input must be
    finite, for the sake of the gradients.

    Args:
        step: `step(x, states, weights, **settings) -> states`, as in
            `keras_seq.ops.rnn_cells`.
        inputs: One input per step, time first.
        states: The states before the first step.
        weights: Passed to `step`; a flat tuple of tensors and `None`.
        mask: True where a step is to be taken.
        return_history: False returns `None` for the history.
        window: Truncated backpropagation through time: no gradient passes
            from step `window`, `2 * window`, ... to the step before; the
            state does.
        unroll: Write the steps out instead of looping, if `T` is static.
        training: True if gradients are sure to be wanted. A graph of
            TensorFlow then remembers on its way what they need, and takes
            them in less time. Without it they are the same.
        **settings: Passed to `step`.

    Example: a running sum of which one step is skipped.

        >>> x = ops.reshape(ops.arange(1.0, 5.0), (4, 1, 1))
        >>> add = lambda x, states, weights: [states[0] + x]
        >>> mask = ops.convert_to_tensor([[True], [False], [True], [True]])
        >>> history, _ = recur(add, x, [ops.zeros((1, 1))], mask=mask)
        >>> ops.reshape(history, (-1,)).numpy().tolist()
        [1.0, 1.0, 4.0, 8.0]
    """
    if window is not None and window < 1:
        raise ValueError(f"`window` must be positive. Received: {window}")

    cell = None
    if training and not unroll and inputs.shape[0] != 0:
        cell = _gradient_by_hand(step, settings)
    if cell is not None:
        from keras_seq.ops import tensorflow_bptt

        history, states = tensorflow_bptt.recur(
            cell, inputs, states, weights, mask, window
        )
    else:

        def one_step(x, states):
            return step(x, states, weights, **settings)

        (history, *_), states = state_history(
            one_step, inputs, states, mask, window=window, unroll=unroll
        )
    return (history if return_history else None), states


def _gradient_by_hand(step, settings):
    """In a graph of TensorFlow, where it is faster; else `None`."""
    if keras.backend.backend() != "tensorflow":
        return None
    import tensorflow as tf

    from keras_seq.ops.tensorflow_bptt import gradient_of

    return None if tf.executing_eagerly() else gradient_of(step, settings)


def state_history(
    step, inputs, states, mask=None, *, window=None, unroll=False
):
    """As `recur`, with a step of two arguments and *every* state's history."""
    length = inputs.shape[0]
    states = [ops.convert_to_tensor(s) for s in states]
    if length == 0:
        empty = [ops.zeros((0, *ops.shape(s)), dtype=s.dtype) for s in states]
        return empty, states
    steps = [inputs]
    if mask is not None:
        steps.append(ops.expand_dims(ops.cast(mask, "bool"), -1))
    if window is not None:
        time = ops.arange(ops.shape(inputs)[0], dtype="int32")
        steps.append(ops.logical_and(time > 0, time % window == 0))

    def body(states, step_inputs):
        x, *rest = step_inputs
        if window is not None:
            cut = rest.pop()
            states = [ops.where(cut, ops.stop_gradient(s), s) for s in states]
        new = step(x, states)
        if mask is not None:
            new = [
                ops.where(rest[0], n, s)
                for n, s in zip(new, states, strict=True)
            ]
        return list(new), list(new)

    backend = keras.backend.backend()
    if (unroll and length is not None) or backend == "torch":
        return _written_out(body, states, steps)
    if backend == "tensorflow":
        loop = _portable_loop if is_portable() else _tensorflow_loop
        return loop(body, states, steps)
    states, history = ops.scan(body, states, steps)
    return history, states


def _written_out(body, states, steps):
    history = []
    for t in range(steps[0].shape[0]):
        states, _ = body(states, [x[t] for x in steps])
        history.append(states)
    return [ops.stack(h) for h in zip(*history, strict=True)], states


def _tensorflow_loop(body, states, steps):
    # Not `ops.scan`, which in Keras 3.15 cannot scan over several inputs at
    # once when their length is dynamic.
    import tensorflow as tf

    length = tf.shape(steps[0])[0]
    queues = [tf.TensorArray(x.dtype, size=length).unstack(x) for x in steps]
    # The states before the first step are entry 0, so that no history is
    # empty: TensorFlow cannot stack nothing when the batch size is dynamic.
    history = [
        tf.TensorArray(s.dtype, length + 1, element_shape=s.shape).write(0, s)
        for s in states
    ]

    def loop_body(t, states, history):
        states, _ = body(list(states), [queue.read(t) for queue in queues])
        t = t + 1
        history = [h.write(t, s) for h, s in zip(history, states, strict=True)]
        return t, states, history

    _, states, history = tf.while_loop(
        lambda t, *_: t < length,
        loop_body,
        (0, list(states), history),
        maximum_iterations=length,  # lets XLA differentiate the loop
    )
    return [h.stack()[1:] for h in history], list(states)


def _portable_loop(body, states, steps):
    """As `_tensorflow_loop`, with tensors where that has lists of tensors.

    Each step copies the history, which other runtimes may do in place.
    """
    import tensorflow as tf

    length = tf.shape(steps[0])[0]
    history = [
        tf.zeros(tf.concat([[length], tf.shape(s)], axis=0), s.dtype)
        for s in states
    ]

    def loop_body(t, states, history):
        states, _ = body(list(states), [tf.gather(x, t) for x in steps])
        place = tf.reshape(t, (1, 1))
        history = [
            tf.tensor_scatter_nd_update(h, place, tf.expand_dims(s, 0))
            for h, s in zip(history, states, strict=True)
        ]
        return t + 1, states, history

    _, states, history = tf.while_loop(
        lambda t, *_: t < length, loop_body, (0, list(states), history)
    )
    return history, list(states)
