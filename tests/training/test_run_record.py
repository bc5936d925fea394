"""run.json: everything in it, and always JSON."""

import dataclasses
import functools
import json
import pathlib

import keras
import numpy as np

from keras_seq.training import Adam, EarlyStopping, Noam
from keras_seq.training.run_record import RunRecord, jsonable


def test_settings_of_every_kind_become_json():
    @dataclasses.dataclass
    class Options:
        sizes: tuple

    settings = {
        "optimizer": Adam(Noam(hidden_dim=8)),
        "stop": EarlyStopping("bleu"),
        "options": Options((1, 2)),
        "function": test_settings_of_every_kind_become_json,
        "partial": functools.partial(print, 1),
        "path": pathlib.Path("a/b"),
        "numbers": [np.float32(0.5), np.int64(3), float("inf"), None, True],
        "data": (np.zeros(3), {1: "one"}),
        "loss": keras.losses.MeanSquaredError(),
    }
    read = json.loads(json.dumps(jsonable(settings), allow_nan=False))
    rate = read["optimizer"]["Adam"]["learning_rate"]["config"]
    assert rate["hidden_dim"] == 8
    assert read["stop"]["EarlyStopping"]["monitor"] == "bleu"
    assert read["options"] == {"Options": {"sizes": [1, 2]}}
    assert read["function"] == "test_settings_of_every_kind_become_json"
    assert read["partial"] == "partial" and read["path"] == "a/b"
    assert read["numbers"] == [0.5, 3, None, None, True]
    assert read["data"] == ["ndarray", {"1": "one"}]
    assert "MeanSquaredError" in read["loss"]


def test_record_is_rewritten_and_remembers_its_start(tmp_path):
    path = tmp_path / "run" / "run.json"
    first = RunRecord(path, {"a": 1})
    first.write(status="running")
    first.content["started"] = "long ago"
    first.write(loss=float("nan"))
    second = RunRecord(path, {"a": 2})
    second.resume()
    second.write(status="finished")
    read = json.loads(path.read_text())
    assert read["started"] == "long ago" and len(read["resumed"]) == 1
    assert read["status"] == "finished" and read["settings"] == {"a": 2}
    assert read["versions"]["python"]


def test_nothing_is_written_without_a_path():
    RunRecord(None, {}).write(status="running")
