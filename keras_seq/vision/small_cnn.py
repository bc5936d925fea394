"""A small convolutional network to train from scratch."""

import keras
from keras import layers


def small_cnn(
    widths=(32, 64, 128),
    num_classes=None,
    input_shape=(None, None, 3),
    dropout=0.0,
    name="small_cnn",
):
    """Return a functional model from images to a grid of features.

    Every stage is two 3x3 convolutions, each with batch normalization and
    ReLU; the second has stride 2, so each stage halves the grid.

    Shapes:
        images `(B, height, width, 3)`, pixels from 0 to 255
        -> features `(B, h, w, D)`, D the last of `widths` and h the height
        divided by two for each stage, rounded up; or logits
        `(B, num_classes)` float32 of the mean feature.

    Args:
        widths: Channels of each stage.
        num_classes: If given, end in global average pooling and a `Dense`
            layer `logits`, ready for `explain.class_activation_map`.
        input_shape: Of one image; `None` for sizes that vary.
        dropout: Of the mean feature, with `num_classes`.
        name: Of the model.

    Returns:
        A `keras.Model`, not compiled. The features are the output of its
        layer `features`.

    Example:
        >>> import numpy as np
        >>> model = small_cnn(widths=(4, 8))
        >>> tuple(model(np.zeros((1, 20, 28, 3))).shape)
        (1, 5, 7, 8)
    """
    widths = tuple(widths)
    if not widths or min(widths) < 1:
        raise ValueError(
            f"`widths` must be positive numbers. Received: {widths}"
        )
    if num_classes is not None and num_classes < 2:
        raise ValueError(
            f"`num_classes` must be at least 2. Received: {num_classes}"
        )
    images = keras.Input(input_shape, name="images")
    x = layers.Rescaling(1 / 127.5, -1.0, name="rescaling")(images)
    for stage, width in enumerate(widths, start=1):
        x = _conv(x, width, 1, f"stage_{stage}_look")
        is_last = stage == len(widths)
        end = "features" if is_last else f"stage_{stage}_shrink_relu"
        x = _conv(x, width, 2, f"stage_{stage}_shrink", end)
    if num_classes is not None:
        x = layers.GlobalAveragePooling2D(name="pooling")(x)
        x = layers.Dropout(dropout, name="dropout")(x)
        x = layers.Dense(num_classes, dtype="float32", name="logits")(x)
    return keras.Model(images, x, name=name)


def _conv(x, width, strides, name, end=None):
    x = layers.Conv2D(
        width,
        3,
        strides=strides,
        padding="same",
        use_bias=False,
        kernel_initializer="he_normal",
        name=name,
    )(x)
    # Short runs are the rule here: statistics that follow within 50 steps.
    x = layers.BatchNormalization(momentum=0.9, name=f"{name}_norm")(x)
    return layers.ReLU(name=end or f"{name}_relu")(x)
