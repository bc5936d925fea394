"""The files of the page; no others can be asked for."""

import pathlib

from keras_seq.serving.reply import Reply
from keras_seq.serving.serving_error import not_found

FOLDER = pathlib.Path(__file__).parent / "page"
_KINDS = {
    "index.html": b"text/html; charset=utf-8",
    "app.js": b"text/javascript; charset=utf-8",
    "style.css": b"text/css; charset=utf-8",
}


def is_page(path: str) -> bool:
    """Whether a path is asked for by browsers, not by clients."""
    return path[1:] in ("", *_KINDS) or path.startswith("/static/")


def read_page(path: str) -> Reply:
    """Return a file of the page.

    Raises:
        ServingError: 404.
    """
    name = path[1:].removeprefix("static/") or "index.html"
    file = FOLDER / name
    if name not in _KINDS or not file.is_file():
        raise not_found("Malformed request: no such file")
    return Reply(file.read_bytes(), _KINDS[name])
