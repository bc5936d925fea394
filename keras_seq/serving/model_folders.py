"""Which models there are on disk: `BASE/NAME/<version>/saved_model.pb`."""

import pathlib
import re

FILE = "saved_model.pb"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


def find_models(folders) -> dict[str, dict[int, pathlib.Path]]:
    """Return `{name: {version: folder}}` of what is there now.

    Args:
        folders: Folders of models, folders of versions, or both.

    Raises:
        ValueError: Two folders have models of the same name.
    """
    found = {}
    for folder in map(pathlib.Path, folders):
        folder = folder.resolve()
        own = find_versions(folder)
        models = {folder.name: own} if own else _models_in(folder)
        for name, versions in models.items():
            if name in found:
                raise ValueError(
                    "`folders` must hold each name once. "
                    f"Received: {name!r} twice"
                )
            found[name] = versions
    return found


def find_versions(folder: pathlib.Path) -> dict[int, pathlib.Path]:
    """Return the SavedModels in `folder` by number, lowest first."""
    if not folder.is_dir():
        return {}
    found = {
        int(path.name): path
        for path in folder.iterdir()
        if path.name.isascii()
        and path.name.isdigit()
        and len(path.name) < 19
        and (path / FILE).is_file()
    }
    return dict(sorted(found.items()))


def fingerprint(folder: pathlib.Path) -> tuple:
    """Return what changes when a file of the folder does."""
    stats = [path.stat() for path in folder.rglob("*")]
    return (
        len(stats),
        sum(stat.st_size for stat in stats),
        max((stat.st_mtime_ns for stat in stats), default=0),
    )


def _models_in(base):
    if not base.is_dir():
        return {}
    return {
        path.name: versions
        for path in sorted(base.iterdir())
        if NAME.fullmatch(path.name) and (versions := find_versions(path))
    }
