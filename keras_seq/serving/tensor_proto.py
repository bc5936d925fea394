"""Tensors as TensorFlow's messages carry them, checked before they are made.

A message may say that its one value stands a thousand million times. So its
shape is looked at first, and what would not fit into a request is refused.
"""

import math

import numpy as np

from keras_seq.serving.serving_error import bad_request
from keras_seq.serving.signature import TensorSpec
from keras_seq.serving.tensor_json import fits


def decode_proto(
    name: str, proto, spec: TensorSpec, max_bytes: int
) -> np.ndarray:
    """Return a `TensorProto` as an array.

    Args:
        name: Name of the input, for what goes wrong.
        proto: The message.
        spec: What the signature takes.
        max_bytes: How large the array may be.

    Raises:
        ServingError: It is too large, malformed, or of another type or shape.
    """
    import tensorflow as tf

    try:
        dtype = tf.as_dtype(proto.dtype)
    except (TypeError, KeyError) as error:
        raise bad_request(f"input {name!r} has no known type") from error
    if dtype.name != spec.dtype:
        raise bad_request(
            f"input {name!r} must hold values of type {spec.dtype}. "
            f"Received: {dtype.name}"
        )
    sizes = [dim.size for dim in proto.tensor_shape.dim]
    if proto.tensor_shape.unknown_rank or any(size < 0 for size in sizes):
        raise bad_request(f"input {name!r} must have a shape")
    if not fits(sizes, spec.shape):
        raise bad_request(
            f"input {name!r} must have the shape {spec.shape}. "
            f"Received: {sizes}"
        )
    # A string is at least a pointer.
    width = 8 if dtype == tf.string else dtype.size
    if math.prod(sizes) * width > max_bytes:
        raise bad_request(
            f"input {name!r} must not exceed {max_bytes} bytes. "
            f"Received: the shape {sizes}"
        )
    try:
        return tf.make_ndarray(proto)
    except (TypeError, ValueError) as error:
        raise bad_request(
            f"input {name!r} must hold as many values as its shape has places"
        ) from error
