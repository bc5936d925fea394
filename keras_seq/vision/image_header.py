"""What the first bytes of an image file say, read in graph.

A file of a few kilobytes can claim a billion pixels. So its size is read
here, from the header, before any decoder is given the file.
"""

import typing

import tensorflow as tf

KINDS = ("jpeg", "png", "gif", "bmp")
JPEG, PNG, GIF, BMP, UNKNOWN = range(5)
_STARTS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM")
_APP1, _START_OF_SCAN, _END_OF_IMAGE = 0xE1, 0xDA, 0xD9
# Markers of a JPEG file that hold its size; and those without a length.
_FRAMES = [0xC0 + n for n in range(16) if n not in (4, 8, 12)]
_ALONE = [0x01, *range(0xD0, 0xD9)]
_MOST_MARKERS = 10_000  # far more than stand before a size
_ORIENTATION_TAG = 0x0112


class ImageHeader(typing.NamedTuple):
    """Scalars, in graph.

    Attributes:
        kind: Place in `KINDS`, int32; or `UNKNOWN`.
        height: Rows of the stored image, int64; 0 if they are not known.
        width: Its columns.
        orientation: How a JPEG is to be turned, 1 to 8, as EXIF counts.
    """

    kind: tf.Tensor
    height: tf.Tensor
    width: tf.Tensor
    orientation: tf.Tensor


def read_image_header(contents) -> ImageHeader:
    r"""Return the header of an image file.

    Nothing in the bytes can make this fail: what is not there is zero.

    Args:
        contents: Scalar string, the bytes of the file.

    >>> header = read_image_header(b"BM" + bytes(16) + b"\7\0\0\0\5")
    >>> KINDS[header.kind], int(header.width), int(header.height)
    ('bmp', 7, 5)
    """
    data = FileBytes(contents)
    kind = tf.constant(UNKNOWN)
    for number, start in enumerate(_STARTS):
        is_it = tf.strings.substr(contents, 0, len(start)) == start
        kind = tf.where(is_it, number, kind)
    one = tf.constant(1, tf.int64)
    zero = tf.constant(0, tf.int64)
    height, width, orientation = tf.switch_case(
        kind,
        [
            lambda: _read_jpeg(data),
            lambda: (data.big(20, 4), data.big(16, 4), one),
            lambda: (data.little(8, 2), data.little(6, 2), one),
            # Rows from the top down are a negative height.
            lambda: (abs(_signed(data.little(22, 4))), data.little(18, 4), one),
            lambda: (zero, zero, one),
        ],
    )
    return ImageHeader(kind, height, width, orientation)


class FileBytes:
    r"""Numbers in a file, in graph; behind its end all is zero.

    >>> data = FileBytes(b"\1\2\3")
    >>> int(data.big(0, 2)), int(data.little(0, 2)), int(data.big(2, 2))
    (258, 513, 768)
    """

    def __init__(self, contents):
        self.contents = contents
        end = tf.zeros(1, tf.uint8)
        self._data = tf.concat([tf.io.decode_raw(contents, tf.uint8), end], 0)
        self.size = tf.size(self._data, tf.int64) - 1

    def at(self, positions):
        """Return the bytes at some positions, int64."""
        positions = tf.clip_by_value(tf.cast(positions, tf.int64), 0, self.size)
        return tf.cast(tf.gather(self._data, positions), tf.int64)

    def big(self, position, length):
        """Return the number at a position, its largest digit first."""
        return self._number(position, range(length)[::-1])

    def little(self, position, length):
        """Return the number at a position, its smallest digit first."""
        return self._number(position, range(length))

    def _number(self, position, order):
        position = tf.cast(position, tf.int64)
        total = tf.zeros_like(position)
        for place, power in enumerate(order):
            total += self.at(position + place) * 256**power
        return total


def _signed(number):
    return tf.where(number >= 2**31, number - 2**32, number)


def _read_jpeg(data):
    """Walk from marker to marker until the one that holds the size.

    A file made of 0xFF would be a walk of a step for each byte: it has no size.
    """
    frames = tf.constant(_FRAMES, tf.int64)
    alone = tf.constant(_ALONE, tf.int64)
    last = tf.constant([_START_OF_SCAN, _END_OF_IMAGE, *_FRAMES], tf.int64)

    def is_marker(position, exif):
        marker = data.at(position + 1)
        goes_on = tf.reduce_all(marker != last)
        return (data.at(position) == 0xFF) & goes_on

    def step(position, exif):
        marker = data.at(position + 1)
        is_exif = (marker == _APP1) & (
            data.big(position + 4, 4) == int.from_bytes(b"Exif", "big")
        )
        # An editor may have added a second one: the first counts.
        exif = tf.where(is_exif & (exif == 0), position + 10, exif)
        is_alone = tf.reduce_any(marker == alone)
        length = 2 + tf.where(
            is_alone, tf.zeros_like(marker), data.big(position + 2, 2)
        )
        # Any number of 0xFF may stand before a marker.
        length = tf.where(marker == 0xFF, tf.ones_like(length), length)
        return [position + length, exif]

    start = tf.constant(2, tf.int64)
    position, exif = tf.while_loop(
        is_marker,
        step,
        [start, tf.constant(0, tf.int64)],
        maximum_iterations=_MOST_MARKERS - 1,  # the last one is looked at
    )
    is_frame = tf.reduce_any(data.at(position + 1) == frames)
    is_frame &= data.at(position) == 0xFF
    height = tf.where(is_frame, data.big(position + 5, 2), 0)
    width = tf.where(is_frame, data.big(position + 7, 2), 0)
    return height, width, _orientation(data, exif)


def _orientation(data, exif):
    """Look the orientation up in the first table of the EXIF data."""
    is_little = data.at(exif) == ord("I")

    def number(position, length):
        return tf.where(
            is_little,
            data.little(position, length),
            data.big(position, length),
        )

    table = exif + number(exif + 4, 4)
    entries = table + 2 + 12 * tf.range(number(table, 2))  # 12 bytes each
    is_it = number(entries, 2) == _ORIENTATION_TAG
    found = tf.reduce_max(tf.where(is_it, number(entries + 8, 2), 0))
    is_valid = (exif > 0) & (found >= 1) & (found <= 8)
    return tf.where(is_valid, found, tf.ones_like(found))
