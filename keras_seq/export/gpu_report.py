"""Which operations of a SavedModel have no GPU kernel; needs no GPU.

TensorFlow's CUDA build registers its GPU kernels when it is imported, whether
or not the machine has a GPU. So what a graph asks for can be compared with
what is there, on any machine that has that build.
"""

import collections
import dataclasses
import re
from collections.abc import Iterator

import tensorflow as tf

from keras_seq.export.graph_checks import (
    every_node,
    functions_by_signature,
)

# What runs on the CPU by its nature. See `_kind` for what no name can say.
EXPECTED_ON_CPU = {
    "text": r"TFText>.*|Sentencepiece.*|Fast(Bert|Wordpiece).*|Wordpiece.*"
    r"|CaseFoldUTF8|NormalizeUTF8.*|FindSourceOffsets|(Static)?Regex.*"
    r"|Unicode.*|String.*|.*Base64|AsString|Substr|ReduceJoin|UnsortedSegmentJoin",
    "lookup": r".*HashTable(V\d)?|LookupTable.*|InitializeTable.*"
    r"|AnonymousHashTable",
    "checkpoint": r"(Save|Restore|MergeV2)(V2|Checkpoints|Slice)?"
    r"|ShardedFilename|ReadFile",
    "images": r"Decode(Image|Jpeg|Png|Bmp|Gif|AndCropJpeg|Webp|Raw)"
    r"|ExtractJpegShape",
}
DOES_NOT_PROVE = (
    "that a kernel runs: a registered kernel is not an executed one",
    "that it is fast, or that its numbers agree with those of the CPU",
    "where whole numbers are: many int32 kernels of the GPU work in the memory "
    "of the host, and int32 variables stay there and are copied at each call",
    "that the server has the CUDA and cuDNN which its TensorFlow wants",
    "that XLA can compile the functions that ask for it",
)
_STRING, _INT32 = tf.string.as_datatype_enum, tf.int32.as_datatype_enum
_UINT8 = tf.uint8.as_datatype_enum
_ON_GPU = {"GPU", "DEFAULT"}  # DEFAULT: for any device
# The bookkeeping of rows of differing length, which texts are.
_RAGGED = r"Ragged.*|DenseBincount|UnsortedSegment.*"


@dataclasses.dataclass(frozen=True, order=True)
class CpuOnly:
    """An operation, with types, that the GPU has no kernel for.

    Attributes:
        op: Its name.
        types: The types it is used with, such as `{"T": "int64"}`, as items.
        kind: Why that was to be expected: a key of `EXPECTED_ON_CPU`,
            "strings", "int32 variables" or "rows of texts"; "" if it was not.
        count: How many nodes of the file use it so.
        signatures: Those that reach it; none for what only loads or saves.
        example: Name of one node.
    """

    op: str
    types: tuple[tuple[str, str], ...]
    kind: str
    count: int
    signatures: tuple[str, ...]
    example: str


