"""Measured rows, kept as JSON.

A row is in two places: below the folder of the run that measured it, so that
a run that was stopped goes on, and below `results/measured`, which is part of
the project, so that the page has every row whoever measured it.
"""

import json
import pathlib

MEASURED = pathlib.Path(__file__).parent / "measured"


def keep_row(row, *folders):
    """Write `row` as `NAME.json` below each folder, whole or not at all."""
    for folder in folders:
        path = _path(folder, row["name"])
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(row, indent=1) + "\n")
        unfinished.replace(path)


def has_row(name, folder) -> bool:
    """Whether `folder` has the row."""
    return _path(folder, name).is_file()


def find_rows(names, *folders) -> list[dict]:
    """Return the rows that there are, each from the first folder with it."""
    found = []
    for name in names:
        paths = [_path(folder, name) for folder in folders]
        path = next((path for path in paths if path.is_file()), None)
        if path is not None:
            found.append(json.loads(path.read_text()))
    return found


def _path(folder, name):
    return pathlib.Path(folder) / f"{name}.json"
