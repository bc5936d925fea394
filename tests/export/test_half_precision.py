"""Weights as float16 on disk: half the size, the same functions."""

import gc
import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seq import export
from keras_seq.export.graph_checks import every_node, read_meta_graph
from keras_seq.export.inspection import inspect
from tests.export import tiny

pytestmark = pytest.mark.tensorflow
WIDE = 1511  # numbers in a bias: worth halving
HALF = tf.float16.as_datatype_enum


def wide(seed=0):
    keras.utils.set_random_seed(seed)
    return keras.Sequential(
        [
            keras.Input((tiny.FEATURES,)),
            keras.layers.Dense(WIDE, "tanh", bias_initializer="normal"),
            keras.layers.Dense(2, bias_initializer="normal"),
        ]
    )


def repeated(model):
    """A signature with a loop in it, as decoding has one."""

    @tf.function(input_signature=tiny.features(), autograph=False)
    def serving_default(features):
        def body(step, x):
            return step + 1, x + model(x)[:, :1]

        _, x = tf.while_loop(lambda step, x: step < 3, body, (0, features))
        return {"scores": x}

    return serving_default


def by_numpy(weights, rows):
    """What `repeated` computes."""
    kernel, bias, kernel_2, bias_2 = weights
    for _ in range(3):
        rows = rows + (np.tanh(rows @ kernel + bias) @ kernel_2 + bias_2)[:, :1]
    return rows


def rounded(weights):
    return [
        (w.astype("float16") if w.size >= 1024 else w).astype("float64")
        for w in weights
    ]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The model, its weights before the export, and the folder."""
    model = wide()
    before = model.get_weights()
    folder = tmp_path_factory.mktemp("half")
    function = repeated(model)
    path = tiny.save(folder, function, [model], half=True)
    return model, before, path, function


def test_the_weights_take_half_the_room(exported):
    _, before, path, _ = exported
    found = inspect(path)["weights"]
    large = sum(w.size for w in before if w.size >= 1024)
    small = sum(w.size for w in before if w.size < 1024)
    assert small == 2
    assert found["float16"] == {"count": large, "bytes": 2 * large}
    assert found["float32"] == {"count": small, "bytes": 4 * small}
    size = (path / "variables/variables.data-00000-of-00001").stat().st_size
    assert size < 2 * large + 3000  # and nothing of it twice


def test_it_computes_in_float32_with_the_rounded_weights(exported):
    _, before, path, _ = exported
    got = export.load(path)(features=tiny.ROWS)["scores"]
    assert got.dtype == np.float32
    rows = tiny.ROWS.astype("float64")
    want = by_numpy(rounded(before), rows)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    exact = by_numpy([w.astype("float64") for w in before], rows)
    off = np.abs(got - exact).max()  # by the rounding, and by no more
    assert 5 * np.abs(got - want).max() < off < 2e-2


def test_the_live_model_keeps_its_weights(exported):
    model, before, _, _ = exported
    for now, then in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_no_function_casts_at_each_call(exported):
    """What is cast is cast when the file is loaded, by initialisers."""
    places = {
        place
        for place, node in every_node(read_meta_graph(exported[2]))
        if node.op == "Cast" and node.attr["SrcT"].type == HALF
    }
    assert places
    assert all("initializer" in place for place in places)


def test_one_process_may_load_several_and_forget_some(exported, tmp_path):
    other = wide(seed=1)
    folder = tiny.save(tmp_path, repeated(other), [other], half=True)
    want = by_numpy(rounded(other.get_weights()), tiny.ROWS.astype("f8"))
    first, second = export.load(exported[2]), export.load(folder)
    again = export.load(exported[2])
    answer = first(features=tiny.ROWS)["scores"]
    got = second(features=tiny.ROWS)["scores"]
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    del first, second
    gc.collect()
    np.testing.assert_array_equal(again(features=tiny.ROWS)["scores"], answer)


def test_a_session_loads_it_as_servers_do(exported):
    want = export.load(exported[2])(features=tiny.ROWS)["scores"]
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
        loaded = tf.compat.v1.saved_model.load(
            session, ["serve"], str(exported[2])
        )
        signature = loaded.signature_def["serving_default"]
        names = signature.inputs["features"], signature.outputs["scores"]
        for _ in range(2):
            got = session.run(names[1].name, {names[0].name: tiny.ROWS})
            np.testing.assert_allclose(got, want, rtol=1e-6)


def test_the_card_says_so(exported):
    card = json.loads((exported[2] / "model_card.json").read_text())
    assert card["half"]["stored"] == "float16"
    assert card["half"]["computed"] == "float32"
    assert card["half"]["weights"] == sum(
        w.size for w in exported[1] if w.size >= 1024
    )
    assert card["half"]["differs"] == {}
    assert inspect(exported[2])["refused"] == []


def test_weights_too_large_for_float16_stay_as_they_are(tmp_path):
    model = wide()
    kernel, *others = model.get_weights()
    kernel[0, 0] = 1e5
    model.set_weights([kernel, *others])
    path = tiny.save(tmp_path, tiny.sound(model), [model], half=True)
    assert inspect(path)["weights"]["float32"]["count"] == kernel.size + 2
    got = export.load(path)(features=tiny.ROWS)["scores"]
    np.testing.assert_allclose(got, model(tiny.ROWS), atol=2e-2)


def test_an_answer_that_would_change_is_refused(tmp_path):
    model = wide()
    names = tf.constant(["first", "second"])

    @tf.function(input_signature=tiny.features())
    def function(features):
        bias = tf.convert_to_tensor(model.layers[0].bias)
        best = tf.argmax(bias[:2])
        return {"label": tf.fill(tf.shape(features)[:1], names[best])}

    weights = model.get_weights()
    weights[1][:2] = 1.0, 1.0001  # one number in float16
    model.set_weights(weights)
    with pytest.raises(export.ExportError, match="`half` must leave.*first"):
        tiny.save(tmp_path, function, [model], half=True)
    assert list(tmp_path.iterdir()) == []
    np.testing.assert_array_equal(model.get_weights()[1], weights[1])
    assert tiny.save(tmp_path, function, [model]).name == "1"


@pytest.mark.parametrize("stays", [True, False])
def test_a_text_may_give_way_to_one_of_the_same_score(tmp_path, stays):
    """Of two that are as good as each other, rounding prefers the other."""
    model = wide()

    @tf.function(input_signature=tiny.features())
    def function(features):
        scores = tf.convert_to_tensor(model.layers[0].bias)[:2]
        text = tf.constant(["first", "second"])[tf.argmax(scores)]
        score = tf.reduce_max(scores) if stays else scores[1] - scores[0]
        rows = tf.shape(features)[:1]
        return {"text": tf.fill(rows, text), "score": tf.fill(rows, score)}

    weights = model.get_weights()
    weights[1][:2] = 1024.0, 1024.4  # one number in float16
    model.set_weights(weights)
    if stays:
        path = tiny.save(tmp_path, function, [model], half=True)
        card = json.loads((path / "model_card.json").read_text())
        assert "'text'" in card["half"]["differs"]["serving_default"]
    else:
        with pytest.raises(export.ExportError, match="the output 'score'"):
            tiny.save(tmp_path, function, [model], half=True)
