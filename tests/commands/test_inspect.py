"""`keras-seq inspect`, as it is typed."""

import json
import pathlib

import pytest
import tensorflow as tf

from keras_seq.cli import main
from tests.export import tiny

pytestmark = pytest.mark.tensorflow
SHIPPED = pathlib.Path(__file__).parents[2] / "saved_models" / "sentiment"


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A model with Python in it, and an operation that no GPU has."""

    @tf.function(input_signature=tiny.features())
    def function(features):
        y = tf.numpy_function(lambda x: x + 1, [features], tf.float32)
        y = tf.ensure_shape(y, (None, tiny.FEATURES))
        return {"y": tf.raw_ops.NthElement(input=y, n=1)}

    folder = tmp_path_factory.mktemp("planted")
    tf.saved_model.save(tf.Module(), str(folder / "3"), function)
    return folder


def test_a_clean_model(capsys):
    assert main(["inspect", str(SHIPPED)]) == 0
    said = capsys.readouterr().out
    for part in ("Model card", "Signatures", "Sizes and tokens", "Operations"):
        assert f"\n{part}" in said
    assert "every operation that belongs on a GPU has a kernel" in said
    assert "it does not prove:" in said
    assert said.endswith("\nClean\n")


def test_a_model_that_is_not_clean(capsys, planted):
    assert main(["inspect", str(planted)]) == 1
    said = capsys.readouterr().out
    assert "Refused: the graph must not hold PyFunc, which calls Python" in said
    assert "NthElement(T=float32)" in said
    assert "\nClean" not in said


def test_json(capsys, planted):
    assert main(["inspect", "--json", str(planted / "3")]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["is_clean"] is False
    ops = [row["op"] for row in found["gpu"]["unexpected"]]
    assert "NthElement" in ops
    assert list(found["signatures"]["serving_default"]["inputs"]) == [
        "features"
    ]


def test_no_model(capsys, tmp_path):
    assert main(["inspect", str(tmp_path)]) == 2
    assert "must be a SavedModel" in capsys.readouterr().err
