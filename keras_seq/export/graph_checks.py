"""What may not be in the graph of a model that is to be served anywhere."""

import pathlib
import re
from collections.abc import Iterator

import tensorflow as tf

from keras_seq.export.export_error import ExportError

DEFAULT = "serving_default"
MAIN_GRAPH = "the main graph"
REFUSED_OPS = {
    r"CudnnRNN.*": "runs on an NVIDIA GPU only; build the recurrent layer "
    "from keras_seq.layers, or with `use_cudnn=False`",
    r"(Eager)?PyFunc(Stateless)?": "calls Python, which is not in the file; "
    "write it with TensorFlow's operations",
}
_FLOAT64 = tf.float64.as_datatype_enum
_NOT_SERVED = {"float64", "float16", "bfloat16"}


def read_meta_graph(folder):
    """Return the one meta graph of a SavedModel, as the file has it."""
    # The public home of these messages is the generated module itself.
    from tensorflow.core.protobuf import saved_model_pb2

    content = pathlib.Path(folder, "saved_model.pb").read_bytes()
    return saved_model_pb2.SavedModel.FromString(content).meta_graphs[0]


def every_node(meta_graph) -> Iterator[tuple]:
    """Yield where a node is, the main graph or a function, and the node."""
    for node in meta_graph.graph_def.node:
        yield MAIN_GRAPH, node
    for function in meta_graph.graph_def.library.function:
        for node in function.node_def:
            yield function.signature.name, node


def functions_by_signature(meta_graph) -> dict[str, set[str]]:
    """Return the names of the functions that each signature reaches."""
    return {
        name: {
            called.signature.name
            for called, _ in _reached_from(meta_graph, name)
            if called is not None
        }
        for name in sorted(meta_graph.signature_def)
        if not name.startswith("__")
    }


def check_graph(meta_graph) -> None:
    """Raise `ExportError` if the graph holds what some server cannot run."""
    for place, node in every_node(meta_graph):
        for pattern, why in REFUSED_OPS.items():
            if re.fullmatch(pattern, node.op):
                raise ExportError(
                    f"the graph must not hold {node.op}, which {why}. "
                    f"Received: {node.name!r} in {place}"
                )
        if node.op == "VarHandleOp":
            if node.attr["dtype"].type == _FLOAT64:
                name = node.attr["shared_name"].s.decode() or node.name
                raise ExportError(
                    "variables must not be float64. Received: " + name
                )
    _check_not_compiled(meta_graph)


def check_precision(meta_graph) -> None:
    """Raise `ExportError` if the graph computes in float64 somewhere."""
    for place, node in every_node(meta_graph):
        if any(_is_float64(value) for value in node.attr.values()):
            raise ExportError(
                "the graph must not compute in float64, which is many times "
                "slower on most GPUs. "
                f"Received: {node.op} {node.name!r} in {place}"
            )


def check_signatures(signatures: dict) -> None:
    """Raise `ExportError` if a signature is not named, typed and dynamic.

    Args:
        signatures: As `describe_signatures` returns them.
    """
    for name, signature in signatures.items():
        for side in ("inputs", "outputs"):
            for key, spec in signature[side].items():
                where = f"{side[:-1]} {key!r} of signature {name!r}"
                _check_tensor(where, spec)
                if side == "inputs" and _is_frozen(spec):
                    raise ExportError(
                        f"{where} must take token ids of any length. "
                        f"Received: shape {spec['shape']}"
                    )


def describe_signatures(meta_graph) -> dict:
    """Return `{name: {"inputs": {name: {dtype, shape}}, "outputs": ...}}`."""

    def describe(tensors):
        return {
            key: {
                "dtype": tf.dtypes.as_dtype(tensors[key].dtype).name,
                "shape": _shape(tensors[key].tensor_shape),
            }
            for key in sorted(tensors)
        }

    return {
        name: {
            "inputs": describe(signature.inputs),
            "outputs": describe(signature.outputs),
        }
        for name, signature in sorted(meta_graph.signature_def.items())
        if not name.startswith("__")
    }


def _shape(proto):
    return None if proto.unknown_rank else tf.TensorShape(proto).as_list()


def _is_float64(attribute):
    return attribute.type == _FLOAT64 or _FLOAT64 in attribute.list.type


def _check_tensor(where, spec):
    if spec["dtype"] in _NOT_SERVED:
        raise ExportError(
            f"{where} must be float32, which every client can send and read. "
            f"Received: {spec['dtype']}"
        )
    if not spec["shape"] or spec["shape"][0] is not None:
        raise ExportError(
            f"{where} must have the batch, of any size, as its first axis. "
            f"Received: shape {spec['shape']}"
        )


def _is_frozen(spec):
    """Whether it looks like token ids, (B, T), whose length was fixed."""
    shape = spec["shape"]
    is_ids = spec["dtype"] in ("int32", "int64") and len(shape) == 2
    return is_ids and shape[1] is not None


def _check_not_compiled(meta_graph):
    for called, node in _reached_from(meta_graph, DEFAULT):
        compiled = called is not None and called.attr["_XlaMustCompile"].b
        if compiled or node.attr["_XlaMustCompile"].b:
            raise ExportError(
                f"{DEFAULT!r} must not hold a function with `jit_compile=True`"
                ", since not every server can run XLA; put it into a signature "
                f"of its own, such as 'fast'. Received: {node.name!r}"
            )


def _reached_from(meta_graph, signature):
    """Walk the calls that a signature makes.

    Yields:
        Each function that it reaches, and the node that calls it; each other
        node on the way, with None.
    """
    if signature not in meta_graph.signature_def:
        return
    outputs = meta_graph.signature_def[signature].outputs.values()
    functions = {
        f.signature.name: f for f in meta_graph.graph_def.library.function
    }
    nodes = {node.name: node for node in meta_graph.graph_def.node}
    todo = [nodes[name] for name in {t.name.split(":")[0] for t in outputs}]
    seen = set()
    while todo:
        node = todo.pop()
        yield None, node
        for name in _called_by(node):
            if name not in seen and name in functions:
                seen.add(name)
                yield functions[name], node
                todo.extend(functions[name].node_def)


def _called_by(node):
    for value in node.attr.values():
        if value.HasField("func"):
            yield value.func.name
        for function in value.list.func:
            yield function.name
