"""Where a network with global average pooling saw a class (CAM)."""

import numpy as np

from keras_seq.explain.activation_maps import ActivationMaps, choose_classes


def class_activation_map(model, images, class_index=None) -> ActivationMaps:
    r"""Return the class activation maps of Zhou et al. (2016).

    A network that ends in global average pooling and one dense layer scores
    class $c$ by the mean over all places $(x, y)$ of its last feature map
    $f$, weighted for that class. Weigh first and average later, and every
    place has a score of its own:

    $$ S_c = \sum_k w_k^c \, \frac{1}{hw} \sum_{x,y} f_k(x, y) + b_c
           = \frac{1}{hw} \sum_{x,y} M_c(x, y) + b_c, \qquad
       M_c(x, y) = \sum_k w_k^c \, f_k(x, y) . $$

    Maps are signed: where $M_c$ is negative, the image speaks against $c$.
    `grad_cam` of the same features is $\mathrm{ReLU}(M_c) / hw$.

    Shapes:
        images `(B, H, W, D)` -> maps `(B, h, w)`.

    Args:
        model: A Keras model with one output `(B, classes)`. What runs last in
            it, at any depth, is `GlobalAveragePooling2D`, then perhaps layers
            that do nothing outside of training (`Dropout`), then `Dense`,
            with or without softmax. Other heads: see `grad_cam`.
        images: What the model takes.
        class_index: The class to look for, in all images, or a sequence with
            one for each. Default: the one that the model predicts.

    Returns:
        `ActivationMaps`, plain arrays; draw them with
        `plot_activation_maps`.

    Raises:
        ValueError: If the model has another head.

    Example:
        >>> import keras
        >>> model = keras.Sequential([
        ...     keras.layers.Conv2D(5, 3, strides=2),
        ...     keras.layers.GlobalAveragePooling2D(),
        ...     keras.layers.Dense(2, activation="softmax"),
        ... ])
        >>> class_activation_map(model, np.ones((1, 9, 11, 3))).maps.shape
        (1, 4, 5)

    Reference: <https://arxiv.org/abs/1512.04150>
    """
    # Here and not above, so that drawing maps does not load Keras.
    import keras

    from keras_seq.explain.class_scores import (
        as_array,
        checked_images,
        last_activation,
        layers_of,
    )
    from keras_seq.explain.layer_calls import recorded_calls

    images = checked_images(images)
    with recorded_calls(layers_of(model).values()) as calls:
        outputs = model(images, training=False)
    last_activation(calls, outputs)  # one output, or an error
    pooling = _last(calls, keras.layers.GlobalAveragePooling2D, model)
    dense = _last(calls, keras.layers.Dense, model)

    features = as_array(pooling.inputs)
    if pooling.layer.data_format == "channels_first":
        features = np.moveaxis(features, 1, -1)
    mean = features.mean(axis=(1, 2))  # (B, D)
    _check_that_dense_reads(mean, as_array(dense.inputs), pooling, dense)
    kernel = as_array(dense.layer.kernel)  # (D, C)
    bias = as_array(dense.layer.bias) if dense.layer.use_bias else 0.0
    scores = mean @ kernel + bias
    classes = choose_classes(class_index, scores)
    maps = np.einsum("bhwd,db->bhw", features, kernel[:, classes])
    return ActivationMaps(maps, classes, scores[range(len(scores)), classes])


def _last(calls, kind, model):
    for call in reversed(calls):
        if isinstance(call.layer, kind):
            return call
    raise ValueError(
        "`model` must end in GlobalAveragePooling2D and Dense; for other heads "
        f"there is `explain.grad_cam`. Received: '{model.name}', in which no "
        f"{kind.__name__} runs"
    )


def _check_that_dense_reads(mean, read, pooling, dense):
    """A class has a map only if its score is an average over places."""
    size = np.abs(mean).max(initial=0.0)
    # Half precision has three digits, and a sum over places loses one.
    if mean.shape == read.shape and np.allclose(mean, read, 0, 1e-2 * size):
        return
    raise ValueError(
        f"`model` must have no layer between '{pooling.layer.name}' and "
        f"'{dense.layer.name}' that changes the mean features; for such heads "
        "there is `explain.grad_cam`. Received: mean features of the shape "
        f"{mean.shape}, and a dense layer that reads {read.shape}, or others"
    )
