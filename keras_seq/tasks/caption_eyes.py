"""What a captioner sees with, and the pictures as the training wants them."""

import hashlib
import os
import pathlib
import sys

import keras
import numpy as np

from keras_seq.tasks.image_inputs import read_inputs
from keras_seq.vision import backbone, cached_features, small_cnn
from keras_seq.vision.read_images import read_image

VARIABLE = "KERAS_SEQ_CACHE"


class Eye:
    """A network, part of which may be frozen.

    Args:
        how: Training settings, as `captioning_recipes.resolve_settings`
            gives them.

    Attributes:
        frozen: A model from pixels to features that stays as it is, or None.
        learning: A model from what `pictures` gives to the grid of features
            `(B, h, w, D)` that the captioner looks at.
        whole: A model from pixels to that grid.
    """

    def __init__(self, how):
        self.how = how
        self.size = tuple(how["image_size"])
        if how["vision"] == "small_cnn":
            self.frozen = None
            self.learning = self.whole = small_cnn(
                how["cnn_widths"], input_shape=(*self.size, 3)
            )
            return
        self.frozen = backbone(how["vision"], how["vision_weights"])
        if how["feature_layers"]:
            self.frozen = join_layers(
                self.frozen, how["feature_layers"], self.size
            )
        self.frozen.trainable = False
        shape = self.frozen.compute_output_shape((1, *self.size, 3))[1:]
        self.learning = _adapter(shape, how)
        images = keras.Input((*self.size, 3), name="images")
        self.whole = keras.Model(
            images,
            self.learning(self.frozen(images, training=False)),
            name=f"{self.frozen.name}_eye",
        )

    @property
    def width(self) -> int:
        """D of the features."""
        return self.learning.output_shape[-1]

    def pictures(self, dataset, split, cache_dir=None, mirror=False, verbose=0):
        """Return what `learning` takes of each picture, and what is bad.

        Args:
            dataset: A `data.CaptionedImages`.
            split: Which part of it.
            cache_dir: Where to keep features; by default what the environment
                variable `KERAS_SEQ_CACHE` names, or `~/.cache/keras_seq`.
            mirror: Whether to swap left and right.
            verbose: As in `training.fit`.

        Returns:
            `(array (n, ...), {row: why it could not be read})`: pixels, or
            features on disk; what could not be read is zero.
        """
        if self.frozen is None:
            return _pixels(dataset, split, self.size, self.how["fit"])
        names, stamps = _names(dataset, split), dataset.image_stamps(split)
        folder = cache_folder(cache_dir) / _folder(
            dataset, split, names + stamps, self.frozen.name, self.size, mirror
        )
        rows = {name: row for row, name in enumerate(names)}
        found = cached_features(
            folder,
            self.frozen,
            names,
            lambda name: dataset.image_bytes(split, rows[name]),
            self.size,
            self.how["fit"],
            mirror,
            _progress(f"features of {split}", verbose),
            stamps,
        )
        return found.features, found.failures


def join_layers(network, names, size):
    """Return a network that gives what several layers saw, side by side.

    The finer grids are averaged to the coarsest one.

    Args:
        network: A functional model.
        names: Names of layers whose outputs are grids.
        size: `(height, width)` of the images.

    Example:
        >>> network = small_cnn(widths=(4, 6, 8))
        >>> layers = ("stage_2_shrink_relu", "features")
        >>> both = join_layers(network, layers, (32, 24))
        >>> both.compute_output_shape((1, 32, 24, 3))
        (1, 4, 3, 14)
    """
    known = [layer.name for layer in network.layers]
    strange = [name for name in names if name not in known]
    if strange:
        raise ValueError(
            f"`feature_layers` must be layers of {network.name!r}, which has "
            f"{', '.join(known[-5:])} and more. Received: {strange}"
        )
    grids = [network.get_layer(name).output for name in names]
    sizes = [
        keras.Model(network.input, grid).compute_output_shape((1, *size, 3))
        for grid in grids
    ]
    height, width = min(shape[1:3] for shape in sizes)
    found = []
    for grid, (_, h, w, _) in zip(grids, sizes, strict=True):
        if h % height or w % width:
            raise ValueError(
                "`feature_layers` must have grids that fit into each other. "
                f"Received: {[shape[1:3] for shape in sizes]}"
            )
        steps = (h // height, w // width)
        pool = keras.layers.AveragePooling2D(steps)
        found.append(grid if steps == (1, 1) else pool(grid))
    joined = keras.layers.Concatenate(name="joined")(found)
    layers = "_".join(names)
    return keras.Model(network.input, joined, name=f"{network.name}_{layers}")


def cache_folder(cache_dir=None) -> pathlib.Path:
    """Return where features are kept."""
    found = cache_dir or os.environ.get(VARIABLE) or "~/.cache/keras_seq"
    return pathlib.Path(found).expanduser()


def _adapter(shape, how):
    features = keras.Input(shape, name="features")
    x = keras.layers.Dropout(how["feature_dropout"], name="feature_dropout")(
        features
    )
    if how["projection_dim"] is not None:
        x = keras.layers.Dense(how["projection_dim"], name="projection")(x)
        x = keras.layers.LayerNormalization(
            epsilon=1e-5, name="projection_norm"
        )(x)
    return keras.Model(features, x, name="adapter")


def _names(dataset, split):
    columns = dataset.columns(split)
    # Painted pictures have no other name than their place.
    rows = range(len(columns["captions"]))
    return [str(name) for name in columns.get("name", rows)]


def _folder(dataset, split, pictures, network, size, mirror):
    # Two albums may have the same names, and one may have been changed.
    which = hashlib.sha256("\n".join(pictures).encode()).hexdigest()[:8]
    height, width = size
    mirrored = "_mirrored" if mirror else ""
    return (
        f"{dataset.name}_{split}_{which}_{network}_{height}x{width}{mirrored}"
    )


def _pixels(dataset, split, size, fit):
    columns = dataset.columns(split)
    if "image" in columns and columns["image"].shape[1:3] == size:
        return columns["image"], {}
    rows = len(columns["captions"])
    found, failures = np.zeros((rows, *size, 3), "uint8"), {}
    for row in range(rows):
        if "image" in columns:
            pixels, bad = read_inputs([columns["image"][row]], size, fit)
            pixels, failure = (None, bad[0]) if bad else (pixels[0], None)
        else:
            pixels, failure = read_image(
                lambda row=row: dataset.image_bytes(split, row), size, fit
            )
        if failure is None:
            found[row] = np.round(pixels)
        else:
            failures[row] = failure
    return found, failures


def _progress(title, verbose):
    """Return what draws a bar on a terminal, or nothing."""
    stream = sys.stdout
    if not verbose or not stream.isatty():
        return None

    def show(done, total):
        full = round(20 * done / total)
        bar = f"[{'#' * full}{'.' * (20 - full)}] {done}/{total}"
        stream.write(f"\r\x1b[K{title}  {bar}")
        stream.write("\r\x1b[K" if done == total else "")
        stream.flush()

    return show
