"""Texts from the command line, or line by line from standard input."""

import os
import sys
from collections.abc import Iterator

BATCH = 64
_CHUNK = 1 << 16


def add_texts_argument(parser) -> None:
    """Add the positional arguments `TEXT`."""
    parser.add_argument(
        "texts",
        nargs="*",
        metavar="TEXT",
        help="a text; for captions an image file, a folder or a pattern",
    )


def input_batches(
    texts: list[str], asked_for: str = "a text"
) -> Iterator[list[bytes]]:
    """Yield batches of texts as bytes.

    Without `texts`, standard input is read: a batch is what has arrived, so
    each line of a slow writer is answered at once, and the lines of a file
    are answered together.
    """
    if texts:
        given = [os.fsencode(text) for text in texts]
        yield from _cut(given)
        return
    if sys.stdin.isatty():
        print(
            f"Type {asked_for} and press Enter; Ctrl-D ends.", file=sys.stderr
        )
    for lines in _arriving_lines(sys.stdin.buffer):
        yield from _cut(lines)


def _cut(texts):
    for first in range(0, len(texts), BATCH):
        yield texts[first : first + BATCH]


def _arriving_lines(stream):
    """Yield lists of complete lines as they come, without their ends."""
    rest = b""
    while chunk := stream.read1(_CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:
            yield [line.removesuffix(b"\r") for line in lines]
    if rest:
        yield [rest]
