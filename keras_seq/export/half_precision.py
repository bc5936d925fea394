"""Weights that take half the room on disk, and compute as they always did.

The file holds them as float16. A process that loads it makes float32 variables
of them, once, in the step in which servers fill the tables of a model. So no
function of the model is another than before, and none is slower.
"""

import contextlib
from collections.abc import Iterator

import keras
import numpy as np
import tensorflow as tf

from keras_seq.export.export_error import ExportError
from keras_seq.export.graph_checks import DEFAULT
from keras_seq.export.standalone import difference

LEAST = 1024  # numbers in a variable that is worth it: no bias, no norm
# How far floats of the golden answers may move by the rounding.
RELATIVE, ABSOLUTE = 2e-2, 2e-2
SCORE = "score"  # the output of a search that says how good its text is


class HalfWeight(tf.saved_model.experimental.TrackableResource):
    """Stands for a float32 variable in a SavedModel; holds it as float16.

    Functions that use the variable are exported as they are: what they
    captured is its handle, and this object says how to make it anew.

    Args:
        variable: A float32 `tf.Variable`.
        name: What tells it from the others of the same SavedModel.
    """

    def __init__(self, variable: tf.Variable, name: str):
        super().__init__()
        self._resource_handle = variable.handle
        self._shape, self._name = variable.shape, name
        self.stored = tf.Variable(
            tf.cast(variable, tf.float16), trainable=False
        )

    def _create_resource(self):
        # Where one process loads many files, TensorFlow adds a number to it.
        return tf.raw_ops.VarHandleOp(
            dtype=tf.float32, shape=self._shape, shared_name=self._name
        )

    def _initialize(self):
        tf.raw_ops.AssignVariableOp(
            resource=self.resource_handle,
            value=tf.cast(self.stored, tf.float32),
        )

    def _destroy_resource(self):
        # Traced for the file: Python also calls this when it forgets the
        # object here, whose handle is that of the live model.
        if tf.inside_function():
            tf.raw_ops.DestroyResourceOp(
                resource=self.resource_handle, ignore_lookup_error=True
            )


def weights_to_halve(tracked) -> list[tf.Variable]:
    """Return the variables of models that are large and fit into float16."""
    found = {
        id(variable.value): variable.value
        for resource in tracked
        if isinstance(resource, keras.Model)
        for variable in resource.variables
    }
    return [value for value in found.values() if _is_worth_it(value)]


@contextlib.contextmanager
def rounded_to_half(variables) -> Iterator[None]:
    """Let variables have the values that float16 can hold, for a while."""
    before = [variable.numpy() for variable in variables]
    try:
        for variable, value in zip(variables, before, strict=True):
            variable.assign(value.astype("float16").astype("float32"))
        yield
    finally:
        for variable, value in zip(variables, before, strict=True):
            variable.assign(value)


def note_on_half(variables, exact: dict, halved: dict) -> dict:
    """Return what the model card says of the rounding.

    Args:
        variables: Those that were rounded.
        exact: The golden pairs of the model as it was, by signature.
        halved: Those of the rounded one.

    Returns:
        `stored` and `computed`, types; `weights`, how many numbers;
        `tolerance` of floats; `differs`, which signatures answered otherwise,
        and how: a text, say, that changed places with the next best.

    Raises:
        ExportError: `serving_default` answered otherwise. That a search finds
            another text is no reason, as long as its score stays: then one of
            two that were as good as each other took the place of the other.
    """
    differs, refused = {}, None
    for name, pairs in exact.items():
        for pair, other in zip(pairs, halved[name], strict=True):
            for key, want in pair["outputs"].items():
                got = other["outputs"][key]
                wrong = difference(got, want, RELATIVE, ABSOLUTE)
                if not wrong:
                    continue
                wrong = f"the output {key!r} {wrong}"
                differs.setdefault(name, wrong)
                if name == DEFAULT and not _is_of_a_search(key, pair):
                    refused = refused or wrong
    if refused:
        raise ExportError(
            "`half` must leave the golden answers as they are; export without "
            f"it. Received: signature {DEFAULT!r}: {refused}"
        )
    return {
        "stored": "float16",
        "computed": "float32",
        "weights": sum(int(tf.size(variable)) for variable in variables),
        "tolerance": {"relative": RELATIVE, "absolute": ABSOLUTE},
        "differs": differs,
    }


def _is_of_a_search(key, pair):
    """Whether an output is a text, and another says how good it is."""
    is_text = np.asarray(pair["outputs"][key]).dtype.kind in "OSU"
    return is_text and SCORE in pair["outputs"]


def _is_worth_it(variable):
    if variable.dtype != tf.float32 or tf.size(variable) < LEAST:
        return False
    largest = float(np.finfo("float16").max)
    return float(tf.reduce_max(tf.abs(variable))) <= largest
