"""Read the tensors of a PyTorch file without PyTorch, and without trust."""

import os
import pickle

import numpy as np

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_DTYPES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "<i1",
    "ByteStorage": "<u1",
    "BoolStorage": "|b1",
}


def read_torch_checkpoint(path) -> dict[str, np.ndarray]:
    """Return the tensors of a state dict by name.

    A pickle is a program, and `pickle.load` runs whatever it says. This
    reader knows tensors, ordered dicts and nothing else: a file that asks for
    any other function is refused before the function is looked up.

    It reads the format of `torch.save` before version 1.6 (and of today's
    with `_use_new_zipfile_serialization=False`): five pickles, then the
    numbers of each storage. A tensor is a view of a storage with strides,
    which need not be those of its shape.

    Args:
        path: The file.

    Returns:
        A dict of NumPy arrays.
    """
    with open(path, "rb") as file:
        start = file.read(2)
        file.seek(0)
        if start == b"PK":
            raise ValueError(
                "`path` must be in the old format of PyTorch, and is in the "
                "zip format; save it with `_use_new_zipfile_serialization="
                f"False`. Received: {str(path)!r}"
            )
        try:
            return _read(file)
        except (
            pickle.UnpicklingError,
            AttributeError,
            EOFError,
            IndexError,
            KeyError,
            OverflowError,
            TypeError,
            UnicodeDecodeError,
            ValueError,
        ) as error:
            raise ValueError(
                "`path` must be a PyTorch file with nothing but tensors in "
                f"it: {error}. Received: {str(path)!r}"
            ) from error


def _read(file):
    if _TensorUnpickler(file).load() != _MAGIC:
        raise ValueError("it does not begin as one")
    if _TensorUnpickler(file).load() != _PROTOCOL:
        raise ValueError("its version is not known")
    if not _TensorUnpickler(file).load()["little_endian"]:
        raise ValueError("its numbers are big-endian")
    unpickler = _TensorUnpickler(file)
    tensors = unpickler.load()
    storages = {}
    for key in _TensorUnpickler(file).load():
        storages[key] = _numbers(file, *unpickler.storages[key])
    if not isinstance(tensors, dict):
        raise ValueError(f"it holds a {type(tensors).__name__}, not a dict")
    return {
        str(name): value.array(storages)
        for name, value in tensors.items()
        if isinstance(value, _View)
    }


def _numbers(file, dtype, size):
    dtype = np.dtype(dtype)
    written = int.from_bytes(file.read(8), "little")
    left = os.fstat(file.fileno()).st_size - file.tell()
    if written != size or not 0 <= size * dtype.itemsize <= left:
        raise ValueError("it is damaged or not complete")
    return np.frombuffer(file.read(size * dtype.itemsize), dtype)


class _TensorUnpickler(pickle.Unpickler):
    """Knows the names a state dict needs; refuses every other."""

    def __init__(self, file):
        super().__init__(file)
        self.storages = {}  # key -> (dtype, size)

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return _StateDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _View
        if module == "torch" and name in _DTYPES:
            return _DTYPES[name]
        raise pickle.UnpicklingError(f"it asks for `{module}.{name}`")

    def persistent_load(self, pid):
        kind, dtype, key, _, size, *_ = pid
        if kind != "storage" or dtype not in _DTYPES.values():
            raise pickle.UnpicklingError(f"it asks for a {kind!r}")
        self.storages[key] = (dtype, size)
        return key


class _StateDict(dict):
    """An ordered dict whose attributes (versions of modules) are left out."""

    def __setstate__(self, state):
        pass


class _View:
    """A tensor whose numbers are still to be read."""

    __slots__ = ("offset", "shape", "storage", "strides")

    def __init__(self, storage, offset, shape, strides, *_):
        self.storage = storage
        self.offset = offset
        self.shape = shape
        self.strides = strides

    def array(self, storages):
        numbers = storages[self.storage]
        sizes = (self.offset, *self.shape, *self.strides)
        if len(self.shape) != len(self.strides) or min(sizes) < 0:
            raise ValueError("a tensor has no possible shape")
        last = self.offset + sum(
            (size - 1) * stride
            for size, stride in zip(self.shape, self.strides, strict=True)
        )
        # NumPy would read whatever lies behind the array in memory.
        if 0 not in self.shape and last >= len(numbers):
            raise ValueError("a tensor reaches beyond its storage")
        view = np.lib.stride_tricks.as_strided(
            numbers[self.offset :],
            self.shape,
            [numbers.itemsize * stride for stride in self.strides],
        )
        return np.array(view)
