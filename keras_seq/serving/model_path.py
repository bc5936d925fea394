"""What stands after `/v1/models/`: a model, a version or label, a method."""

import dataclasses
import functools
import re

from keras_seq.serving.serving_error import bad_request

_WHICH = (
    r"/v1/models/(?P<name>[^/:]+)"
    r"(/versions/(?P<version>[0-9]{1,18})|/labels/(?P<label>[^/:]+))?"
)
_PATHS = {
    "GET": re.compile(_WHICH + r"(?P<method>/metadata)?"),
    "POST": re.compile(_WHICH + r"(?P<method>:predict|:classify|:regress)"),
}
_PATHS["HEAD"] = _PATHS["GET"]


@dataclasses.dataclass(frozen=True)
class ModelPath:
    """A model path, taken apart.

    Attributes:
        name: Name of the model, as the client says it: look it up among
            those there are, and never on the disk.
        version: The version asked for, or None.
        label: The label asked for, or None.
        method: "", "/metadata", ":predict", ...
    """

    name: str
    version: int | None
    label: str | None
    method: str


@functools.lru_cache(maxsize=256)
def parse_model_path(http_method: str, path: str) -> ModelPath:
    """Take a path apart.

    Raises:
        ServingError: 400, as TensorFlow Serving says it.

    >>> parse_model_path("POST", "/v1/models/m/versions/3:predict")
    ModelPath(name='m', version=3, label=None, method=':predict')
    >>> parse_model_path("GET", "/v1/models/m:predict")
    Traceback (most recent call last):
    keras_seq.serving.serving_error.ServingError: Malformed request: GET ...
    """
    pattern = _PATHS.get(http_method)
    match = pattern and pattern.fullmatch(path)
    if not match:
        raise bad_request(f"Malformed request: {http_method} {path[:200]}")
    number = match["version"]
    return ModelPath(
        match["name"],
        None if number is None else int(number),
        match["label"],
        match["method"] or "",
    )
