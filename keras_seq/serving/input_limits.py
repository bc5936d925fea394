"""What no graph is given, however its inputs arrived."""

from keras_seq.serving.image_size import image_pixels
from keras_seq.serving.serving_error import bad_request

_SMALLEST_IMAGE = 32  # bytes; no shorter string can be a bomb


def check_images(inputs: dict, max_pixels: int) -> None:
    """Refuse images that would fill the memory when they are decoded.

    Args:
        inputs: Arrays by name.
        max_pixels: How many pixels all images of a request may have.

    Raises:
        ServingError: 400, and how many there are, or that an image does not
            say how many it has.
    """
    for name, array in inputs.items():
        if array.dtype != object:
            continue
        total = 0
        for item in array.ravel().tolist():
            if len(item) > _SMALLEST_IMAGE:
                pixels = image_pixels(item)
                if pixels == 0:
                    raise bad_request(
                        f"input {name!r} must hold images that say how large "
                        f"they are. Received: {len(item)} bytes of one that "
                        "has no size or no pixels"
                    )
                total += pixels or 0
        if total > max_pixels:
            raise bad_request(
                f"input {name!r} must hold images of at most {max_pixels} "
                f"pixels in all. Received: {total}"
            )
