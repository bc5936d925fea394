"""What stands after `/v1/models/`: a model, a version or label, a method."""

import dataclasses
import re

from keras_seq.serving.serving_error import not_found

_PATH = re.compile(
    r"(?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]{0,99})"
    r"(/versions/(?P<version>[0-9]{1,18})"
    r"|/labels/(?P<label>[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}))?"
    r"(?P<method>/metadata|:[a-z]+)?"
)


@dataclasses.dataclass(frozen=True)
class ModelPath:
    """A model path, taken apart.

    Attributes:
        name: Name of the model.
        version: The version asked for, or None.
        label: The label asked for, or None.
        method: "", "/metadata", ":predict", ...
    """

    name: str
    version: int | None
    label: str | None
    method: str


def parse_model_path(path: str) -> ModelPath:
    """Take a path apart; one that could leave its folder is a 404.

    >>> parse_model_path("m/versions/3:predict")
    ModelPath(name='m', version=3, label=None, method=':predict')
    """
    match = _PATH.fullmatch(path)
    if match is None:
        raise not_found("Malformed request: no such model, version or method")
    number = match["version"]
    return ModelPath(
        match["name"],
        None if number is None else int(number),
        match["label"],
        match["method"] or "",
    )
