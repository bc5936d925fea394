"""What a reader of the terminal is told about the prose of a tutorial."""

import os
import re
import shutil
import sys
import textwrap

_WIDEST = 80


class Narrator:
    """Prints the opening and the exercise in full, and all other headers.

    The whole prose, with its equations, is for the page; on the terminal it
    would drown what the script itself prints.
    """

    def __init__(self):
        self._is_first = True
        self._bold = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def __call__(self, markdown: str) -> None:
        """Print what `markdown`, the text of a cell, is about."""
        headers = re.findall(r"^#+ +(.+)", markdown, re.MULTILINE)
        if self._is_first or headers[:1] == ["Exercise"]:
            self._is_first = False
            self._print_all(markdown)
            return
        for header in headers:
            print(f"\n{self._strong(plain_text(header))}\n")

    def _print_all(self, markdown):
        width = min(_WIDEST, shutil.get_terminal_size().columns)
        for paragraph in re.split(r"\n\s*\n|\n(?=\d+\. )", markdown):
            text = plain_text(paragraph)
            if text.startswith("#"):
                text = self._strong(text.lstrip("# "))
            print(f"\n{textwrap.fill(text, width)}")

    def _strong(self, text):
        return f"\x1b[1m{text}\x1b[0m" if self._bold else text


def plain_text(markdown: str) -> str:
    r"""Return one paragraph without marks of emphasis, code and formulas.

    >>> plain_text("**You** *will*\ndivide by $D$ in `keras_seq`.")
    'You will divide by D in keras_seq.'
    """
    text = re.sub(r"\*+(\S[^*]*)\*+", r"\1", markdown)
    return " ".join(re.sub("[`$]", "", text).split())
