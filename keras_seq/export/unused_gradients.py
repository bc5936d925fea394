"""What a served graph says of gradients, which nobody will ask it for."""

import pathlib

from keras_seq.export.graph_checks import every_node

# Names the gradient of a node. Where that was not saved, loading warns of it.
_GRADIENT = "_gradient_op_type"


def forget_gradients(folder) -> None:
    """Let the nodes of a SavedModel name no gradient of their own."""
    from tensorflow.core.protobuf import saved_model_pb2

    path = pathlib.Path(folder, "saved_model.pb")
    saved = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    for meta_graph in saved.meta_graphs:
        for _, node in every_node(meta_graph):
            node.attr.pop(_GRADIENT, None)
    path.write_bytes(saved.SerializeToString(deterministic=True))
