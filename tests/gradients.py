"""Gradients by whichever backend is running, as NumPy arrays."""

import keras
from keras import ops


def gradients(function, *inputs):
    """Return d sum(function(*inputs)) / d input, one array per input."""
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        tensors = [tf.convert_to_tensor(x) for x in inputs]
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            total = tf.reduce_sum(tf.cast(function(*tensors), tf.float32))
        found = tape.gradient(total, tensors)
        found = [
            tf.zeros_like(t) if g is None else g
            for g, t in zip(found, tensors, strict=True)
        ]
    elif backend == "jax":
        import jax

        tensors = [ops.convert_to_tensor(x) for x in inputs]
        found = jax.grad(
            lambda *x: ops.sum(ops.cast(function(*x), "float32")),
            argnums=tuple(range(len(tensors))),
        )(*tensors)
    else:
        tensors = [
            ops.convert_to_tensor(x).detach().clone().requires_grad_()
            for x in inputs
        ]
        total = ops.sum(ops.cast(function(*tensors), "float32"))
        total.backward()
        found = [
            ops.zeros_like(t) if t.grad is None else t.grad for t in tensors
        ]
    return [ops.convert_to_numpy(g) for g in found]
