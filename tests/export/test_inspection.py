"""What is read from a SavedModel, and what a GPU lacks for it."""

import pathlib

import pytest
import tensorflow as tf

from keras_seq.export.gpu_report import gpu_report
from keras_seq.export.graph_checks import every_node, read_meta_graph
from keras_seq.export.inspection import inspect
from tests.export import tiny

pytestmark = pytest.mark.tensorflow
SHIPPED = pathlib.Path(__file__).parents[2] / "saved_models" / "sentiment"
cuda_build = pytest.mark.skipif(
    not tf.sysconfig.get_build_info().get("is_cuda_build"),
    reason="this TensorFlow knows no GPU kernels",
)


def written(folder, function, tracked=()):
    """Save without the checks of `export.save`, as anybody could."""
    module = tf.Module()
    module.tracked = list(tracked)
    tf.saved_model.save(module, str(folder), {"serving_default": function})
    return folder


def nth_element(x):
    """An operation that has no kernel for the GPU."""
    return tf.raw_ops.NthElement(input=x, n=0)[tf.newaxis]


def taking_features(function):
    return tf.function(function, input_signature=tiny.features())


@pytest.fixture(scope="module")
def shipped():
    return inspect(SHIPPED)


@cuda_build
def test_the_shipped_model_is_clean(shipped):
    assert shipped["is_clean"] and shipped["refused"] == []
    assert shipped["folder"] == str(SHIPPED / "1")
    assert shipped["gpu"]["unexpected"] == []
    by_kind = {row["op"]: row["kind"] for row in shipped["gpu"]["expected"]}
    assert by_kind["RestoreV2"] == "checkpoint"
    assert by_kind["LookupTableFindV2"] == "lookup"
    assert by_kind["StringLower"] == "text"
    assert by_kind["NotEqual"] == "strings"
    assert by_kind["RaggedRange"] == "rows of texts"
    assert by_kind["VarHandleOp"] == "int32 variables"
    # The model itself is nowhere in the list.
    assert not {"MatMul", "Softmax", "ReadVariableOp", "While"} & set(by_kind)
    assert any(
        "registered" in limit for limit in shipped["gpu"]["does_not_prove"]
    )


@cuda_build
@pytest.mark.parametrize("name", ["translation", "captioning"])
def test_the_other_shipped_models_are_clean(name):
    folder = SHIPPED.parent / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not shipped")
    found = inspect(folder)
    assert found["refused"] == []
    assert found["gpu"]["unexpected"] == []
    assert found["is_clean"]
    kinds = {row["kind"] for row in found["gpu"]["expected"]}
    assert "checkpoint" in kinds
    assert ("images" in kinds) == (name == "captioning")


def test_sizes_are_those_on_disk(shipped):
    version = SHIPPED / "1"
    files = [path for path in version.rglob("*") if path.is_file()]
    assert sum(shipped["bytes"].values()) == sum(
        path.stat().st_size for path in files
    )
    weights = sum(kind["bytes"] for kind in shipped["weights"].values())
    data = version / "variables" / "variables.data-00000-of-00001"
    assert 0.99 < weights / data.stat().st_size <= 1
    assert shipped["tokens"]["max_length"] == 300
    assert shipped["tokens"]["tables_of_words"] == [25000, 24996]


def test_operations_are_counted_in_functions_too(shipped):
    nodes = list(every_node(read_meta_graph(SHIPPED / "1")))
    assert sum(shipped["operations"].values()) == len(nodes)
    # Gates of a GRU are in a function of a loop of a function.
    assert shipped["operations"]["Sigmoid"] >= 1


@cuda_build
def test_an_operation_without_a_gpu_kernel_is_found_deep_inside(tmp_path):
    @tf.function
    def inner(x):
        return tf.raw_ops.Unique(x=x, out_idx=tf.int32).y

    @taking_features
    def function(features):
        flat = tf.reshape(features, (-1,))
        found = tf.cond(
            tf.reduce_sum(flat) > 0,
            lambda: nth_element(inner(flat)),
            lambda: inner(flat),
        )
        rows = tf.RaggedTensor.from_row_lengths(flat, [tf.size(flat)])
        return {"y": features + tf.reduce_sum(found), "z": rows.to_tensor()}

    report = gpu_report(read_meta_graph(written(tmp_path / "1", function)))
    assert not report.is_clean
    found = {row.op: row for row in report.unexpected}
    assert set(found) == {"NthElement", "RaggedTensorToTensor"}
    assert found["NthElement"].signatures == ("serving_default",)
    assert dict(found["NthElement"].types) == {"T": "float32"}
    assert found["NthElement"].count == 1
    assert not inspect(tmp_path)["is_clean"]


