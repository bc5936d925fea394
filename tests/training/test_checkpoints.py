"""Checkpoint files: whole or not there."""

import keras
import numpy as np
import pytest

from keras_seq.training.atomic_files import TEMPORARY, replacing
from keras_seq.training.checkpoints import (
    CheckpointFolder,
    arrays_of,
    assign,
    check_fit,
)

STATE = {"epoch": 3, "loss": 0.1 + 0.2}
ARRAYS = {
    "model": [np.arange(6.0).reshape(2, 3), np.array(7)],
    "optimizer": [np.ones((3,), "float16")],
}


def test_what_was_saved_is_read_back(tmp_path):
    folder = CheckpointFolder(tmp_path / "new")
    assert folder.latest() is None
    path = folder.save(12, STATE, ARRAYS)
    read = folder.latest()
    assert read.path == path and read.state == STATE
    assert set(read.arrays) == set(ARRAYS)
    for group, arrays in ARRAYS.items():
        for a, b in zip(read.arrays[group], arrays, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def test_newest_few_are_kept_and_strangers_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    folder = CheckpointFolder(tmp_path, keep=3)
    for step in (9, 10, 100, 99, 1000):
        folder.save(step, {"step": step}, {})
    kept = [path.name for path in folder.paths()]
    assert kept == [f"step-{step:010d}.npz" for step in (99, 100, 1000)]
    assert folder.latest().state == {"step": 1000}
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_damaged_checkpoint_is_noticed_and_the_one_before_used(
    tmp_path, damage
):
    folder = CheckpointFolder(tmp_path)
    folder.save(1, {"step": 1}, ARRAYS)
    path = folder.save(2, {"step": 2}, ARRAYS)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flip":
        at = content.index(np.arange(6.0).tobytes()) + 9
        content[at] ^= 1
    else:
        content = b""
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="damaged"):
        assert folder.latest().state == {"step": 1}
    folder.paths()[0].unlink()
    with (
        pytest.warns(UserWarning, match="damaged"),
        pytest.raises(ValueError, match="can be read"),
    ):
        folder.latest()


def test_unfinished_file_is_no_checkpoint_and_is_removed(tmp_path):
    folder = CheckpointFolder(tmp_path)
    folder.save(1, {"step": 1}, ARRAYS)
    left = tmp_path / f"{TEMPORARY}step-0000000002.npz"
    left.write_bytes(b"half")
    assert folder.latest().state == {"step": 1}
    assert not left.exists()


def test_failure_while_writing_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyError), replacing(path) as unfinished:
        unfinished.write_text("half")
        raise KeyError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.tensorflow
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32"])
def test_variables_of_every_kind_come_back(tmp_path, dtype):
    variable = keras.Variable(np.array([1, 2, 3]), dtype=dtype, trainable=False)
    folder = CheckpointFolder(tmp_path)
    folder.save(0, {}, {"model": arrays_of([variable])})
    other = keras.Variable(np.zeros(3), dtype=dtype, trainable=False)
    arrays = folder.latest().arrays["model"]
    check_fit("model", arrays, [other], "path")
    assign(arrays, [other])
    np.testing.assert_array_equal(
        keras.ops.cast(other, "float32"), [1.0, 2.0, 3.0]
    )


@pytest.mark.tensorflow
def test_array_of_another_shape_or_number_is_refused_by_name():
    variable = keras.Variable(np.zeros((2, 3)), name="kernel")
    with pytest.raises(
        ValueError, match=r"`kernel` is \(3, 2\).*\(2, 3\) here"
    ):
        check_fit("model", [np.zeros((3, 2))], [variable], "some/path")
    with pytest.raises(ValueError, match="`model` has 0 arrays.*has 1"):
        check_fit("model", [], [variable], "some/path")
