"""JSON from strangers: bytes to values, whatever the bytes are."""

import json

from keras_seq.serving.serving_error import bad_request


def decode_json(body: bytes):
    """Return what `body` says.

    `NaN`, `Infinity` and `-Infinity` are numbers here, as in TensorFlow
    Serving.

    Raises:
        ServingError: It is not UTF-8, not JSON, or nested without end.

    >>> decode_json(b'{"instances": [1, NaN]}')
    {'instances': [1, nan]}
    """
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
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "replace"
    )
