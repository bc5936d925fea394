"""Models with one fault each are refused, by name, and leave no folder."""

import numpy as np
import pytest
import tensorflow as tf

from keras_seq.export import ExportError
from tests.export import tiny

pytestmark = pytest.mark.tensorflow


def refused(folder, function, match, **arguments):
    with pytest.raises(ExportError, match=match):
        tiny.save(folder / "model", function, **arguments)
    assert list((folder / "model").glob("*")) == []


def taking(*specs):
    return tf.function(input_signature=specs)


def test_python_in_the_graph(tmp_path):
    @taking(*tiny.features())
    def function(features):
        return {"y": tf.py_function(lambda x: x + 1, [features], tf.float32)}

    function.get_concrete_function().structured_outputs["y"].set_shape(
        (None, tiny.FEATURES)
    )
    refused(tmp_path, function, "must not hold EagerPyFunc, which calls Python")


def test_python_deep_in_a_function_of_a_function(tmp_path):
    @tf.function
    def inner(x):
        y = tf.numpy_function(lambda x: x + 1, [x], tf.float32)
        return tf.ensure_shape(y, (None, tiny.FEATURES))

    @taking(*tiny.features())
    def function(features):
        some = tf.reduce_sum(features) > -1e9
        return {"y": tf.cond(some, lambda: inner(features), lambda: features)}

    refused(tmp_path, function, "must not hold PyFunc")


def test_cudnn(tmp_path):
    @taking(*tiny.features())
    def function(features):
        outputs = tf.raw_ops.CudnnRNNV3(
            input=features[tf.newaxis],
            input_h=tf.zeros((1, 5, 2)),
            input_c=tf.zeros((1, 5, 2)),
            params=tf.zeros((99,)),
            sequence_lengths=tf.ones((5,), tf.int32),
            is_training=False,
        )
        return {"y": tf.ensure_shape(outputs.output[0], (None, 2))}

    refused(tmp_path, function, "must not hold CudnnRNNV3, which runs on an NV")


def test_a_table_that_is_not_tracked(tmp_path):
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a"], [1]), default_value=0
    )

    @taking(tf.TensorSpec((None,), tf.string, name="text"))
    def function(text):
        return {"ids": table.lookup(text)}

    inputs = {"text": ["a", "b"]}
    refused(tmp_path, function, "`tracked` must hold every", inputs=inputs)


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_floats_that_are_not_float32(tmp_path, dtype):
    @taking(*tiny.features())
    def gives(features):
        return {"y": tf.cast(features, dtype)}

    @taking(*tiny.features(dtype))
    def takes(features):
        return {"y": tf.cast(features, "float32")}

    match = "{} of signature 'serving_default' must be float32.*" + dtype
    refused(tmp_path, gives, match.format("output 'y'"))
    refused(tmp_path, takes, match.format("input 'features'"))


def test_a_float64_variable(tmp_path):
    holder = tf.Module()
    holder.offset = tf.Variable(1.0, dtype="float64", name="offset")

    @taking(*tiny.features())
    def function(features):
        return {"y": features + tf.cast(holder.offset, "float32")}

    match = "variables must not be float64. Received: .*offset"
    refused(tmp_path, function, match, tracked=[holder])


def test_float64_on_the_way(tmp_path):
    @taking(*tiny.features())
    def function(features):
        exact = tf.cast(features, "float64") * 2
        return {"y": tf.cast(exact, "float32")}

    match = "must not compute in float64.*Received: Cast"
    refused(tmp_path, function, match)


def test_a_variable_that_is_not_tracked(tmp_path):
    offset = tf.Variable(1.0)

    @taking(*tiny.features())
    def function(features):
        return {"y": features + offset}

    refused(tmp_path, function, "`tracked` must hold every table and variable")


def test_xla_in_the_default_signature(tmp_path):
    @tf.function(jit_compile=True)
    def compiled(x):
        return x + 1

    @tf.function
    def between(x):
        return compiled(x)

    @taking(*tiny.features())
    def function(features):
        return {"y": between(features)}

    refused(tmp_path, function, "must not hold a function with `jit_compile")


def test_a_fixed_batch(tmp_path):
    @taking(*tiny.features(shape=(5, tiny.FEATURES)))
    def function(features):
        return {"y": features}

    refused(tmp_path, function, "the batch, of any size, as its first axis")


def test_a_fixed_length_of_token_ids(tmp_path):
    @taking(tf.TensorSpec((None, 7), tf.int32, name="token_ids"))
    def function(token_ids):
        return {"y": tf.cast(token_ids, "float32")}

    inputs = {"token_ids": np.ones((2, 7))}
    refused(tmp_path, function, "token ids of any length", inputs=inputs)


def test_outputs_without_names(tmp_path):
    @taking(*tiny.features())
    def function(features):
        return features

    refused(tmp_path, function, "must return a dict that names its outputs")


def test_a_golden_answer_that_is_no_number(tmp_path):
    @taking(*tiny.features())
    def function(features):
        return {"y": tf.math.log(features - 1)}

    refused(tmp_path, function, "the golden answer 'y' must be finite")


@pytest.mark.parametrize(
    "change, match",
    [
        ({"golden": {}}, "`golden` must have inputs for each signature"),
        (
            {"golden": {"serving_default": {"x": tiny.ROWS}}},
            r"must have the inputs \['features'\]. Received: \['x'\]",
        ),
        ({"card": {}}, r"`card\['task'\]` must be a str. Received: None"),
        (
            {"card": {**tiny.CARD, "metrics": [{"name": "accuracy"}]}},
            "the command that measured it. Received: {'name'",
        ),
        ({"card": {**tiny.CARD, "golden": 1}}, r"leave \['golden'\]"),
        ({"card": {**tiny.CARD, "x": float("nan")}}, "must hold what JSON can"),
        ({"version": -1}, "`version` must be a whole number"),
    ],
)
def test_arguments_are_checked_by_name(tmp_path, change, match):
    model = tiny.dense()
    with pytest.raises(ValueError, match=match):
        tiny.save(tmp_path, tiny.sound(model), [model], **change)
    assert list(tmp_path.iterdir()) == []


def test_a_signature_is_a_function_with_its_inputs_declared(tmp_path):
    with pytest.raises(ValueError, match="tf.function with an `input_sig"):
        tiny.save(tmp_path, tf.function(lambda x: {"y": x}))
