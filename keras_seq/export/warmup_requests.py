"""`assets.extra/tf_serving_warmup_requests`: so that no client waits for it.

TensorFlow Serving sends these requests to a model before it counts as ready.
The file is a TFRecord of `PredictionLog` messages. They are few and simple
enough to be written field by field, which spares the package
tensorflow-serving-api (numbers of the fields: prediction_log.proto,
predict.proto and model.proto of TensorFlow Serving).
"""

import pathlib

import numpy as np
import tensorflow as tf

FILE = pathlib.PurePath("assets.extra", "tf_serving_warmup_requests")


def write_warmup_requests(folder, name: str, golden: dict) -> None:
    """Write one request for each golden pair.

    Args:
        folder: The version folder.
        name: Name of the model.
        golden: `{signature: [{"inputs": arrays, "outputs": arrays}]}`.
    """
    path = pathlib.Path(folder, FILE)
    path.parent.mkdir()
    with tf.io.TFRecordWriter(str(path)) as writer:
        for signature, pairs in golden.items():
            for pair in pairs:
                writer.write(_prediction_log(name, signature, pair["inputs"]))


def _prediction_log(name: str, signature: str, inputs: dict) -> bytes:
    model_spec = _field(1, name.encode()) + _field(3, signature.encode())
    request = _field(1, model_spec)
    for key, array in inputs.items():
        tensor = tf.make_tensor_proto(_strings_as_bytes(array))
        entry = _field(1, key.encode()) + _field(2, tensor.SerializeToString())
        request += _field(2, entry)  # a map is a list of such entries
    predict_log = _field(1, request)
    return _field(6, predict_log)


def _strings_as_bytes(array):
    return array.tolist() if array.dtype == np.object_ else array


def _field(number: int, content: bytes) -> bytes:
    """Write a field of protobuf's kind 2: bytes with their length before."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    r"""Write a number, seven bits to a byte, the lowest first.

    >>> _varint(1), _varint(300)
    (b'\x01', b'\xac\x02')
    """
    written = bytearray()
    while value >= 128:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])
