"""Words for people: times, names for the shell, texts from anywhere."""

import re
import shlex

# What moves the cursor, rings, or turns the line around.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


def duration(seconds: float) -> str:
    """Write a time for people.

    >>> duration(4.6), duration(125)
    ('5 s', '2 min 5 s')
    """
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def in_shell(path) -> str:
    """Write a path so that it can be pasted into a command.

    >>> in_shell("my runs/run-1")
    "'my runs/run-1'"
    """
    return shlex.quote(str(path))


def on_one_line(text: str) -> str:
    r"""Replace what a terminal would obey instead of show.

    >>> on_one_line("fine\x1b[31m\n")
    'fine [31m '
    """
    return _CONTROL.sub(" ", text)
