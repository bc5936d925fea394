"""Sentences that people aligned word by word, read from files."""

import dataclasses
import re

from keras_seq.data.alignments import Alignment
from keras_seq.data.tables import read_lines


@dataclasses.dataclass(frozen=True)
class AlignedPair:
    """A sentence and its translation in words, with a gold alignment."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: Alignment


_LINK = re.compile(r"(\d+)([-p])(\d+)")


def read_alignments(sentences, links) -> list[AlignedPair]:
    """Read gold alignments in the format of Och and Ney's.

    Args:
        sentences: A file, plain, `.gz` or `.xz`, of lines
            `source words ||| target words`.
        links: A file with as many lines of links like `3-4` (sure) and `3p4`
            (possible): source word 3, target word 4, counted from 1.

    Returns:
        Pairs whose alignments count from 0, as everything here does.
    """
    found, rows = [], read_lines(links)
    for number, line in read_lines(sentences):
        sides = [tuple(side.split()) for side in line.split("|||")]
        if len(sides) != 2 or not all(sides):
            raise ValueError(
                f"{sentences}, line {number}: must be words, '|||' and words. "
                f"Received: {line!r}"
            )
        _, row = next(rows, (None, None))
        if row is None:
            raise ValueError(
                f"{links}: must have a line of links for each line of "
                f"{sentences}. Received: none for line {number}"
            )
        found.append(
            AlignedPair(*sides, _read_links(row, sides, links, number))
        )
    extra = next(rows, None)
    if extra is not None:
        raise ValueError(
            f"{links}, line {extra[0]}: must have a line of {sentences} to "
            f"belong to. Received: {len(found)} lines there"
        )
    if not found:
        raise ValueError(f"{sentences}: must have lines. Received: none")
    return found


def _read_links(row, sides, path, number):
    sure, possible = set(), set()
    for entry in row.split():
        match = _LINK.fullmatch(entry)
        link = match and (int(match[1]) - 1, int(match[3]) - 1)
        if link is None or not all(
            0 <= place < len(words)
            for place, words in zip(link, sides, strict=True)
        ):
            raise ValueError(
                f"{path}, line {number}: links must be like 3-4 or 3p4, "
                f"words counted from 1 to {len(sides[0])} and "
                f"{len(sides[1])}. Received: {entry!r}"
            )
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return Alignment(tuple(sorted(sure)), tuple(sorted(possible)))
