"""An exported graph names no gradient, so that loading it warns of none."""

import pytest
import tensorflow as tf

from keras_seq.export.graph_checks import every_node, read_meta_graph
from tests.export import tiny

pytestmark = pytest.mark.tensorflow


def test_a_gradient_of_one_s_own_is_not_spoken_of(tmp_path):
    @tf.custom_gradient
    def doubled(x):
        return 2 * x, lambda dy: 2 * dy

    @tf.function(input_signature=tiny.features())
    def serving_default(features):
        return {"scores": doubled(features)}

    path = tiny.save(tmp_path, serving_default)
    nodes = [node for _, node in every_node(read_meta_graph(path))]
    assert nodes and not [n for n in nodes if "_gradient_op_type" in n.attr]
