"""Encoders and classifiers as LiteRT files, for phones and small boards."""

import pathlib
import re

import keras
import tensorflow as tf

from keras_seq.export.export_error import ExportError
from keras_seq.export.needed_extra import needed_extra
from keras_seq.export.save_file import save_file
from keras_seq.export.standalone import LITERT


def save_litert(
    folder,
    model: keras.Model,
    *,
    card: dict,
    golden: dict,
    beside: dict[str, bytes] | None = None,
    version: int | None = None,
) -> pathlib.Path:
    """Write `folder/<version>/model.tflite`, which answers in LiteRT.

    As `save_onnx`, whose arguments it has, with LiteRT in the place of ONNX
    Runtime. The file is made of LiteRT's own operations: it needs no Flex
    delegate, which would bring TensorFlow along.

    Needs the extra `[litert]`: ai-edge-litert.
    """
    with needed_extra("save_litert", "litert", "ai-edge-litert"):
        import ai_edge_litert  # noqa: F401  (the clean process needs it)

    return save_file(
        folder,
        model,
        LITERT,
        _converted,
        card=card,
        golden=golden,
        beside=beside,
        version=version,
    )


def _converted(plain):
    converter = tf.lite.TFLiteConverter.from_concrete_functions(
        [plain.function.get_concrete_function()], plain.tracked
    )
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
    try:
        return converter.convert()
    except Exception as error:  # of any kind: it is not our code
        foreign = sorted(set(re.findall(r"'tf\.(\w+)' op", str(error))))
        said = str(error).strip().splitlines() or [repr(error)]
        raise ExportError(
            "the model must be made of what LiteRT has. "
            f"Received: {', '.join(foreign) or said[0]}"
        ) from error
