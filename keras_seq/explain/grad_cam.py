"""Where any convolutional network saw a class (Grad-CAM)."""

import numpy as np

from keras_seq.explain.activation_maps import ActivationMaps, choose_classes


def grad_cam(
    model, images, class_index=None, layer=None, *, relu=True
) -> ActivationMaps:
    r"""Return the gradient-weighted maps of Selvaraju et al. (2017).

    With $A_k$ channel $k$ of the feature map of any layer, and $y_c$ the
    score of class $c$ before the softmax:

    $$ \alpha_k^c = \frac{1}{hw} \sum_{x,y}
         \frac{\partial y_c}{\partial A_k(x, y)}, \qquad
       L_c(x, y) = \mathrm{ReLU}\Bigl(\sum_k \alpha_k^c A_k(x, y)\Bigr). $$

    For a head of global average pooling and one dense layer with the weights
    $w$, $\partial y_c / \partial A_k = w_k^c / hw$ everywhere, so that
    $hw \cdot L_c$ is the ReLU of `class_activation_map`; without `relu`, it
    is that map.

    Shapes:
        images `(B, H, W, D)` -> maps `(B, h, w)`.

    Args:
        model: A Keras model, functional or not, with one output
            `(B, classes)`. Models inside it are looked into.
        images: What the model takes.
        class_index: The class to look for, in all images, or a sequence with
            one for each. Default: the one with the highest score.
        layer: A layer whose output is `(B, h, w, D)` (or `(B, D, h, w)`, if
            that is its data format); or its name, or its path, like
            `"backbone/features"`. Default: the last one that has more than
            one place.
        relu: Whether to leave out what speaks against the class.

    Returns:
        `ActivationMaps`, plain arrays; draw them with
        `plot_activation_maps`.

    Raises:
        ValueError: If there is no such layer, or it runs more than once.

    Example:
        >>> import keras
        >>> model = keras.Sequential([
        ...     keras.layers.Conv2D(5, 3, strides=2, name="look"),
        ...     keras.layers.Flatten(),
        ...     keras.layers.Dense(2, activation="softmax"),
        ... ])
        >>> found = grad_cam(model, np.ones((1, 9, 11, 3)), layer="look")
        >>> found.maps.shape, bool(found.maps.min() >= 0)
        ((1, 4, 5), True)

    Reference: <https://arxiv.org/abs/1610.02391>
    """
    # Here and not above, so that drawing maps does not load Keras.
    from keras import ops

    from keras_seq.explain.class_scores import (
        as_array,
        checked_images,
        class_scores,
        last_activation,
        layers_of,
    )
    from keras_seq.explain.gradients import gradients
    from keras_seq.explain.layer_calls import recorded_calls
    from keras_seq.explain.layer_substitution import substituted

    images, layers = checked_images(images), layers_of(model)
    with recorded_calls(layers.values()) as calls:
        outputs = model(images, training=False)
    activation = last_activation(calls, outputs)
    scores = as_array(class_scores(calls, outputs, activation))
    classes = choose_classes(class_index, scores)
    chosen = _chosen(layer, layers, calls, model)
    picked = np.eye(scores.shape[1], dtype="float32")[classes]

    def total_score(features):
        watched = [] if activation is None else [activation]
        with substituted(chosen.layer, features), recorded_calls(watched) as c:
            outputs = model(images, training=False)
        scores = class_scores(c, outputs, activation)
        return ops.sum(ops.multiply(scores, picked))

    (slope,) = gradients(total_score, [chosen.output])
    features, slope = as_array(chosen.output), slope.astype("float64")
    if getattr(chosen.layer, "data_format", None) == "channels_first":
        features, slope = (np.moveaxis(x, 1, -1) for x in (features, slope))
    maps = np.einsum("bhwd,bd->bhw", features, slope.mean(axis=(1, 2)))
    if relu:
        maps = np.maximum(maps, 0.0)
    return ActivationMaps(maps, classes, scores[range(len(scores)), classes])


def _chosen(layer, layers, calls, model):
    """Return the one call of the layer that was asked for."""
    if layer is None:
        for call in reversed(calls):
            if _is_grid(call.output) and np.prod(call.output.shape[1:-1]) > 1:
                return call
        raise ValueError(
            "`model` must have a layer whose output is a grid (B, h, w, D). "
            f"Received: '{model.name}', which has none"
        )
    if isinstance(layer, str):
        named = [
            found
            for path, found in layers.items()
            if layer in (path, path.split("/")[-1])
        ]
        named = [layers[layer]] if layer in layers else named
    else:
        named = [found for found in layers.values() if found is layer]
    if len(named) != 1:
        places = [p for p, x in layers.items() if any(x is n for n in named)]
        known = ", ".join(places or layers)
        raise ValueError(
            f"`layer` must be one layer of '{model.name}', or its path, one "
            f"of {known}. Received: {layer!r}"
        )
    found = [call for call in calls if call.layer is named[0]]
    if len(found) != 1 or not _is_grid(found[0].output):
        shapes = [getattr(call.output, "shape", None) for call in found]
        raise ValueError(
            "`layer` must run once and give a grid (B, h, w, D). Received: "
            f"{named[0].name!r}, which runs {len(found)} times and gives "
            f"{shapes}"
        )
    return found[0]


def _is_grid(output):
    return len(getattr(output, "shape", ())) == 4
