"""Torch files are read without torch, and cannot run anything."""

import collections
import io
import os
import pickle
import struct

import numpy as np
import pytest

from keras_seq.vision.torch_checkpoint import read_torch_checkpoint


class Tensor:
    """Pickles as torch pickles a tensor: a function and its arguments."""

    def __init__(self, key, size, offset, shape, strides):
        self.storage = (key, size)
        self.rest = (offset, shape, strides, False, collections.OrderedDict())


class TorchPickler(pickle._Pickler):
    """The Python pickler, which lets us write names that are not there."""

    dispatch = dict(pickle._Pickler.dispatch)

    def save_tensor(self, tensor):
        key, size = tensor.storage
        self.write(b"ctorch._utils\n_rebuild_tensor_v2\n(")
        self.write(b"(")
        self.save("storage")
        self.write(b"ctorch\nFloatStorage\n")
        for value in (key, "cpu", size, None):
            self.save(value)
        self.write(b"tQ")
        for value in tensor.rest:
            self.save(value)
        self.write(b"tR")

    dispatch[Tensor] = save_tensor


def pickled(value):
    file = io.BytesIO()
    TorchPickler(file, protocol=2).dump(value)
    return file.getvalue()


def torch_file(path, tensors, storages, body=None):
    """Write what `torch.save` of a state dict wrote before version 1.6."""
    system = {"protocol_version": 1001, "little_endian": True}
    with open(path, "wb") as file:
        for value in (0x1950A86A20F9469CFC6C, 1001, system):
            file.write(pickled(value))
        file.write(pickled(tensors) if body is None else body)
        file.write(pickled(list(storages)))
        for numbers in storages.values():
            file.write(struct.pack("<q", len(numbers)))
            file.write(np.asarray(numbers, "<f4").tobytes())
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.pth"


def test_strides_are_honoured(path):
    numbers = np.arange(31.0)
    tensors = collections.OrderedDict(
        rows=Tensor("a", 31, 0, (5, 3), (3, 1)),
        columns=Tensor("a", 31, 7, (5, 3), (1, 5)),
        scalar=Tensor("a", 31, 30, (), ()),
        empty=Tensor("a", 31, 31, (0, 3), (3, 1)),
    )
    got = read_torch_checkpoint(torch_file(path, tensors, {"a": numbers}))
    assert list(got) == ["rows", "columns", "scalar", "empty"]
    np.testing.assert_array_equal(got["rows"], numbers[:15].reshape(5, 3))
    np.testing.assert_array_equal(got["columns"], numbers[7:22].reshape(3, 5).T)
    assert got["scalar"] == 30 and got["empty"].shape == (0, 3)
    assert got["rows"].dtype == "float32" and got["rows"].flags.writeable


EVIL = [
    b"\x80\x02cos\nsystem\n(X\x0c\x00\x00\x00touch harmedtR.",
    b"\x80\x02cbuiltins\neval\n(X\x04\x00\x00\x001+1 tR.",
    b"\x80\x02ctorch\nload\n(X\x01\x00\x00\x00xtR.",
    b"(S'touch harmed'\nios\nsystem\n.",  # INST
    b"\x80\x04\x8c\x02os\x8c\x06system\x93(\x8c\x0ctouch harmedtR.",
    b"\x80\x02ccollections\nOrderedDict.__class__\n.",
    b"\x80\x02ctorch._utils\n_rebuild_tensor_v3\n.",
]


@pytest.mark.parametrize("body", EVIL)
def test_a_file_that_would_run_something_is_refused(path, body, monkeypatch):
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(os, "system", lambda *_: pytest.fail("it ran"))
    torch_file(path, None, {}, body)
    with pytest.raises(ValueError, match="it asks for `") as caught:
        read_torch_checkpoint(path)
    assert str(path) in str(caught.value)
    assert not (path.parent / "harmed").exists()


@pytest.mark.parametrize(
    "tensor",
    [
        Tensor("a", 7, 0, (2, 4), (4, 1)),
        Tensor("a", 7, 6, (2,), (1,)),
        Tensor("a", 7, 0, (3,), (10**9,)),
        Tensor("a", 7, 3, (2,), (-1,)),
        Tensor("a", 7, -1, (2,), (1,)),
        Tensor("a", 7, 0, (2, 3), (1,)),
    ],
)
def test_a_tensor_cannot_reach_outside_its_storage(path, tensor):
    torch_file(path, {"w": tensor}, {"a": np.ones(7)})
    with pytest.raises(ValueError, match="must be a PyTorch file"):
        read_torch_checkpoint(path)


def test_a_file_cut_short_is_refused_at_every_length(path, tmp_path):
    tensors = {"w": Tensor("a", 7, 0, (7,), (1,))}
    whole = torch_file(path, tensors, {"a": np.ones(7)}).read_bytes()
    cut = tmp_path / "cut.pth"
    for length in range(2, len(whole)):
        cut.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="must be a PyTorch file"):
            read_torch_checkpoint(cut)


def test_a_size_that_is_not_there_takes_no_memory(path):
    tensors = {"w": Tensor("a", 2**40, 0, (7,), (1,))}
    whole = torch_file(path, tensors, {"a": np.ones(7)}).read_bytes()
    path.write_bytes(
        whole[: -7 * 4 - 8] + struct.pack("<q", 2**40) + whole[-28:]
    )
    with pytest.raises(ValueError, match="not complete"):
        read_torch_checkpoint(path)


@pytest.mark.parametrize("start", [b"", b"GIF89a", b"\x80\x02K\x01."])
def test_another_file_is_refused(path, start):
    path.write_bytes(start)
    with pytest.raises(ValueError, match="Received: .*model.pth"):
        read_torch_checkpoint(path)


def test_the_zip_format_is_named(path):
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match="zip format"):
        read_torch_checkpoint(path)
