"""JSON from strangers: bytes to values, whatever the bytes are."""

import json

from keras_seq.serving.serving_error import bad_request

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_LARGE = 64 * 1024  # bytes; what is smaller cannot hold many values


def decode_json(body: bytes, max_values: int = 1_000_000):
    """Return what `body` says.

    `NaN`, `Infinity` and `-Infinity` are numbers here, as in TensorFlow
    Serving.

    Args:
        body: The bytes.
        max_values: How many values it may hold, counted by commas. While
            they are read no other Python code runs.

    Raises:
        ServingError: It is not UTF-8, not JSON, too much, or nested without
            end.

    >>> decode_json(b'{"instances": [1, NaN]}')
    {'instances': [1, nan]}
    """
    if len(body) > _LARGE and body.count(b",") >= max_values:
        raise bad_request(
            f"The body must not hold more than {max_values} values"
        )
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise bad_request(
            f"JSON Parse error: the body is not UTF-8 at byte {error.start}"
        ) from error
    try:
        return json.loads(text)
    except RecursionError as error:
        raise bad_request(
            "JSON Parse error: the body is nested too deeply"
        ) from error
    except ValueError as error:  # also a number of thousands of digits
        raise bad_request(f"JSON Parse error: {error}") from error


def encode_json(value) -> bytes:
    """Return `value` as UTF-8; not a number is `NaN`."""
    return _ENCODER.encode(value).encode("utf-8", "replace")
