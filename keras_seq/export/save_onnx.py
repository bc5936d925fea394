"""Encoders and classifiers as ONNX files."""

import contextlib
import logging
import pathlib

import keras

from keras_seq.export.export_error import ExportError
from keras_seq.export.needed_extra import needed_extra
from keras_seq.export.save_file import save_file
from keras_seq.export.standalone import ONNX

OPSET = 18  # the first that has the operations on bits, which n-grams need


def save_onnx(
    folder,
    model: keras.Model,
    *,
    card: dict,
    golden: dict,
    beside: dict[str, bytes] | None = None,
    version: int | None = None,
) -> pathlib.Path:
    """Write `folder/<version>/model.onnx`, which answers in ONNX Runtime.

    The version appears in one step, when a process that has ONNX Runtime, and
    neither TensorFlow nor Keras, has given the live model's answers: for the
    golden inputs, for the first row of them, for their first step, and for all
    of them twice in a row. Batch and length stay dynamic.

    Needs the extra `[onnx]`: tf2onnx, onnx, onnxruntime.

    Differs from `keras.Model.export(..., format="onnx")`: our layers take
    their plain way (`ops.portable`), the file is run, and one that answers
    otherwise is not kept.

    What ONNX cannot hold is refused: text (pass token ids), resources, and
    operations that it does not have.

    Args:
        folder: The folder of all versions; not one that a server watches.
        model: A functional `keras.Model`, numbers in and numbers out.
        card: What a stranger has to know, as in `export.save`.
        golden: `{input: array}`, real questions.
        beside: `{file name: content}` to write into the same folder, such as
            the vocabulary.
        version: Default: the next after the highest there is.

    Returns:
        The version folder.

    Raises:
        ExportError: The model was refused, and why. No version was made.
    """
    with needed_extra("save_onnx", "onnx", "tf2onnx, onnx and onnxruntime"):
        import onnx
        import onnxruntime  # noqa: F401  (the clean process needs it)
        import tf2onnx

    def convert(plain):
        with _silenced("tf2onnx"), _silenced("tensorflow"):
            try:
                written, _ = tf2onnx.convert.from_function(
                    plain.function,
                    input_signature=plain.function.input_signature,
                    opset=OPSET,
                )
                onnx.checker.check_model(written)
            except Exception as error:  # of any kind: it is not our code
                said = str(error).strip().splitlines() or [repr(error)]
                raise ExportError(
                    "the model must be made of what ONNX has. "
                    f"Received: {type(error).__name__}: {said[0]}"
                ) from error
        return written.SerializeToString()

    return save_file(
        folder,
        model,
        ONNX,
        convert,
        card=card,
        golden=golden,
        beside=beside,
        version=version,
        opset=OPSET,
    )


@contextlib.contextmanager
def _silenced(name):
    """What goes wrong is raised; it need not be printed as well."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
