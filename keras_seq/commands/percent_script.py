"""Run a percent script cell by cell, and tell what each section is about.

A percent script is Python whose cells begin with `# %%`; what stands under
`# %% [markdown]` is prose in comments. Run with `python`, it only computes;
run from here, its headers appear between what it prints, as in a notebook.
"""

import contextlib
import dataclasses
import pathlib
import re
import sys
import types
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell of a percent script.

    Attributes:
        text: Its source; of a markdown cell, without the comment signs.
        first_line: Number of lines in the file before the text.
        is_markdown: Whether it is prose.
    """

    text: str
    first_line: int
    is_markdown: bool


def cells(source: str) -> list[Cell]:
    r"""Split a percent script; what stands before the first cell is left out.

    >>> source = "# %% [markdown]\n# # Title\n#\n# Prose.\n# %%\nx = 1\n"
    >>> [cell.text for cell in cells(source)]
    ['# Title\n\nProse.', 'x = 1']
    """
    lines = source.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("# %%")]
    found = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        is_markdown = "[markdown]" in lines[start]
        body = lines[start + 1 : end]
        if is_markdown:
            body = [re.sub("^# ?", "", line) for line in body]
        text = "\n".join(body).rstrip()
        found.append(Cell(text, start + 1, is_markdown))
    return found


def opening(source: str) -> str:
    """Return the text of the first markdown cell, or an empty string."""
    return next((c.text for c in cells(source) if c.is_markdown), "")


def run_script(path: pathlib.Path, narrate: Callable[[str], None]) -> None:
    """Run the script as `__main__`.

    Args:
        path: The script.
        narrate: Called with the text of each markdown cell when it is reached.
    """
    with _as_main(path) as module:
        for cell in cells(path.read_text(encoding="utf-8")):
            if cell.is_markdown:
                narrate(cell.text)
                continue
            # The empty lines let tracebacks point to the line in the file.
            code = "\n" * cell.first_line + cell.text
            exec(compile(code, str(path), "exec"), vars(module))


@contextlib.contextmanager
def _as_main(path):
    """Stand in for what `python path` sets up, and put it back."""
    module = types.ModuleType("__main__")
    module.__file__ = str(path)
    main, argv = sys.modules["__main__"], sys.argv
    sys.modules["__main__"], sys.argv = module, [str(path)]
    sys.path.insert(0, str(path.parent))
    try:
        yield module
    finally:
        sys.modules["__main__"], sys.argv = main, argv
        with contextlib.suppress(ValueError):
            sys.path.remove(str(path.parent))
