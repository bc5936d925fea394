"""Pictures in a folder or in zip files, read one at a time."""

import filecmp
import lzma
import os
import pathlib
import threading
import typing
import zipfile
import zlib
from collections.abc import Iterator

ENDINGS = (".jpg", ".jpeg", ".png", ".gif", ".bmp")
# What Python's `zipfile` raises at a member that is damaged (or was replaced
# since it was listed), encrypted, or packed in a way it does not know.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    KeyError,
    OSError,
    RuntimeError,
)


class ImagePlace(typing.NamedTuple):
    """Where a picture lies.

    Attributes:
        name: Its name, with the folders it is in.
        file: The file, or the zip file that it is in.
        member: Its name in the zip file; None if it is in none.
        stamp: What a zip file says of its contents; "" if it is in none.
    """

    name: str
    file: pathlib.Path
    member: str | None = None
    stamp: str = ""


class ImageFiles:
    """Finds pictures by name, whether they lie in folders or in zip files.

    Nothing is read but the lists of names, until a picture is asked for. A
    picture goes by the name of its file, alone or with the folders it is in.
    Of pictures in several `paths` the first is taken; within one of them, a
    name must not mean two different pictures.

    Args:
        paths: A folder, a zip file, or a list of such.
    """

    def __init__(self, paths):
        if isinstance(paths, (str, os.PathLike)):
            paths = [paths]
        self.paths = tuple(pathlib.Path(path).expanduser() for path in paths)
        # For each path, by the last part of their names.
        self._listed = [{} for _ in self.paths]
        self._names = {}
        self._lock = threading.Lock()
        self._archives = {}
        for path, listed in zip(self.paths, self._listed, strict=True):
            for place in _places(path):
                alike = listed.setdefault(_last(place.name), {})
                alike[place.name] = place
                self._names[place.name] = None
        if not self._names:
            raise ValueError(
                f"`images` must hold pictures ({', '.join(ENDINGS)}). "
                f"Received: {', '.join(map(str, self.paths)) or 'no path'}, "
                "where there is none"
            )

    def __len__(self):
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name):
        return self.find(name) is not None

    def find(self, name) -> ImagePlace | None:
        """Return where a picture lies; None if there is none of that name.

        Raises:
            ValueError: If there are two, in different folders.
        """
        name = str(pathlib.PurePosixPath(name))
        for path, listed in zip(self.paths, self._listed, strict=True):
            alike = listed.get(_last(name), {})
            if name in alike:
                return alike[name]
            found = [p for p in alike.values() if _ends_with(p.name, name)]
            if len(found) > 1 and not _are_one(found):
                told = " and ".join(place.name for place in found[:3])
                raise ValueError(
                    "`name` must mean one picture: say which folder it is in. "
                    f"Received: {name!r}, which is {told} in {path}"
                )
            # Or the name begins with folders above `path`.
            found = found or sorted(
                (p for p in alike.values() if _ends_with(name, p.name)),
                key=lambda place: -len(place.name),
            )
            if found:
                return found[0]
        return None

    def read(self, name) -> bytes:
        """Return the bytes of one file.

        Raises:
            OSError: If it cannot be read; of a member of a zip file, too.
        """
        place = self._place(name)
        if place.member is None:
            return place.file.read_bytes()
        try:
            # A zip file has one reading position: one reader at a time.
            with self._lock:
                if place.file not in self._archives:
                    self._archives[place.file] = zipfile.ZipFile(place.file)
                return self._archives[place.file].read(place.member)
        except _UNREADABLE as error:
            raise OSError(
                f"{place.member} in {place.file} cannot be unpacked ({error})"
            ) from error

    def stamp(self, name) -> str:
        """Return what changes when the contents of a file do.

        Of a member of a zip file its checksum and size, of another file its
        size and the time it was written.
        """
        place = self._place(name)
        if place.member is not None:
            return place.stamp
        try:
            status = place.file.stat()
        except OSError:
            return "not there"
        return f"{status.st_size}-{status.st_mtime_ns}"

    def _place(self, name):
        place = self.find(name)
        if place is None:
            raise ValueError(
                f"`name` must be one of the {len(self)} pictures in "
                f"{', '.join(map(str, self.paths))}. Received: {name!r}"
            )
        return place


def _last(name):
    return name.rpartition("/")[2]


def _ends_with(path, end):
    return path.endswith(f"/{end}") or path == end


def _are_one(places):
    """Whether files in several folders are copies of one."""
    first, *others = places
    if first.member is not None:
        return all(place.stamp == first.stamp for place in others)
    return all(
        filecmp.cmp(first.file, place.file, shallow=False) for place in others
    )


def _places(path):
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.suffix.lower() in ENDINGS and file.is_file():
                yield ImagePlace(file.relative_to(path).as_posix(), file)
        return
    if not path.is_file():
        raise ValueError(
            "`images` must be a folder or a zip file. "
            f"Received: {str(path)!r}, which is not there"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise ValueError(
            "`images` must be a folder or a zip file. "
            f"Received: {str(path)!r}, which is neither ({error})"
        ) from error
    for member in members:
        name = pathlib.PurePosixPath(member.filename)
        if name.suffix.lower() not in ENDINGS:
            continue
        if not name.name.startswith("._"):  # What some systems add themselves.
            stamp = f"{member.file_size}-{member.CRC:08x}"
            yield ImagePlace(str(name), path, member.filename, stamp)
