"""The warm-up file, read with TensorFlow Serving's own messages."""

import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from keras_seq import export
from keras_seq.export.standalone import difference, from_json

pytestmark = pytest.mark.tensorflow
SHIPPED = pathlib.Path(__file__).parents[2] / "saved_models" / "sentiment" / "1"


def test_the_shipped_requests_replay_to_the_golden_answers():
    logs = pytest.importorskip("tensorflow_serving.apis.prediction_log_pb2")
    path = SHIPPED / "assets.extra" / "tf_serving_warmup_requests"
    found = [
        logs.PredictionLog.FromString(record.numpy()).predict_log.request
        for record in tf.data.TFRecordDataset(str(path))
    ]
    card = json.loads((SHIPPED / "model_card.json").read_text())
    golden = [
        (name, pair) for name, pairs in card["golden"].items() for pair in pairs
    ]
    assert len(found) == len(golden) > 0
    model = export.load(SHIPPED)
    for request, (name, pair) in zip(found, golden, strict=True):
        assert request.model_spec.name == card["task"]
        assert request.model_spec.signature_name == name
        inputs = {k: tf.make_ndarray(v) for k, v in request.inputs.items()}
        answer = model.signatures[name](**inputs)
        for key, spec in card["signatures"][name]["outputs"].items():
            want = from_json(pair["outputs"][key], spec["dtype"])
            assert difference(np.asarray(answer[key]), want) is None