@dataclasses.dataclass(frozen=True)
class GpuReport:
    """What a SavedModel would find on a GPU.

    Attributes:
        problem: Why nothing could be checked here; "" if it was.
        nodes: How many nodes were looked at.
        unexpected: What has no GPU kernel though one would want it.
        expected: What runs on the CPU by its nature.
    """

    problem: str
    nodes: int = 0
    unexpected: tuple[CpuOnly, ...] = ()
    expected: tuple[CpuOnly, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether all was checked, and nothing is there that should not be."""
        return not self.problem and not self.unexpected


def gpu_report(meta_graph) -> GpuReport:
    """Compare a graph and its functions with the registered GPU kernels.

    Args:
        meta_graph: As `graph_checks.read_meta_graph` returns it.
    """
    problem = _why_not_checked()
    if problem:
        return GpuReport(problem)
    op_defs = {
        op.name: op for op in meta_graph.meta_info_def.stripped_op_list.op
    }
    library = {f.signature.name for f in meta_graph.graph_def.library.function}
    kernels = _Kernels()
    nodes, found = 0, collections.defaultdict(list)
    for place, node in every_node(meta_graph):
        nodes += 1
        if node.op in library:
            continue  # a call: what it calls is looked at by itself
        types = dict(_types(node, op_defs.get(node.op)))
        if not kernels.on_gpu(node.op, types):
            types = tuple(sorted((k, tuple(v)) for k, v in types.items()))
            found[node.op, types].append((place, node.name))
    rows = _rows(found, meta_graph)
    return GpuReport(
        problem="",
        nodes=nodes,
        unexpected=tuple(row for row in rows if not row.kind),
        expected=tuple(row for row in rows if row.kind),
    )


def _rows(found, meta_graph):
    reached = functions_by_signature(meta_graph)
    of_strings = _signatures_of_strings(meta_graph)
    rows = []
    for (op, types), uses in found.items():
        signatures = tuple(
            name
            for name, functions in reached.items()
            if any(place in functions for place, _ in uses)
        )
        rows.append(
            CpuOnly(
                op,
                tuple((name, _names(values)) for name, values in types),
                _kind(op, dict(types), set(signatures) <= of_strings),
                count=len(uses),
                signatures=signatures,
                example=uses[0][1],
            )
        )
    return sorted(rows)


def _signatures_of_strings(meta_graph):
    """Those that take texts, or the bytes of images."""
    return {
        name
        for name, signature in meta_graph.signature_def.items()
        if any(t.dtype == _STRING for t in signature.inputs.values())
    }


class _Kernels:
    """The registered kernels, each operation looked up once."""

    def __init__(self):
        # There is no public way to ask for them.
        from tensorflow.python.framework import kernels

        self._registered = kernels.get_registered_kernels_for_op
        self._gpu = {}

    def on_gpu(self, op, types) -> bool:
        if op not in self._gpu:
            self._gpu[op] = [
                kernel
                for kernel in self._registered(op).kernel
                if kernel.device_type in _ON_GPU
            ]
        return any(_admits(kernel, types) for kernel in self._gpu[op])


def _admits(kernel, types):
    for constraint in kernel.constraint:
        allowed = set(constraint.allowed_values.list.type)
        if not set(types.get(constraint.name, ())) <= allowed:
            return False
    return True


def _types(node, op_def) -> Iterator[tuple[str, list[int]]]:
    """The attributes of a node that are types; what is left out has a default.

    One that is a parameter of the function around it is not known: any kernel
    will do for it.
    """
    defaults = {} if op_def is None else {a.name: a for a in op_def.attr}
    for name in {*node.attr, *defaults}:
        if name.startswith("_"):
            continue
        if name in node.attr:
            value = node.attr[name]
        else:
            value = defaults[name].default_value
        if value.WhichOneof("value") == "type":
            yield name, [value.type]
        elif value.list.type:
            yield name, list(value.list.type)


def _names(types):
    return ", ".join(tf.dtypes.as_dtype(number).name for number in types)


def _kind(op, types, of_strings):
    for kind, pattern in EXPECTED_ON_CPU.items():
        if re.fullmatch(pattern, op):
            return kind
    if any(_STRING in values for values in types.values()):
        return "strings"
    if op == "VarHandleOp" and types == {"dtype": (_INT32,)}:
        # TensorFlow leaves them in the memory of the host on purpose.
        return "int32 variables"
    # With floats it would be the model itself that waits for the CPU, and
    # where no text comes in there is nothing to expect it from.
    numbers = [number for values in types.values() for number in values]
    whole = all(map(_is_whole, numbers))
    if of_strings and whole and re.fullmatch(_RAGGED, op):
        return "rows of texts"
    # What was decoded on the CPU is cut and resized there, as bytes, before
    # it is copied to the GPU: a quarter of the size that floats would have.
    if of_strings and whole and _UINT8 in numbers:
        return "images"
    return ""


def _is_whole(number):
    dtype = tf.dtypes.as_dtype(number)
    return dtype.is_integer or dtype.is_bool


def _why_not_checked():
    if not tf.sysconfig.get_build_info().get("is_cuda_build"):
        return (
            "this TensorFlow is not the CUDA build (the wheel for Linux on "
            "x86), so it does not know which kernels a GPU has"
        )
    return ""
