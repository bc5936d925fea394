"""The first frame of a GIF file, in graph."""

import tensorflow as tf

from keras_seq.vision.image_header import FileBytes

_EXTENSION, _GRAPHIC_CONTROL, _IMAGE, _END = 0x21, 0xF9, 0x2C, b"\x3b"
_NOTHING_CLEAR = b"\x04"  # flags of a frame that stays, without clear pixels
# Blocks that are walked over: so many, and one more for this many bytes. They
# have 255 bytes each, nearly all of them, unless somebody means harm.
_FEW, _USUAL = 10_000, 128


def first_gif_frame(contents):
    """Return `(contents, height, width)` of a GIF file with one frame.

    TensorFlow's decoder unpacks every frame, and an animation of a megabyte
    can hold a hundred of the largest size. It also paints "nothing here",
    which one colour can mean, black. So the file is cut after its first
    frame, and that colour is made white, and a colour as any other.

    Args:
        contents: Scalar string, the bytes of the file.

    Returns:
        The bytes of the shorter file, empty if there is no frame in it or if
        it lies behind more blocks than an honest file has; and the size that
        its frame needs, which may exceed that in the header.
    """
    data = FileBytes(contents)
    colours = tf.constant(13, tf.int64)
    start = colours + _table_length(data.at(10))

    def is_extension(position, control, left):
        return (data.at(position) == _EXTENSION) & (left > 0)

    def step(position, control, left):
        is_control = data.at(position + 1) == _GRAPHIC_CONTROL
        control = tf.where(is_control, position + 3, control)
        position, left = _skip_blocks(data, position + 2, left)
        return [position, control, left]

    image, control, left = tf.while_loop(
        is_extension,
        step,
        [start, tf.constant(0, tf.int64), _FEW + data.size // _USUAL],
    )
    flags = data.at(image + 9)
    local = _table_length(flags)
    colours = tf.where(local > 0, image + 10, colours)
    end, left = _skip_blocks(data, image + 11 + local, left)

    def cut():
        # Positions of the three bytes of the colour that means "nothing".
        clear = colours + 3 * data.at(control + 3)
        has_clear = (control > 0) & (data.at(control) % 2 == 1)
        has_clear &= clear + 3 <= image + 10 + local
        frame = tf.strings.join([_part(contents, 0, end), _END])
        return tf.cond(
            has_clear,
            lambda: _replace(
                _replace(frame, clear, b"\xff\xff\xff"), control, _NOTHING_CLEAR
            ),
            lambda: frame,
        )

    is_image = (data.at(image) == _IMAGE) & (end <= data.size) & (left > 0)
    frame = tf.cond(is_image, cut, lambda: tf.constant(b""))
    height = data.little(image + 3, 2) + data.little(image + 7, 2)
    width = data.little(image + 1, 2) + data.little(image + 5, 2)
    return (
        frame,
        tf.maximum(height, data.little(8, 2)),
        tf.maximum(width, data.little(6, 2)),
    )


def _table_length(flags):
    has_table = flags >= 0x80
    return tf.where(
        has_table,
        3 * tf.pow(tf.constant(2, tf.int64), flags % 8 + 1),
        tf.zeros_like(flags),
    )


def _skip_blocks(data, position, left):
    """Return the position behind blocks that begin with their length.

    And how many blocks may still be walked over, of the `left` that might;
    the last one, which is empty, counts.
    """
    position, left = tf.while_loop(
        lambda position, left: (data.at(position) > 0) & (left > 0),
        lambda position, left: [position + 1 + data.at(position), left - 1],
        [position, left],
    )
    return position + 1, left - 1


def _replace(contents, position, other):
    """Return bytes with `other` in place of as many of them."""
    after = position + len(other)
    rest = tf.cast(tf.strings.length(contents), tf.int64) - after
    parts = [
        _part(contents, 0, position),
        other,
        _part(contents, after, rest),
    ]
    return tf.strings.join(parts)


def _part(contents, position, length):
    position = tf.cast(position, tf.int64)
    return tf.strings.substr(contents, position, length)
