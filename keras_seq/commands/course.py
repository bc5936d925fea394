"""The tutorials of the course: where they are, and what they are called."""

import dataclasses
import difflib
import importlib.metadata
import pathlib
import re

import keras_seq
from keras_seq.commands.percent_script import opening
from keras_seq.commands.usage_error import UsageError

_FILES = "[0-9][0-9]_*.py"
_INSTALLED = "share/keras_seq/tutorials"  # as setup.cfg says under data_files


@dataclasses.dataclass(frozen=True)
class Tutorial:
    """One tutorial script.

    Attributes:
        number: Its place in the course, from 1.
        name: The file's name without number and ending.
        title: The first header of the file.
        takes: How long it takes, in its own words; empty if it does not say.
        path: The file.
    """

    number: int
    name: str
    title: str
    takes: str
    path: pathlib.Path


def tutorials(folder: pathlib.Path | None = None) -> list[Tutorial]:
    """Return the tutorials of `folder` in course order.

    Args:
        folder: Default: that of the source tree that is in use, or else what
            was installed with the package.
    """
    paths = _installed() if folder is None else folder.glob(_FILES)
    return [_read(path) for path in sorted(paths)]


def find_tutorial(wanted: str, course: list[Tutorial]) -> Tutorial:
    """Return the tutorial that `wanted` names: by number, name or file.

    >>> course = [Tutorial(1, "soft_dictionary", "", "", pathlib.Path("01.py"))]
    >>> [
    ...     find_tutorial(wanted, course).name
    ...     for wanted in ("1", "01", "Soft-Dictionary", "01_soft_dictionary")
    ... ]
    ['soft_dictionary', 'soft_dictionary', 'soft_dictionary', 'soft_dictionary']
    """
    name = pathlib.Path(wanted).name.removesuffix(".py").lower()
    name = name.replace("-", "_")
    for tutorial in course:
        number = re.match(r"0*(\d+)(?:_(.*))?$", name)
        by_number = number and int(number[1]) == tutorial.number
        if by_number and number[2] in (None, tutorial.name):
            return tutorial
        if name == tutorial.name:
            return tutorial
    names = [tutorial.name for tutorial in course]
    close = difflib.get_close_matches(re.sub(r"^\d+_?", "", name), names)
    close = close or [n for n in names if name and name in n]
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    listed = ", ".join(f"{t.number} {t.name}" for t in course)
    raise UsageError(
        f"there is no tutorial {wanted!r}.{hint}\nThe tutorials are: {listed}"
    )


def _installed():
    root = pathlib.Path(keras_seq.__file__).parents[1]
    if (root / "pyproject.toml").is_file():  # the source tree
        found = list((root / "tutorials").glob(_FILES))
    else:
        found = [
            pathlib.Path(file.locate())
            for file in importlib.metadata.files("keras_seq") or []
            if file.match(f"{_INSTALLED}/{_FILES}")
        ]
    if not found:
        raise UsageError(
            "the tutorials are not part of this installation. They are in the "
            f"folder `tutorials` of the sources of keras_seq "
            f"{keras_seq.__version__}; `make run` there runs the first one"
        )
    return found


def _read(path):
    number, name = path.stem.split("_", 1)
    text = opening(path.read_text(encoding="utf-8"))
    title = re.search(r"^# +(?:\d+\. +)?(.+)", text, re.MULTILINE)
    takes = re.search(r"\*\*Takes\*\*\s+(?:about\s+)?(\S+\s+\w+)", text)
    return Tutorial(
        int(number),
        name,
        title[1].strip() if title else name,
        " ".join(takes[1].split()) if takes else "",
        path,
    )
