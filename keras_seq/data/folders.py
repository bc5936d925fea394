"""Find the files of a data set in the folder a user names."""

import os
import pathlib

VARIABLE = "KERAS_SEQ_DATA"
ENDINGS = ("", ".gz", ".xz")


def find_file(data_dir, dataset, name) -> pathlib.Path:
    """Return the path of `name`, plain or compressed.

    Looked for in `data_dir/dataset` and in `data_dir` itself. Without a
    `data_dir`, the environment variable `KERAS_SEQ_DATA` names it.

    Args:
        data_dir: A folder, or None.
        dataset: The data set's own folder in it, like "imdb".
        name: The file, without `.gz` or `.xz`, like "train.tsv".
    """
    told = f"`data_dir` (or the environment variable {VARIABLE})"
    root = data_dir or os.environ.get(VARIABLE)
    if not root:
        raise ValueError(
            f"{told} must name the folder that holds {dataset}/{name}"
            f"[.gz or .xz]. Received: neither"
        )
    root = pathlib.Path(root).expanduser()
    if not root.is_dir():
        raise ValueError(
            f"{told} must be a folder. Received: {str(root)!r}, which is not"
        )
    looked_for = [
        folder / f"{name}{ending}"
        for folder in (root / dataset, root)
        for ending in ENDINGS
    ]
    for path in looked_for:
        if path.is_file():
            return path
    raise ValueError(
        f"{told} must hold the data set {dataset!r}. "
        f"Received: {str(root)!r}, where none of these is a file: "
        + ", ".join(str(path.relative_to(root)) for path in looked_for)
    )


def find_folder(data_dir, dataset) -> pathlib.Path:
    """Return the folder, or zip file, that is to hold a data set.

    It is `data_dir/dataset` if there is such a folder, and else `data_dir`
    itself. Without a `data_dir`, `KERAS_SEQ_DATA` names it.
    """
    told = f"`data_dir` (or the environment variable {VARIABLE})"
    root = data_dir or os.environ.get(VARIABLE)
    if not root:
        raise ValueError(
            f"{told} must name the folder that holds {dataset!r}. "
            "Received: neither"
        )
    root = pathlib.Path(root).expanduser()
    if not root.exists():
        raise ValueError(
            f"{told} must be a folder or a zip file. "
            f"Received: {str(root)!r}, which is not there"
        )
    inside = root / dataset
    return inside if inside.is_dir() else root
