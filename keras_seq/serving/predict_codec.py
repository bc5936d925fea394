"""The body of `:predict` and its answer, as TensorFlow Serving has them.

`{"instances": [...]}` holds rows and is answered by `{"predictions": [...]}`;
`{"inputs": ...}` holds whole tensors and is answered by `{"outputs": ...}`.
"""

import dataclasses

import numpy as np

from keras_seq.serving.serving_error import ServingError, bad_request
from keras_seq.serving.signature import Signature
from keras_seq.serving.tensor_json import decode_tensor, encode_tensor, is_b64

DEFAULT_SIGNATURE = "serving_default"
ROWS, COLUMNS = "instances", "inputs"


@dataclasses.dataclass(frozen=True)
class PredictRequest:
    """A question: arrays by name for a signature.

    Attributes:
        signature: Name of the signature.
        inputs: `{name: array}`.
        by_row: Whether it was asked in rows, and is to be answered so.
    """

    signature: str
    inputs: dict[str, np.ndarray]
    by_row: bool


def decode_request(
    body, signatures: dict[str, Signature], count: int = 100_000
) -> PredictRequest:
    """Return what a decoded body asks.

    Args:
        body: What the JSON held.
        signatures: Those of the model, by name.
        count: How many rows a request may have.

    Raises:
        ServingError: 400, and why.
    """
    if not isinstance(body, dict):
        raise bad_request("JSON body must be an object")
    name = body.get("signature_name", DEFAULT_SIGNATURE)
    if not isinstance(name, str):
        raise bad_request("'signature_name' must be a string")
    name = name or DEFAULT_SIGNATURE
    if name not in signatures:
        raise bad_request(
            f"Serving signature name: {name[:100]!r} not found in signature "
            f"def; there are {sorted(signatures)}"
        )
    if (ROWS in body) == (COLUMNS in body):
        raise bad_request(
            f"JSON body must have exactly one of {ROWS!r} and {COLUMNS!r}"
        )
    specs = signatures[name].inputs
    by_row = ROWS in body
    if by_row:
        columns = _columns_of_rows(body[ROWS], specs, count)
    else:
        columns = _by_name(body[COLUMNS], specs)
    arrays = {
        key: decode_tensor(key, columns[key], spec.dtype, spec.shape)
        for key, spec in specs.items()
    }
    return PredictRequest(name, arrays, by_row)


def check_method(servable, name, method: str) -> None:
    """Refuse to classify or regress, which no signature here is made for.

    Args:
        servable: The model.
        name: The signature that the client named; "" for the default.
        method: ":classify" or ":regress".

    Raises:
        ServingError: 400 with TensorFlow Serving's words; 501 if the model
            has such a signature after all.
    """
    name = name or DEFAULT_SIGNATURE
    if not isinstance(name, str) or name not in servable.signature_defs:
        raise bad_request(
            f"No signature was found with the name: {name!s:.100}"
        )
    has = servable.signature_defs[name].method_name
    wants = f"tensorflow/serving/{method[1:]}"
    if has == wants:
        raise ServingError(501, f"{method} is not offered here; use :predict")
    what = {":classify": "classification", ":regress": "regression"}[method]
    raise bad_request(
        f"Expected {what} signature method_name to be {wants}. Was: {has}"
    )


def encode_answer(
    outputs: dict[str, np.ndarray], request: PredictRequest
) -> dict:
    """Return the answer, ready to be written as JSON."""
    lists = {key: encode_tensor(key, outputs[key]) for key in sorted(outputs)}
    if not request.by_row:
        return {"outputs": _bare_if_alone(lists)}
    rows = {
        np.shape(array)[0] if np.ndim(array) else None
        for array in outputs.values()
    }
    if len(rows) != 1 or None in rows:
        raise ServingError(
            400,
            f"signature {request.signature!r} has outputs without the batch "
            f"as first axis; ask with {COLUMNS!r}",
        )
    if len(lists) == 1:
        return {"predictions": next(iter(lists.values()))}
    names = list(lists)
    return {
        "predictions": [
            dict(zip(names, row, strict=True))
            for row in zip(*lists.values(), strict=True)
        ]
    }


def _columns_of_rows(rows, specs, count):
    if not isinstance(rows, list) or not rows:
        raise bad_request(f"{ROWS!r} must be a list that is not empty")
    if len(rows) > count:
        raise bad_request(f"{ROWS!r} must not be more than {count} rows")
    named = [isinstance(row, dict) and not is_b64(row) for row in rows]
    if not any(named):
        if len(specs) != 1:
            raise bad_request(
                f"{ROWS!r} must be a list of objects with the inputs "
                f"{sorted(specs)}"
            )
        return {next(iter(specs)): rows}
    for is_named, row in zip(named, rows, strict=True):
        if not is_named:
            raise bad_request(
                f"{ROWS!r} must be all objects or all plain values"
            )
        _check_names(row, specs)
    return {key: [row[key] for row in rows] for key in specs}


def _by_name(value, specs):
    if isinstance(value, dict) and not is_b64(value):
        _check_names(value, specs)
        return value
    if len(specs) != 1:
        raise bad_request(
            f"{COLUMNS!r} must be an object with the inputs {sorted(specs)}"
        )
    return {next(iter(specs)): value}


def _check_names(found, specs):
    missing = sorted(set(specs) - set(found))
    if missing:
        raise bad_request(f"Missing named input(s): {missing}")
    unknown = sorted(set(found) - set(specs))
    if unknown:
        shown = [name[:100] for name in unknown[:5]]
        raise bad_request(
            f"Unknown input(s): {shown}; the signature has {sorted(specs)}"
        )


def _bare_if_alone(lists):
    return next(iter(lists.values())) if len(lists) == 1 else lists
