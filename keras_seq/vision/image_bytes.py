"""Image files to pixels, in graph."""

import functools

import tensorflow as tf

from keras_seq.vision import image_header
from keras_seq.vision.gif_frame import first_gif_frame
from keras_seq.vision.image_decoders import (
    decode_bmp,
    decode_gif,
    decode_jpeg,
    decode_png,
    resize,
)
from keras_seq.vision.image_header import FileBytes, read_image_header

MAX_PIXELS = 36_000_000  # 108 MB when decoded
MIN_SIDE = 8
FITS = ("crop", "stretch")


def decode_images(
    image_bytes, size=(224, 224), fit="crop", max_pixels=MAX_PIXELS
):
    """Return the pixels of image files, all of one size.

    JPEG (grey, colour or CMYK, turned as its EXIF data says), PNG, GIF (its
    first frame) and BMP. What is transparent becomes white. The pixels are
    resized by bicubic interpolation, smoothed when they shrink, as those that
    EfficientNet-Lite was trained on.

    Only ops of TensorFlow itself: a SavedModel that calls this needs nothing
    else. An image that cannot be read, is narrower than 8 pixels, or has
    more than `max_pixels` by its header, stops the graph with an
    `InvalidArgumentError`, the latter two before anything is decoded.
    `check_image_bytes` and `read_images` tell which one it was.

    Shapes:
        image_bytes `(B,)` strings -> images `(B, H, W, 3)` float32, pixels
        from 0 to 255.

    Args:
        image_bytes: Contents of the files.
        size: `(H, W)`.
        fit: "crop" keeps the largest part in the middle that has the shape
            of `size`; "stretch" keeps everything and bends its shape.
        max_pixels: Largest number of pixels of a file.

    Example:
        >>> white = tf.fill((20, 30, 3), tf.constant(255, tf.uint8))
        >>> images = decode_images([tf.io.encode_png(white)], size=(7, 5))
        >>> tuple(images.shape), round(float(tf.reduce_min(images)))
        ((1, 7, 5, 3), 255)
    """
    size = check_decoding(size, fit, max_pixels)
    image_bytes = tf.convert_to_tensor(image_bytes)
    if image_bytes.dtype != tf.string or image_bytes.shape.rank not in (
        None,
        1,
    ):
        raise ValueError(
            "`image_bytes` must be (B,) strings. Received: "
            f"{image_bytes.dtype.name} of shape {image_bytes.shape}"
        )
    return tf.map_fn(
        lambda contents: decode_image(contents, size, fit, max_pixels),
        image_bytes,
        fn_output_signature=tf.TensorSpec((*size, 3), tf.float32),
    )


def check_image_bytes(image_bytes, max_pixels=MAX_PIXELS):
    """Raise a ValueError that says what is wrong with an image file, if so.

    Args:
        image_bytes: Contents of one file, `bytes`.
        max_pixels: Largest number of pixels.

    Example:
        >>> check_image_bytes(b"<html>404</html>")
        Traceback (most recent call last):
        ValueError: `image_bytes` must be a JPEG, PNG, GIF or BMP file. ...
    """
    decode_checked(image_bytes, (MIN_SIDE, MIN_SIDE), "stretch", max_pixels)


def decode_checked(image_bytes, size, fit, max_pixels=MAX_PIXELS):
    """Return one image as a NumPy array, or raise a clear ValueError."""
    if not isinstance(image_bytes, bytes):
        raise ValueError(
            "`image_bytes` must be bytes. "
            f"Received: {type(image_bytes).__name__}"
        )
    size = check_decoding(size, fit, max_pixels)
    find_problem, decode = _functions(size, fit, max_pixels)
    problem = find_problem(image_bytes).numpy().decode()
    if problem:
        raise ValueError(f"`image_bytes` must be {problem}")
    try:
        return decode(image_bytes).numpy()
    except tf.errors.InvalidArgumentError as error:
        raise ValueError(
            "`image_bytes` must be a whole image, and are cut off or "
            f"damaged. Received: {_start(image_bytes)}"
        ) from error


