"""Maps that say where in an image a class was seen."""

import dataclasses

import numpy as np

from keras_seq.explain.lit_image import smooth_map


@dataclasses.dataclass(frozen=True, eq=False)
class ActivationMaps:
    """Where in each image one class was seen.

    Attributes:
        maps: `(B, h, w)` float64, on the grid of the layer they are of.
        class_index: `(B,)`, the class of each map.
        scores: `(B,)`, what the model gives that class, before the softmax.
    """

    maps: np.ndarray
    class_index: np.ndarray
    scores: np.ndarray

    def enlarged(self, height, width) -> np.ndarray:
        """Return the maps smoothly spread over `(B, height, width)` pixels.

        No value leaves the range of those given; see `lit_image.smooth_map`.

        >>> zeros = np.zeros(1)
        >>> found = ActivationMaps(np.array([[[0.0, 1.0]]]), zeros, zeros)
        >>> found.enlarged(1, 4).round(2).tolist()
        [[[0.05, 0.27, 0.73, 0.95]]]
        """
        if height < 1 or width < 1:
            raise ValueError(
                "`height` and `width` must be positive. "
                f"Received: height={height}, width={width}"
            )
        large = [smooth_map(weights, height, width) for weights in self.maps]
        return np.array(large).reshape(len(large), height, width)


def choose_classes(class_index, scores) -> np.ndarray:
    """Return one class for each row of `scores`, the predicted if None.

    >>> choose_classes(None, np.array([[1, 3], [2, 0]])).tolist()
    [1, 0]
    >>> choose_classes(1, np.array([[1, 3], [2, 0]])).tolist()
    [1, 1]
    """
    rows, classes = scores.shape
    if class_index is None:
        return scores.argmax(axis=-1)
    chosen = np.asarray(class_index)
    if chosen.dtype.kind not in "iu" or chosen.shape not in ((), (rows,)):
        raise ValueError(
            f"`class_index` must be an integer, or {rows} of them, one for "
            f"each image. Received: {class_index!r}"
        )
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < classes:
        raise ValueError(
            f"`class_index` must be from 0 to {classes - 1}. "
            f"Received: {class_index!r}"
        )
    return np.broadcast_to(chosen, (rows,)).astype("int64")
