"""Pictures in a folder or in zip files, read one at a time."""

import os
import pathlib
import threading
import zipfile
from collections.abc import Iterator

ENDINGS = (".jpg", ".jpeg", ".png", ".gif", ".bmp")


class ImageFiles:
    """Finds pictures by name, whether they lie in folders or in zip files.

    Nothing is read but the lists of names, until a picture is asked for. A
    name is that of the file without its folder; of two with one name the
    first is taken.

    Args:
        paths: A folder, a zip file, or a list of such.
    """

    def __init__(self, paths):
        if isinstance(paths, (str, os.PathLike)):
            paths = [paths]
        self.paths = tuple(pathlib.Path(path).expanduser() for path in paths)
        self._places = {}
        self._lock = threading.Lock()
        self._archives = {}
        for path in self.paths:
            for name, place in _listed(path):
                self._places.setdefault(name, place)
        if not self._places:
            raise ValueError(
                f"`images` must hold pictures ({', '.join(ENDINGS)}). "
                f"Received: {', '.join(map(str, self.paths)) or 'no path'}, "
                "where there is none"
            )

    def __len__(self):
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __contains__(self, name):
        return name in self._places

    def read(self, name) -> bytes:
        """Return the bytes of one file."""
        if name not in self._places:
            raise ValueError(
                f"`name` must be one of the {len(self)} pictures in "
                f"{', '.join(map(str, self.paths))}. Received: {name!r}"
            )
        place, member = self._places[name]
        if member is None:
            return place.read_bytes()
        # A zip file has one reading position: one reader at a time.
        with self._lock:
            if place not in self._archives:
                self._archives[place] = zipfile.ZipFile(place)
            return self._archives[place].read(member)


def _listed(path):
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.suffix.lower() in ENDINGS and file.is_file():
                yield file.name, (file, None)
        return
    if not path.is_file():
        raise ValueError(
            "`images` must be a folder or a zip file. "
            f"Received: {str(path)!r}, which is not there"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
    except zipfile.BadZipFile as error:
        raise ValueError(
            "`images` must be a folder or a zip file. "
            f"Received: {str(path)!r}, which is neither ({error})"
        ) from error
    for member in members:
        name = pathlib.PurePosixPath(member).name
        if pathlib.PurePosixPath(member).suffix.lower() not in ENDINGS:
            continue
        if not name.startswith("._"):  # What some systems add of their own.
            yield name, (path, member)
