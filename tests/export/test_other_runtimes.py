"""ONNX and LiteRT: files that answer as the model does, or no files."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from keras_seq import export, layers
from keras_seq.export import standalone
from tests.export import tiny

pytestmark = pytest.mark.tensorflow
VOCABULARY, D = 31, 12
IDS = np.array(
    [[4, 8, 15, 16, 23], [7, 3, 0, 0, 0], [9, 0, 0, 0, 0], [0] * 5], "int32"
)
FORMATS = {
    "onnx": (export.save_onnx, "model.onnx", "onnxruntime"),
    "litert": (export.save_litert, "model.tflite", "ai_edge_litert"),
}


@pytest.fixture(params=FORMATS)
def runtime(request):
    """How to save, the name of the file, and the package that runs it."""
    found = FORMATS[request.param]
    pytest.importorskip(found[2])
    if request.param == "onnx":
        pytest.importorskip("tf2onnx")
    return found


def save(runtime, folder, model, **golden):
    return runtime[0](folder, model, card=tiny.CARD, golden=golden)


def answer(path, **inputs):
    functions, _ = standalone.open_functions(path)
    return functions["serving_default"](inputs)


def of_ids(layer, **settings):
    token_ids = keras.Input((None,), dtype="int32", name="token_ids")
    return keras.Model(token_ids, {"states": layer(token_ids)}, **settings)


def encoder():
    keras.utils.set_random_seed(0)
    token_ids = keras.Input((None,), dtype="int32", name="token_ids")
    x = layers.TokenEmbedding(VOCABULARY, D)(token_ids)
    x = layers.SinusoidalPositions()(x)
    x = layers.TransformerEncoder(29, num_heads=3)(x)
    return keras.Model(token_ids, {"states": x})


def test_a_transformer_encoder(runtime, tmp_path):
    model = encoder()
    path = save(runtime, tmp_path, model, token_ids=IDS)
    assert path == tmp_path / "1"
    assert sorted(p.name for p in path.iterdir()) == [
        runtime[1],
        "model_card.json",
    ]
    card = json.loads((path / "model_card.json").read_text())
    assert card["needs"] == [runtime[2]]
    assert card["runtime"]["file"] == runtime[1]
    assert card["signatures"]["serving_default"] == {
        "inputs": {"token_ids": {"dtype": "int32", "shape": [None, None]}},
        "outputs": {"states": {"dtype": "float32", "shape": [None, None, D]}},
    }
    # Batches and lengths that the export never saw, long ones too.
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (2, 11), (13, 2), (3, 97)):
        ids = rng.integers(0, VOCABULARY, shape).astype("int32")
        got = answer(path, token_ids=ids)
        want = model(ids)["states"]
        np.testing.assert_allclose(got["states"], want, rtol=1e-4, atol=1e-5)


def test_inputs_and_outputs_keep_their_names(runtime, tmp_path):
    a = keras.Input((None,), name="first", dtype="int32")
    b = keras.Input((3,), name="second")
    summed = keras.layers.Dense(2, name="summed")(b)
    count = ops.sum(ops.cast(a, "float32"), axis=1, keepdims=True)
    both = keras.layers.Identity(name="both")(summed + count)
    model = keras.Model([b, a], [both, summed])
    path = save(runtime, tmp_path, model, first=IDS[:3], second=np.eye(3))
    got = answer(path, first=IDS, second=np.ones((4, 3), "float32"))
    assert set(got) == {"both", "summed"}
    want = model([np.ones((4, 3), "float32"), IDS])
    np.testing.assert_allclose(got["both"], want[0], rtol=1e-5)
    np.testing.assert_allclose(got["summed"], want[1], rtol=1e-5)


class Search(keras.layers.Layer):
    """What neither runtime has an operation for."""

    def call(self, token_ids):
        table = ops.convert_to_tensor([2, 3, 5, 7])
        flat = ops.reshape(token_ids, (-1,))
        found = ops.searchsorted(table, flat)
        found = ops.reshape(found, ops.shape(token_ids))
        return ops.cast(found, "float32")


def test_what_the_runtime_does_not_know_is_refused(runtime, tmp_path):
    with pytest.raises(export.ExportError, match="made of what .* has.*LowerB"):
        save(runtime, tmp_path, of_ids(Search()), token_ids=IDS)
    assert list(tmp_path.iterdir()) == []


class OtherHere(keras.layers.Layer):
    """Answers otherwise in a graph: stands for a converter that is wrong."""

    def call(self, token_ids):
        share = 1.0 if tf.executing_eagerly() else 1.001
        return ops.cast(token_ids, "float32") * share


def test_a_file_that_answers_otherwise_is_not_kept(runtime, tmp_path):
    with pytest.raises(
        export.ExportError, match="'states' is .* at .*expected"
    ):
        save(runtime, tmp_path, of_ids(OtherHere()), token_ids=IDS)
    assert list(tmp_path.iterdir()) == []


class Frozen(keras.layers.Layer):
    """In a graph it reads as many steps as the golden inputs have."""

    def call(self, token_ids):
        steps = None if tf.executing_eagerly() else IDS.shape[1]
        return ops.sum(ops.cast(token_ids[:, :steps], "float32"), axis=1)


def test_a_file_for_one_length_is_not_kept(tmp_path):
    pytest.importorskip("ai_edge_litert")
    with pytest.raises(export.ExportError, match="'states' is"):
        save(FORMATS["litert"], tmp_path, of_ids(Frozen()), token_ids=IDS)
    assert list(tmp_path.iterdir()) == []


def test_onnx_that_rounds_whole_numbers_is_not_kept(tmp_path):
    """A fault of the converter as it is: it sorts integers as floats."""
    pytest.importorskip("tf2onnx")
    sort = keras.layers.Lambda(lambda x: ops.sort(x * 0x1000001, axis=1))
    with pytest.raises(export.ExportError, match="'states' is"):
        save(FORMATS["onnx"], tmp_path, of_ids(sort), token_ids=IDS)
    assert list(tmp_path.iterdir()) == []


def test_a_length_that_is_fixed_is_refused(runtime, tmp_path):
    token_ids = keras.Input((5,), dtype="int32", name="token_ids")
    model = keras.Model(token_ids, ops.cast(token_ids, "float32"))
    with pytest.raises(export.ExportError, match="token ids of any length"):
        save(runtime, tmp_path, model, token_ids=IDS)


@pytest.mark.parametrize(
    "golden, match",
    [
        ({}, r"must have the inputs \['token_ids'\]. Received: \[\]"),
        ({"ids": IDS}, r"Received: \['ids'\]"),
    ],
)
def test_golden_inputs_are_checked_by_name(tmp_path, golden, match):
    model = of_ids(layers.TokenEmbedding(VOCABULARY, 2))
    pytest.importorskip("tf2onnx")
    with pytest.raises(ValueError, match=match):
        save(FORMATS["onnx"], tmp_path, model, **golden)
    assert list(tmp_path.iterdir()) == []


def test_a_model_has_known_inputs(runtime, tmp_path):
    model = keras.Sequential([keras.layers.Dense(2)])
    with pytest.raises(ValueError, match="`model` must be a functional"):
        save(runtime, tmp_path, model)
