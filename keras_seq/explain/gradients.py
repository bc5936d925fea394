"""Gradients by whichever backend Keras runs on."""

import keras
from keras import ops


def gradients(function, tensors):
    """Return d function(*tensors) / d tensor for each, as NumPy arrays.

    Args:
        function: Takes the tensors, returns a scalar.
        tensors: Floating-point tensors or arrays.

    >>> gradients(lambda x: ops.sum(x**2), [ops.ones((2,))])[0].tolist()
    [2.0, 2.0]
    """
    backend = keras.backend.backend()
    tensors = [ops.convert_to_tensor(tensor) for tensor in tensors]
    if backend == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(tensors)
            value = function(*tensors)
        found = tape.gradient(
            value, tensors, unconnected_gradients=tf.UnconnectedGradients.ZERO
        )
    elif backend == "jax":
        import jax

        found = jax.grad(lambda values: function(*values))(tensors)
    else:
        import torch

        tensors = [t.detach().clone().requires_grad_() for t in tensors]
        # Not `backward()`, which would leave gradients in the weights.
        found = torch.autograd.grad(
            function(*tensors),
            tensors,
            allow_unused=True,
            materialize_grads=True,
        )
    return [ops.convert_to_numpy(gradient) for gradient in found]
