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
    data = FileBytes(contents)
    bits, colours = data.at(24), data.at(25)
    is_coarse_grey = (colours == 0) & (bits < 8)

    def coarse_grey():
        # The decoder leaves grey of 1, 2 or 4 bits as it is, 0 to 15.
        grey = tf.io.decode_png(contents, channels=1)
        scale = 255 // (tf.pow(tf.constant(2, tf.int64), bits) - 1)
        return tf.repeat(grey * tf.cast(scale, tf.uint8), 3, axis=-1)

    def usual():
        pixels = tf.io.decode_png(contents, channels=4)
        return tf.cond(
            tf.reduce_all(pixels[..., 3] == 255),
            lambda: pixels[..., :3],
            lambda: _over_white(pixels),
        )

    return tf.cond(is_coarse_grey, coarse_grey, usual)


def _over_white(pixels):
    pixels = tf.cast(pixels, tf.float32)
    share = pixels[..., 3:] / 255.0
    mixed = pixels[..., :3] * share + 255.0 * (1.0 - share)
    return tf.cast(tf.round(mixed), tf.uint8)


def decode_gif(contents):
    """Return the pixels of the first frame of a GIF file."""
    return tf.io.decode_gif(first_gif_frame(contents)[0])[0]


def decode_bmp(contents):
    """Return the pixels of a BMP file."""
    data = FileBytes(contents)

    def palette():
        places = tf.io.decode_bmp(contents, channels=1)[..., 0]
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
