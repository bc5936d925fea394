"""A sound export: what is in the folder, and what it answers elsewhere."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from tensorflow.core.framework import tensor_pb2

from keras_seq import export
from tests.export import tiny

pytestmark = pytest.mark.tensorflow
PROJECT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def model():
    return tiny.dense()


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    """A folder of versions with one in it, verified as a user's would be."""
    folder = tmp_path_factory.mktemp("export") / "tiny"
    path = tiny.save(folder, tiny.sound(model), [model])
    assert path == folder / "1"
    assert [p.name for p in folder.iterdir()] == ["1"]
    return path


def test_the_card_says_what_goes_in_and_what_comes_out(exported, model):
    card = json.loads((exported / "model_card.json").read_text())
    assert card["signatures"] == {
        "serving_default": {
            "inputs": {"features": {"dtype": "float32", "shape": [None, 3]}},
            "outputs": {"scores": {"dtype": "float32", "shape": [None, 2]}},
        }
    }
    assert {key: card[key] for key in tiny.CARD} == tiny.CARD
    assert card["needs"] == ["tensorflow"]
    assert card["versions"]["tensorflow"] == tf.__version__
    whole, first = card["golden"]["serving_default"]
    asked = np.array(whole["inputs"]["features"], "float32")
    np.testing.assert_array_equal(asked, tiny.ROWS)  # to the last bit
    want = np.asarray(model(tiny.ROWS))
    np.testing.assert_allclose(whole["outputs"]["scores"], want, atol=1e-6)
    assert len(first["inputs"]["features"]) == 1


@pytest.mark.parametrize("rows", [0, 1, 2, 7])
def test_a_loaded_folder_answers_as_the_model(exported, model, rows):
    features = np.random.default_rng(0).normal(size=(rows, 3)).astype("f")
    for folder in (exported, exported.parent):
        loaded = export.load(folder)
        assert loaded.folder == exported
        assert loaded.card["task"] == "tiny"
        answer = loaded(features=features.tolist() or features)
        assert list(answer) == ["scores"]
        want = np.asarray(model(features))
        np.testing.assert_allclose(answer["scores"], want, atol=1e-6)
    with pytest.raises(ValueError, match=r"must be \['features'\]. Rec.*'x'"):
        loaded(x=features)


def test_load_names_a_folder_that_holds_no_model(tmp_path):
    with pytest.raises(ValueError, match="must be a SavedModel.*nowhere"):
        export.load(tmp_path / "nowhere")


def test_the_warm_up_file_is_what_tensorflow_serving_reads(exported):
    path = exported / "assets.extra" / "tf_serving_warmup_requests"
    records = [r.numpy() for r in tf.data.TFRecordDataset(str(path))]
    logs = [prediction_log().FromString(record) for record in records]
    assert len(logs) == 2
    for log, rows in zip(logs, (5, 1), strict=True):
        request = log.predict_log.request
        assert request.model_spec.name == "tiny"
        assert request.model_spec.signature_name == "serving_default"
        (key,) = request.inputs
        features = tf.make_ndarray(
            tensor_pb2.TensorProto.FromString(
                request.inputs[key].SerializeToString()
            )
        )
        assert key == "features"
        np.testing.assert_array_equal(features, tiny.ROWS[:rows])
        assert log.SerializeToString(deterministic=True) in records


def prediction_log():
    """The message, declared field by field as TensorFlow Serving has it."""
    file = descriptor_pb2.FileDescriptorProto(
        name="warmup.proto", package="warmup", syntax="proto3"
    )
    tensor = tensor_pb2.TensorProto.DESCRIPTOR
    file.dependency.append(tensor.file.name)

    def message(title, parent=None, **fields):
        made = (parent.nested_type if parent else file.message_type).add()
        made.name = title
        for field, (number, kind) in fields.items():
            added = made.field.add(name=field, number=number, label=1)
            added.type = 9 if kind is str else 11
            if kind is not str:
                added.type_name = kind
        return made

    message("ModelSpec", name=(1, str), signature_name=(3, str))
    request = message("Request", model_spec=(1, ".warmup.ModelSpec"))
    entry = message(
        "InputsEntry", request, key=(1, str), value=(2, "." + tensor.full_name)
    )
    entry.options.map_entry = True
    request.field.add(
        name="inputs",
        number=2,
        label=3,
        type=11,
        type_name=".warmup.Request.InputsEntry",
    )
    message("PredictLog", request=(1, ".warmup.Request"))
    message("PredictionLog", predict_log=(6, ".warmup.PredictLog"))
    pool = descriptor_pool.Default()
    pool.Add(file)
    return message_factory.GetMessageClass(
        pool.FindMessageTypeByName("warmup.PredictionLog")
    )


def test_other_answers_in_the_clean_process_are_an_error(tmp_path):
    @tf.function(input_signature=tiny.features())
    def function(features):
        drawn = tf.raw_ops.RandomUniform(
            shape=[1], dtype=tf.float32, seed=0, seed2=0
        )
        return {"y": features + drawn}

    with pytest.raises(
        export.ExportError, match=r"'serving_default': the output 'y' is .* at "
    ):
        tiny.save(tmp_path, function)
    assert list(tmp_path.iterdir()) == []


KILLED = """
import sys, time
from keras_seq.export import save as module
from tests.export import tiny
def wait(folder):
    print("written", flush=True)
    time.sleep(600)
vars(sys.modules["keras_seq.export.save"])["replay_in_clean_process"] = wait
model = tiny.dense()
tiny.save(sys.argv[1], tiny.sound(model), [model])
"""


def test_a_killed_export_leaves_nothing_to_serve(tmp_path, model, monkeypatch):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline().strip() == b"written"
        os.kill(process.pid, signal.SIGKILL)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".unfinished-")
    assert (left / "saved_model.pb").exists()
    with pytest.raises(ValueError, match="must be a SavedModel"):
        export.load(tmp_path)

    monkeypatch.setitem(
        vars(sys.modules["keras_seq.export.save"]),
        "replay_in_clean_process",
        lambda folder: ["tensorflow"],
    )
    assert tiny.save(tmp_path, tiny.sound(model), [model]).name == "1"
