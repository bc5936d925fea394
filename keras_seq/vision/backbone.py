"""Any network of `keras.applications`, fed with plain pixels."""

import types

import keras

from keras_seq.vision.efficientnet_lite0 import EfficientNetLite0


def backbone(
    name="EfficientNetLite0", weights="imagenet", input_shape=(None, None, 3)
):
    """Return a network from pixels to a grid of features.

    What `keras.applications` leaves to the caller, each network's own
    preprocessing of the pixels, is part of the model.

    Shapes:
        images `(B, height, width, 3)`, pixels from 0 to 255
        -> features `(B, h, w, D)`.

    Args:
        name: "EfficientNetLite0", or a class of `keras.applications`, e.g.
            "MobileNetV2" or "ResNet50".
        weights: "imagenet", which `keras.applications` downloads; `None` for
            random ones; or the path of a `.weights.h5` file.
        input_shape: Of one image; `None` for sizes that vary.

    Returns:
        A functional `keras.Model`.

    Example:
        >>> import numpy as np
        >>> model = backbone("MobileNetV2", weights=None)
        >>> tuple(model(np.zeros((1, 64, 96, 3))).shape)
        (1, 2, 3, 1280)
    """
    if name == "EfficientNetLite0":
        return EfficientNetLite0(weights, input_shape=input_shape)
    networks = {
        key: value
        for key, value in vars(keras.applications).items()
        if key[:1].isupper() and callable(value)
    }
    if name not in networks:
        raise ValueError(
            "`name` must be one of EfficientNetLite0, "
            f"{', '.join(sorted(networks))}. Received: {name!r}"
        )
    images = keras.Input(input_shape, name="images")
    network = networks[name](
        include_top=False,
        weights=weights,
        input_tensor=_preprocess(name, images),
        input_shape=tuple(input_shape),
    )
    # Keras made the inputs a list of one, which is another structure.
    return keras.Model(images, network.output, name=network.name)


def _preprocess(name, images):
    for module in vars(keras.applications).values():
        if isinstance(module, types.ModuleType) and hasattr(module, name):
            return module.preprocess_input(images)
    return images  # MobileNetV3, which has it inside
