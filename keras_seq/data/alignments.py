"""Word alignments: which words of a translation translate which."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Alignment:
    """Links between the words of a sentence and of its translation.

    Attributes:
        sure: `((source word, target word), ...)`, counted from 0, sorted: links
            that any good alignment has.
        possible: Links that a good alignment may have; `sure` among them.
    """

    sure: tuple[tuple[int, int], ...]
    possible: tuple[tuple[int, int], ...]
