"""Which requests may share a call of a model.

Those of the same signature and the same shapes, whose texts are about as long:
a batch takes as long as its longest row.
"""

import numpy as np

from keras_seq.serving.image_size import image_pixels

_SHORT = 7  # below 128 bytes all texts are short
_BYTES_OF_A_NUMBER = 4
_USUAL_PIXELS = 4_000_000
# Megabytes of text, or an image of more than the usual pixels, are answered on
# their own: a batch of them would fill the memory.
_LARGE = _USUAL_PIXELS.bit_length()


def company_of(signature: str, inputs: dict, can_share: bool) -> tuple:
    """Return what requests that share a call have in common.

    The first entry says how long it is, and is less for what is shorter.

    Args:
        signature: Name of the signature.
        inputs: Arrays by name.
        can_share: Whether strangers' rows may share a call of it.
    """
    length = max(map(length_class, inputs.values()), default=0)
    if (
        not can_share
        or length >= _LARGE
        or len({len(array) for array in inputs.values()}) != 1
    ):
        return length, object()  # like no other
    shapes = ((key, inputs[key].shape[1:]) for key in sorted(inputs))
    return length, signature, *shapes


def length_class(array: np.ndarray) -> int:
    """Return a number that texts share which are about as long.

    It grows by one each time that the length doubles. Images of a usual size
    are the same to a model, however many bytes they have.

    >>> length_class(np.array([b"short", b"too"], object))
    7
    >>> length_class(np.array([b"a" * 300], object))
    9
    """
    if array.dtype != object:
        values = int(np.prod(array.shape[1:]))
        return max((values * _BYTES_OF_A_NUMBER).bit_length(), _SHORT)
    return max(map(_length, array.ravel().tolist()), default=_SHORT)


def _length(item):
    pixels = image_pixels(item)
    if pixels is None:
        return max(len(item).bit_length(), _SHORT)
    return (
        _SHORT if pixels < _USUAL_PIXELS else max(pixels.bit_length(), _LARGE)
    )
