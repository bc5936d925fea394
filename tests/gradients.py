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
        derivative = jax.grad(
            lambda *x: ops.sum(ops.cast(function(*x), "float32")),
            argnums=tuple(range(len(tensors))),
        )
        found = jax.jit(derivative)(*tensors)  # compiled at once, not by op
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


def weight_gradients(layer, function, *inputs):
    """Return d sum(function(*inputs)) / d weight, for each trainable one."""
    backend = keras.backend.backend()
    tensors = [ops.convert_to_tensor(x) for x in inputs]
    weights = layer.trainable_weights

    def total():
        return ops.sum(ops.cast(function(*tensors), "float32"))

    if not weights:
        return []
    if backend == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            loss = total()
        found = tape.gradient(loss, [w.value for w in weights])
    elif backend == "jax":
        import jax

        def stateless(values):
            with keras.StatelessScope(zip(weights, values, strict=True)):
                return total()

        found = jax.jit(jax.grad(stateless))([w.value for w in weights])
    else:
        for weight in weights:
            weight.value.grad = None
        total().backward()
        found = [w.value.grad for w in weights]
    return [ops.convert_to_numpy(g) for g in found]
