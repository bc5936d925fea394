"""TensorFlow's decoders of image files, and what they get wrong mended.

Each takes the bytes of a file and returns pixels `(h, w, 3)` uint8, in graph.
"""

import tensorflow as tf

from keras_seq.vision.gif_frame import first_gif_frame
from keras_seq.vision.image_header import FileBytes


def decode_jpeg(contents, orientation):
    """Return the pixels of a JPEG file, turned upright."""
    pixels = tf.io.decode_jpeg(
        contents, channels=3, dct_method="INTEGER_ACCURATE"
    )
    turns = [
        (orientation >= 5, lambda x: tf.transpose(x, (1, 0, 2))),
        (_is_any(orientation, 2, 3, 6, 7), lambda x: tf.reverse(x, [1])),
        (_is_any(orientation, 3, 4, 7, 8), lambda x: tf.reverse(x, [0])),
    ]
    for is_needed, turn in turns:
        pixels = tf.cond(
            is_needed, lambda t=turn, x=pixels: t(x), lambda x=pixels: x
        )
    return pixels


def _is_any(number, *numbers):
    return tf.reduce_any(number == tf.constant(numbers, number.dtype))


def decode_png(contents):
    """Return the pixels of a PNG file over white."""
    # With the channels of the file: asked for four of fewer than 8 bits each,
    # the decoder makes up an alpha that is not 255.
    pixels = tf.io.decode_png(contents, channels=0)
    channels = tf.shape(pixels)[-1]
    has_alpha = channels % 2 == 0
    colours = tf.cond(
        channels <= 2,
        lambda: tf.repeat(pixels[..., :1], 3, axis=-1),
        lambda: pixels[..., :3],
    )
    return tf.cond(
        has_alpha,
        lambda: _over_white(colours, pixels[..., -1:]),
        lambda: colours,
    )


def _over_white(colours, alpha):
    colours, alpha = (tf.cast(x, tf.float32) for x in (colours, alpha))
    share = alpha / 255.0
    mixed = colours * share + 255.0 * (1.0 - share)
    return tf.cast(tf.round(mixed), tf.uint8)


def decode_gif(contents):
    """Return the pixels of the first frame of a GIF file."""
    return tf.io.decode_gif(first_gif_frame(contents)[0])[0]


def decode_bmp(contents):
    """Return the pixels of a BMP file."""
    data = FileBytes(contents)

    def palette():
        places = tf.io.decode_bmp(contents)[..., 0]
        start = 14 + data.little(14, 4)
        entries = start + 4 * tf.range(256, dtype=tf.int64)[:, None]
        # Blue comes first.
        colours = data.at(entries + tf.constant([2, 1, 0], tf.int64))
        return tf.cast(tf.gather(colours, tf.cast(places, tf.int32)), tf.uint8)

    def usual():
        # The fourth byte of 32 bits is, more often than not, just zero.
        return tf.io.decode_bmp(contents)[..., :3]

    return tf.cond(data.little(28, 2) == 8, palette, usual)


def resize(pixels, size, fit):
    """Return pixels as float32 of another size, cropped or stretched."""
    if fit == "crop":
        shape = tf.cast(tf.shape(pixels)[:2], tf.float32)
        scale = tf.reduce_min(shape / tf.constant(size, tf.float32))
        kept = tf.cast(tf.round(scale * tf.constant(size, tf.float32)), "int32")
        kept = tf.clip_by_value(kept, 1, tf.shape(pixels)[:2])
        first = (tf.shape(pixels)[:2] - kept) // 2
        pixels = pixels[
            first[0] : first[0] + kept[0], first[1] : first[1] + kept[1]
        ]
    images = tf.image.resize(pixels, size, "bicubic", antialias=True)
    images = tf.clip_by_value(tf.cast(images, tf.float32), 0.0, 255.0)
    return tf.ensure_shape(images, (*size, 3))
