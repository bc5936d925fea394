"""A word on standard error about texts that were not read to their end."""

import sys
import unicodedata

from keras_seq.commands.wording import on_one_line

_SHOWN = 30


def say_cut(text: bytes, read: int, there_are: int, what: str) -> None:
    """Say that of `there_are` tokens, or letters, the first `read` were read.

    Args:
        text: What was to be read.
        read: How many were.
        there_are: How many it has.
        what: What is counted, in the plural.
    """
    start = on_one_line(text[: 8 * _SHOWN].decode("utf-8", "replace"))
    print(
        f"keras-seq: warning: of {start[:_SHOWN] + '...'!r} only the first "
        f"{read} of {there_are} {what} were read. Translate it sentence by "
        "sentence.",
        file=sys.stderr,
    )


def letters(text: str) -> int:
    r"""Count characters as a tokenizer does, but for spaces.

    >>> letters("l'e\u0301te\u0301  de\t1900")
    11
    """
    return sum(
        not unicodedata.category(character).startswith(("Z", "Cc"))
        and character != "▁"
        for character in unicodedata.normalize("NFC", text)
    )
