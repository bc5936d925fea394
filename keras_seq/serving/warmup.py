"""The first calls of a model, made before a client makes them.

TensorFlow plans a graph when it first runs, which takes many times as long as
the next calls. The requests are those of `assets.extra/
tf_serving_warmup_requests` (a TFRecord of `PredictionLog` messages, read here
field by field, which spares tensorflow-serving-api), or the golden questions of
the model card.
"""

import json
import pathlib
from collections.abc import Iterator

import numpy as np

from keras_seq.serving.predict_codec import DEFAULT_SIGNATURE
from keras_seq.serving.servable import CARD
from keras_seq.serving.tensor_json import decode_tensor

REQUESTS = pathlib.PurePath("assets.extra", "tf_serving_warmup_requests")
ROUNDS = 2  # the second call is the first that is as fast as all others
# Numbers of the fields in prediction_log.proto, predict.proto and model.proto.
_PREDICT_LOG, _REQUEST, _MODEL_SPEC, _INPUTS, _SIGNATURE = 6, 1, 1, 2, 3


def warm_up(servable, max_batch_size: int = 1) -> int:
    """Send a model its warm-up requests; return how many there were.

    The default signature is also asked for batches, up to `max_batch_size`
    rows: kernels are chosen, and memory is taken, for each size anew.
    """
    requests = list(warmup_requests(servable))
    for _ in range(ROUNDS):
        for signature, inputs in requests:
            servable.run(signature, inputs)
    for inputs in _batches(servable, requests, max_batch_size):
        servable.run(DEFAULT_SIGNATURE, inputs)
    return len(requests)


def _batches(servable, requests, max_batch_size):
    """Yield the first default request, repeated to batches of some sizes."""
    first = next((i for name, i in requests if name == DEFAULT_SIGNATURE), None)
    if first is None or not servable.signatures[DEFAULT_SIGNATURE].can_batch:
        return
    size = 1
    while size < max_batch_size:
        size = min(4 * size, max_batch_size)
        yield {
            key: array[np.arange(size) % len(array)]
            for key, array in first.items()
        }


def warmup_requests(servable) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Yield `(signature, inputs)` of what the folder has to offer."""
    folder = servable.folder
    if (folder / REQUESTS).is_file():
        yield from _recorded(folder / REQUESTS)
    elif (folder / CARD).is_file():
        yield from _golden(folder / CARD, servable.signatures)


def _recorded(path):
    import tensorflow as tf

    for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
        for number, predict_log in _fields(record):
            if number == _PREDICT_LOG:
                yield _request(dict(_fields(predict_log))[_REQUEST])


def _request(message):
    from tensorflow.core.framework import tensor_pb2
    from tensorflow.python.framework.tensor_util import MakeNdarray

    signature, inputs = DEFAULT_SIGNATURE, {}
    for number, content in _fields(message):
        if number == _MODEL_SPEC:
            spec = dict(_fields(content))
            signature = spec.get(_SIGNATURE, b"serving_default").decode()
        elif number == _INPUTS:
            entry = dict(_fields(content))
            tensor = tensor_pb2.TensorProto.FromString(entry[2])
            inputs[entry[1].decode()] = MakeNdarray(tensor)
    return signature, inputs


def _golden(path, signatures):
    card = json.loads(path.read_text(encoding="utf-8"))
    for name, pairs in card.get("golden", {}).items():
        for pair in pairs if name in signatures else ():
            specs = signatures[name].inputs
            yield (
                name,
                {
                    key: decode_tensor(
                        key, value, specs[key].dtype, specs[key].shape
                    )
                    for key, value in pair["inputs"].items()
                },
            )


def _fields(message: bytes):
    r"""Yield number and content of the fields that hold bytes.

    >>> list(_fields(b"\x0a\x02hi\x10\x05"))
    [(1, b'hi')]
    """
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        number, kind = key >> 3, key & 7
        size, place = _varint(message, place) if kind in (0, 2) else (0, place)
        if kind == 2:
            yield number, message[place : place + size]
            place += size
        elif kind != 0:
            place += {1: 8, 5: 4}[kind]


def _varint(message, place):
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
