"""What a classifier gives each class, before its softmax."""

import keras
import numpy as np
from keras import ops

from keras_seq.explain.layer_tree import named_layers

_SQUASHING = (keras.activations.softmax, keras.activations.sigmoid)


def checked_images(images):
    """Return images as a tensor `(B, H, W, D)` of floats."""
    images = ops.convert_to_tensor(images)
    # TensorFlow's convolution of no image fails, with a message of its own.
    if len(images.shape) != 4 or 0 in images.shape:
        raise ValueError(
            "`images` must have the shape (B, height, width, channels), with "
            f"at least one. Received: shape {tuple(images.shape)}"
        )
    is_float = "float" in keras.backend.standardize_dtype(images.dtype)
    return images if is_float else ops.cast(images, "float32")


def layers_of(model):
    """Return `{path: layer}` of a model that can be looked into."""
    if not isinstance(model, keras.Model):
        raise ValueError(
            "`model` must be a Keras model. "
            f"Received: {model!r} (of type {type(model).__name__})"
        )
    return named_layers(model)


def as_array(x):
    """Return a tensor of any precision as a float64 array."""
    return ops.convert_to_numpy(ops.cast(x, "float32")).astype("float64")


def last_activation(calls, outputs):
    """Return the layer that made probabilities of scores, or None.

    Args:
        calls: `LayerCall`s of all layers in a run, as arrays can be read from.
        outputs: What the model returned; it must be one tensor `(B, C)`.
    """
    if not hasattr(outputs, "shape") or len(outputs.shape) != 2:
        raise ValueError(
            "`model` must have one output, a tensor (B, classes); of one with "
            "several, take `keras.Model(model.input, model.output[0])`. "
            f"Received: {_shapes(outputs)}"
        )
    for call in reversed(calls):
        if not _squashes(call.layer):
            continue
        # Else what it made went on through other layers.
        is_last = np.array_equal(as_array(call.output), as_array(outputs))
        return call.layer if is_last else None
    return None


def class_scores(calls, outputs, activation):
    """Return scores `(B, C)` float32 of a run; gradients pass.

    Args:
        calls: `LayerCall`s of the run, those of `activation` among them.
        outputs: What the model returned.
        activation: What `last_activation` found.
    """
    if activation is None:
        return ops.cast(outputs, "float32")
    x = next(c.inputs for c in reversed(calls) if c.layer is activation)
    x = ops.cast(x, "float32")
    if isinstance(activation, keras.layers.Dense):
        x = ops.matmul(x, ops.cast(activation.kernel, "float32"))
        if activation.use_bias:
            x = x + ops.cast(activation.bias, "float32")
    return x


def _squashes(layer):
    if isinstance(layer, (keras.layers.Dense, keras.layers.Activation)):
        return any(layer.activation is function for function in _SQUASHING)
    return isinstance(layer, keras.layers.Softmax)


def _shapes(outputs):
    found = [tuple(x.shape) for x in keras.tree.flatten(outputs)]
    return f"shape {found[0]}" if len(found) == 1 else f"shapes {found}"
