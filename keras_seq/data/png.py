"""Pictures as PNG bytes, with nothing but the standard library."""

import struct
import zlib

import numpy as np


def encode_png(image) -> bytes:
    """Return an RGB picture as the bytes of a PNG file.

    Args:
        image: `(H, W, 3)` uint8.

    >>> encode_png(np.zeros((2, 3, 3), "uint8"))[1:4]
    b'PNG'
    """
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(
            "`image` must be (H, W, 3) uint8. "
            f"Received: shape {image.shape}, dtype {image.dtype}"
        )
    height, width, _ = image.shape
    # Each row begins with its filter: 0, none.
    rows = np.zeros((height, 1 + 3 * width), "uint8")
    rows[:, 1:] = image.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(kind, data)
        for kind, data in (
            (b"IHDR", header),
            (b"IDAT", zlib.compress(rows.tobytes())),
            (b"IEND", b""),
        )
    )


def _chunk(kind, data):
    checksum = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + checksum
