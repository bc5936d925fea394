"""Matrix products, in the form that TensorFlow is fastest at.

`keras.ops.matmul` has no transpose flags, so a transposed operand is first
copied; of a `T x S` matrix that is as dear as the product's own traffic.
TensorFlow's kernel reads it in place. And only `bias_add` has a gradient
kernel of its own, and is fused with the product before it.
"""

import keras
from keras import ops

from keras_seq.ops.portable import is_portable

if keras.backend.backend() == "tensorflow":
    import tensorflow as tf

    def times_transposed(a, b):
        """`(..., T, D)` and `(..., S, D)` -> `(..., T, S)`, a times b^T."""
        return tf.matmul(a, b, transpose_b=True)

    def transposed_times(a, b):
        """`(..., T, S)` and `(..., T, D)` -> `(..., S, D)`, a^T times b."""
        return tf.matmul(a, b, transpose_a=True)

    _add_bias = tf.nn.bias_add

else:  # copies are views, or the compiler's business

    def times_transposed(a, b):
        """`(..., T, D)` and `(..., S, D)` -> `(..., T, S)`, a times b^T."""
        return ops.matmul(a, ops.swapaxes(b, -1, -2))

    def transposed_times(a, b):
        """`(..., T, S)` and `(..., T, D)` -> `(..., S, D)`, a^T times b."""
        return ops.matmul(ops.swapaxes(a, -1, -2), b)

    _add_bias = ops.add


def affine(x, kernel, bias=None):
    """Return `(..., D)` times `(D, E)`, plus `(E,)`, as one flat product."""
    if is_portable():  # a flat batch has a shape that ONNX loses
        product = ops.matmul(x, kernel)
        return product if bias is None else product + bias
    *leading, width = ops.shape(x)
    flat = x if len(leading) == 1 else ops.reshape(x, (-1, width))
    product = ops.matmul(flat, kernel)
    if bias is not None:
        product = _add_bias(product, bias)
    if len(leading) == 1:
        return product
    return ops.reshape(product, (*leading, kernel.shape[-1]))
