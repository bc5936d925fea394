"""`model_card.json`: what a model is for, how good it is, how it answers."""

import datetime
import json
import pathlib
import platform

import keras
import numpy as np
import tensorflow as tf

import keras_seq
from keras_seq.export.export_error import ExportError
from keras_seq.export.standalone import CARD, to_json

REQUIRED = {
    "task": str,
    "data": dict,
    "metrics": list,
    "licence": str,
    "credits": list,
}
WRITTEN_HERE = (
    "format",
    "created",
    "versions",
    "needs",
    "signatures",
    "golden",
    "half",
    "runtime",
)
METRIC = ("name", "value", "command")


def check_card(card: dict) -> None:
    """Raise `ValueError` if `card` lacks what a stranger has to know.

    Args:
        card: `task`; `data`, a dict that says what it learned from; `metrics`,
            a list of dicts with at least `name`, `value` and the `command`
            that measured it; `licence`; `credits`, a list. Other keys are
            kept, whatever JSON can hold.
    """
    for key, kind in REQUIRED.items():
        if not isinstance(card.get(key), kind):
            raise ValueError(
                f"`card[{key!r}]` must be a {kind.__name__}. "
                f"Received: {card.get(key)!r}"
            )
    for metric in card["metrics"]:
        missing = [key for key in METRIC if key not in metric]
        if missing:
            raise ValueError(
                "each of `card['metrics']` must say its name, its value and "
                f"the command that measured it. Received: {metric}"
            )
    reserved = [key for key in WRITTEN_HERE if key in card]
    if reserved:
        raise ValueError(
            f"`card` must leave {reserved} to the export. Received: them too"
        )
    try:
        json.dumps(card, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"`card` must hold what JSON can. Received: {error}"
        ) from error


def write_card(
    folder, card: dict, signatures: dict, golden: dict, needs: list[str]
) -> None:
    """Write the card of an export into its folder.

    Args:
        folder: The version folder.
        card: What the task knows.
        signatures: As `describe_signatures` returns them.
        golden: `{signature: [{"inputs": arrays, "outputs": arrays}]}`.
        needs: The packages that a process needs to load the folder.
    """
    whole = {
        "format": 1,
        **card,
        "created": datetime.datetime.now(datetime.UTC).isoformat(
            timespec="seconds"
        ),
        "versions": {
            "keras_seq": keras_seq.__version__,
            "keras": keras.__version__,
            "tensorflow": tf.__version__,
            "python": platform.python_version(),
        },
        "needs": needs,
        "signatures": signatures,
        "golden": {
            name: [
                {
                    side: {key: to_json(a) for key, a in arrays.items()}
                    for side, arrays in pair.items()
                }
                for pair in pairs
            ]
            for name, pairs in golden.items()
        },
    }
    text = json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)
    path = pathlib.Path(folder, CARD)
    path.write_text(text + "\n", encoding="utf-8")


def read_card(folder) -> dict:
    """Return the card of a version folder; empty if it has none."""
    path = pathlib.Path(folder, CARD)
    if not path.is_file():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: must be JSON. Received: {error}") from error


def check_finite(signature: str, outputs: dict[str, np.ndarray]) -> None:
    """Raise `ExportError` if a golden answer is not a number."""
    for name, array in outputs.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ExportError(
                f"signature {signature!r}: the golden answer {name!r} must be "
                "finite. Received: NaN or infinity in it"
            )
