"""How large an image says it is, from its first bytes.

A file of a few kilobytes can claim a billion pixels, and a graph that decodes
it would need gigabytes. So this looks before any graph is given the bytes.
"""

_PNG, _GIF, _BMP = b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM"
_JPEG = b"\xff\xd8\xff"
_BMP_RESERVED = b"\0\0\0\0"  # what tells a bitmap from a text such as "BMW"
# Markers of a JPEG file that hold its size; and those without a length.
_FRAMES = {0xC0 + n for n in range(16)} - {0xC4, 0xC8, 0xCC}
_ALONE = {0x01, *range(0xD0, 0xD9)}
_MOST_MARKERS = 10_000


def image_pixels(data: bytes) -> int | None:
    r"""Return how many pixels an image claims to have; None if it is none.

    An image whose size cannot be found has 0.

    >>> image_pixels(b"GIF89a" + bytes([7, 0, 5, 0]))
    35
    >>> image_pixels(b"BMW makes cars") is None
    True
    """
    if data.startswith(_PNG):
        return _number(data, 16, 4, "big") * _number(data, 20, 4, "big")
    if data.startswith(_JPEG):
        return _jpeg_pixels(data)
    if data.startswith(_GIF):
        return _number(data, 6, 2) * _number(data, 8, 2)
    if data.startswith(_BMP) and data[6:10] == _BMP_RESERVED:
        width = int.from_bytes(data[18:22], "little", signed=True)
        height = int.from_bytes(data[22:26], "little", signed=True)
        return abs(width * height)  # rows from the top down are negative
    return None


def _number(data, place, size, order="little"):
    return int.from_bytes(data[place : place + size], order)


def _jpeg_pixels(data):
    place = 2
    for _ in range(_MOST_MARKERS):
        if data[place : place + 1] != b"\xff" or place + 1 >= len(data):
            return 0
        marker = data[place + 1]
        if marker in _FRAMES:
            height = _number(data, place + 5, 2, "big")
            return height * _number(data, place + 7, 2, "big")
        if marker == 0xFF:
            place += 1
        elif marker in _ALONE:
            place += 2
        else:
            place += 2 + _number(data, place + 2, 2, "big")
    return 0