@cuda_build
def test_a_type_without_a_gpu_kernel_is_told_from_one_with(tmp_path):
    def multiply(dtype):
        @taking_features
        def function(features):
            whole = tf.cast(features, dtype)
            return {"y": tf.matmul(whole, whole, transpose_b=True)}

        folder = written(tmp_path / dtype, function)
        return gpu_report(read_meta_graph(folder)).unexpected

    assert multiply("float32") == ()
    (row,) = multiply("int64")
    assert (row.op, dict(row.types)) == ("MatMul", {"T": "int64"})


@cuda_build
def test_ragged_rows_are_expected_of_texts_only(tmp_path):
    ids = tf.TensorSpec((None,), tf.int64, name="ids")

    @tf.function(input_signature=[ids])
    def function(ids):
        return {
            "y": tf.raw_ops.RaggedRange(
                starts=ids, limits=ids + 2, deltas=tf.ones_like(ids)
            ).rt_dense_values
        }

    (row,) = gpu_report(read_meta_graph(written(tmp_path, function))).unexpected
    assert row.op == "RaggedRange"


@cuda_build
def test_pixels_are_expected_of_image_files_only(tmp_path):
    def resized(pixels):
        return tf.raw_ops.ScaleAndTranslate(
            images=pixels, size=[5, 7], scale=[1.0, 1.0], translation=[0.0, 0.0]
        )

    @tf.function(
        input_signature=[tf.TensorSpec((None,), tf.string, name="image")]
    )
    def of_files(image):
        pixels = tf.io.decode_raw(image, tf.uint8)
        return {"y": resized(tf.reshape(pixels, (-1, 3, 3, 3)))}

    report = gpu_report(read_meta_graph(written(tmp_path / "1", of_files)))
    assert report.unexpected == ()
    by_kind = {row.op: row.kind for row in report.expected}
    assert by_kind["DecodeRaw"] == by_kind["ScaleAndTranslate"] == "images"

    pixels = tf.TensorSpec((None, 3, 3, 3), tf.uint8, name="pixels")

    @tf.function(input_signature=[pixels])
    def of_pixels(pixels):
        return {"y": resized(pixels)}

    report = gpu_report(read_meta_graph(written(tmp_path / "2", of_pixels)))
    assert [row.op for row in report.unexpected] == ["ScaleAndTranslate"]


def test_python_in_the_graph_is_refused(tmp_path):
    @taking_features
    def function(features):
        y = tf.numpy_function(lambda x: x + 1, [features], tf.float32)
        return {"y": tf.ensure_shape(y, (None, tiny.FEATURES))}

    found = inspect(written(tmp_path / "1", function))
    assert not found["is_clean"]
    (why,) = found["refused"]
    assert "must not hold PyFunc, which calls Python" in why
    assert found["card"] == {} and found["golden"] == {}


def test_a_build_without_cuda_says_that_it_cannot_tell(tmp_path, monkeypatch):
    monkeypatch.setattr(
        tf.sysconfig, "get_build_info", lambda: {"is_cuda_build": False}
    )
    function = taking_features(lambda features: {"y": features + 1})
    found = inspect(written(tmp_path / "1", function))
    assert "not the CUDA build" in found["gpu"]["problem"]
    assert not found["is_clean"] and found["refused"] == []


def test_what_is_no_saved_model(tmp_path):
    with pytest.raises(ValueError, match="`folder` must be a SavedModel"):
        inspect(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"\xff\xff no model")
    with pytest.raises(ValueError, match="must be a SavedModel. Received"):
        inspect(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(ValueError, match="must be a SavedModel. Received"):
        inspect(tmp_path)