def check_decoding(size, fit, max_pixels):
    """Return `size` as a tuple, or raise a ValueError on any of the three."""
    try:
        height, width = map(int, size)
    except (TypeError, ValueError):
        height, width = 0, 0
    if min(height, width) < 1:
        raise ValueError(
            f"`size` must be (height, width) in pixels. Received: {size!r}"
        )
    if fit not in FITS:
        raise ValueError(f"`fit` must be one of {FITS}. Received: {fit!r}")
    if max_pixels < 1:
        raise ValueError(
            f"`max_pixels` must be positive. Received: {max_pixels!r}"
        )
    return height, width


def decode_image(contents, size, fit, max_pixels):
    """Return one image `(*size, 3)` float32, in graph."""
    header = read_image_header(contents)
    problem = _problem(contents, header, max_pixels)
    is_good = tf.debugging.Assert(problem == "", [problem])
    # A decoder keeps no order with the check by itself.
    with tf.control_dependencies([is_good] if is_good is not None else []):
        contents = tf.identity(contents)
    pixels = tf.switch_case(
        header.kind,
        [
            lambda: decode_jpeg(contents, header.orientation),
            lambda: decode_png(contents),
            lambda: decode_gif(contents),
            lambda: decode_bmp(contents),
        ],
    )
    return resize(pixels, size, fit)


@functools.lru_cache(maxsize=8)
def _functions(size, fit, max_pixels):
    """Return what finds a problem and what decodes, traced once."""
    contents = tf.TensorSpec((), tf.string)

    @tf.function(input_signature=[contents], autograph=False)
    def find_problem(contents):
        return _problem(contents, read_image_header(contents), max_pixels)

    @tf.function(input_signature=[contents], autograph=False)
    def decode(contents):
        return decode_image(contents, size, fit, max_pixels)

    return find_problem, decode


def _start(image_bytes):
    start = image_bytes[:16]
    return f"{len(image_bytes)} bytes" + (f" from {start!r}" if start else "")


def _problem(contents, header, max_pixels):
    """Return what the file must be and is not, or an empty string."""
    height, width = header.height, header.width
    is_gif = header.kind == image_header.GIF
    frame, gif_height, gif_width = tf.cond(
        is_gif,
        lambda: first_gif_frame(contents),
        lambda: (tf.constant(b"x"), height, width),
    )
    height, width = tf.maximum(height, gif_height), tf.maximum(width, gif_width)
    length = tf.strings.join(
        [tf.strings.as_string(tf.strings.length(contents)), " bytes"]
    )
    sides = tf.strings.join(
        [tf.strings.as_string(width), " x ", tf.strings.as_string(height)]
    )

    def say(what, received):
        return tf.strings.join([what, ". Received: ", received])

    is_bmp = header.kind == image_header.BMP
    # The first that holds.
    problems = [
        (
            header.kind == image_header.UNKNOWN,
            say("a JPEG, PNG, GIF or BMP file", length),
        ),
        (
            (height == 0) | (width == 0) | (frame == b""),
            say("a whole image, and have no size or no pixels", length),
        ),
        (
            # Divided and not multiplied: no number is too large for it.
            height > max_pixels // tf.maximum(width, 1),
            say(f"an image of at most {max_pixels} pixels", sides),
        ),
        (
            tf.minimum(height, width) < MIN_SIDE,
            say(f"an image of at least {MIN_SIDE} x {MIN_SIDE} pixels", sides),
        ),
        (
            is_bmp & ~_is_plain_bmp(FileBytes(contents)),
            say("a BMP file of 8, 24 or 32 bits, not compressed", length),
        ),
    ]
    problem = tf.constant("")
    for is_it, text in reversed(problems):
        problem = tf.where(is_it, text, problem)
    return problem


def _is_plain_bmp(data):
    """Whether a BMP file is of a kind that TensorFlow reads rightly."""
    bits, compression = data.little(28, 2), data.little(30, 4)
    is_plain = (compression == 0) & ((bits == 8) | (bits == 24) | (bits == 32))
    # "Bit fields" that name the usual order of colours.
    is_usual = (compression == 3) & (bits == 32)
    is_usual &= data.little(54, 4) == 0xFF0000
    return (data.little(14, 4) >= 40) & (is_plain | is_usual)
