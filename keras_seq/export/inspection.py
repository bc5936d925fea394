"""What is in an exported folder, read from its files: nothing is run."""

import collections
import dataclasses
import pathlib

import tensorflow as tf

from keras_seq.export.export_error import ExportError
from keras_seq.export.gpu_report import DOES_NOT_PROVE, gpu_report
from keras_seq.export.graph_checks import (
    check_graph,
    check_precision,
    check_signatures,
    describe_signatures,
    every_node,
    read_meta_graph,
)
from keras_seq.export.model_card import read_card
from keras_seq.export.version_folders import find_version

_STRING = tf.string.as_datatype_enum
_LEAST_WORDS = 16  # a smaller table of strings holds labels, not a vocabulary
# Names that a checkpoint is written and read by, which are no words.
_OF_CHECKPOINT = ("/tensor_names", "/shape_and_slices")


def inspect(folder) -> dict:
    """Return what a SavedModel holds, as values that JSON can write.

    Args:
        folder: A version folder, or a folder of versions: the newest is taken.

    Returns:
        `folder`; `is_clean`, whether `refused` is empty and `gpu` as it should
        be; `refused`, what `save` would refuse the file for; `signatures`;
        `bytes` by file; `weights`, how many and how many bytes, by type;
        `tokens`; `operations`, how often each is used; `gpu`, the report of
        `gpu_report` and what it does not prove; `card`, the model card but for
        its golden pairs; `golden`, how many of those each signature has.

    Raises:
        ValueError: There is no SavedModel, or its files cannot be read.
    """
    path = find_version(folder)
    if path is None:
        raise ValueError(
            "`folder` must be a SavedModel, or hold versions (1, 2, ...) that "
            f"are. Received: {str(folder)!r}"
        )
    meta_graph = _meta_graph(path)
    card = read_card(path)
    signatures = describe_signatures(meta_graph)
    refused = _refused(meta_graph, signatures)
    gpu = gpu_report(meta_graph)
    operations = collections.Counter(n.op for _, n in every_node(meta_graph))
    return {
        "folder": str(path),
        "is_clean": gpu.is_clean and not refused,
        "refused": refused,
        "signatures": signatures,
        "bytes": _sizes(path),
        "weights": _weights(path),
        "tokens": _tokens(meta_graph, card),
        "operations": dict(operations.most_common()),
        "gpu": {
            "is_clean": gpu.is_clean,
            "problem": gpu.problem,
            "nodes": gpu.nodes,
            **{
                group: [
                    {**dataclasses.asdict(row), "types": dict(row.types)}
                    for row in getattr(gpu, group)
                ]
                for group in ("unexpected", "expected")
            },
            "does_not_prove": list(DOES_NOT_PROVE),
        },
        "card": {
            key: value
            for key, value in card.items()
            if key not in ("golden", "signatures")
        },
        "golden": {
            name: len(pairs) for name, pairs in card.get("golden", {}).items()
        },
    }


def _meta_graph(path):
    from google.protobuf.message import DecodeError

    try:
        return read_meta_graph(path)
    except (DecodeError, IndexError) as error:
        raise ValueError(
            f"{path / 'saved_model.pb'} must be a SavedModel. "
            f"Received: what is none ({error})"
        ) from error


def _refused(meta_graph, signatures):
    refused = []
    for check, argument in (
        (check_graph, meta_graph),
        (check_signatures, signatures),
        (check_precision, meta_graph),
    ):
        try:
            check(argument)
        except ExportError as error:
            refused.append(str(error))
    if not signatures:
        refused.append("there must be a signature. Received: none")
    return refused


def _sizes(path):
    return {
        file.relative_to(path).as_posix(): file.stat().st_size
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


def _weights(path):
    """Count the numbers of the checkpoint by type; {} if there is none."""
    if not pathlib.Path(path, "variables", "variables.index").is_file():
        return {}
    reader = tf.train.load_checkpoint(str(path / "variables" / "variables"))
    found = collections.defaultdict(lambda: {"count": 0, "bytes": 0})
    dtypes = reader.get_variable_to_dtype_map()
    for name, shape in reader.get_variable_to_shape_map().items():
        dtype = dtypes[name]
        if dtype != tf.string:  # the checkpoint's own notes
            count = tf.TensorShape(shape).num_elements()
            found[dtype.name]["count"] += count
            found[dtype.name]["bytes"] += count * dtype.size
    return dict(sorted(found.items()))


def _tokens(meta_graph, card):
    """What is known of the tokens: vocabularies in the file, the longest."""
    words, pieces = [], []
    for _, node in every_node(meta_graph):
        if node.op == "Const" and node.attr["dtype"].type == _STRING:
            shape = node.attr["value"].tensor.tensor_shape
            count = tf.TensorShape(shape).num_elements()
            is_name = node.name.endswith(_OF_CHECKPOINT)
            if count >= _LEAST_WORDS and not is_name:
                words.append(count)
        elif node.op == "SentencepieceOp":
            pieces.append(_number_of_pieces(node.attr["model"].s))
    return {
        "tables_of_words": sorted(set(words), reverse=True),
        "sentencepiece_models": sorted(set(pieces), reverse=True),
        "max_length": card.get("max_length"),
    }


def _number_of_pieces(model):
    import sentencepiece

    return sentencepiece.SentencePieceProcessor(model_proto=model).vocab_size()
