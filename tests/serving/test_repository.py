"""Versions come and go, and no request notices."""

import asyncio

import pytest

from keras_seq.serving.app import create_app
from keras_seq.serving.repository import ModelRepository
from tests.serving.conftest import Asker, wait_until, write_model

pytestmark = pytest.mark.tensorflow


def test_a_new_version_takes_over_without_a_failed_request(tmp_path):
    (tmp_path / "m").mkdir()
    write_model(tmp_path / "m" / "1", factor=2.0)
    repository = ModelRepository([tmp_path], poll_seconds=0.05)
    repository.start()
    wait_until(lambda: repository.is_ready)
    ask = Asker(create_app(repository))
    body = {"json": {"instances": [[1.0, 0.0, 0.0]]}}
    seen, statuses = [], set()

    def round_of_requests():
        requests = [("POST", "/v1/models/m:predict", body)] * 8
        for got in asyncio.run(ask.gather(requests)):
            statuses.add(got.status_code)
            seen.append(got.json()["predictions"][0]["y"][0])
        return repository.status("m")[-1].state == "END"

    round_of_requests()
    write_model(tmp_path / "m" / "2", factor=3.0)
    wait_until(round_of_requests)
    round_of_requests()
    assert statuses == {200}
    assert (seen[0], seen[-1]) == (2.0, 3.0)
    repository.stop()


def test_a_broken_version_leaves_the_old_one_serving(tmp_path):
    folder = tmp_path / "m"
    folder.mkdir()
    write_model(folder / "1")
    (folder / "2").mkdir()
    (folder / "2" / "saved_model.pb").write_bytes(b"not a model")
    repository = ModelRepository([folder])
    (folder / "2").rename(folder / "later")
    repository.scan()
    (folder / "later").rename(folder / "2")
    repository.scan()
    with repository.use("m") as version:
        assert version.number == 1
    newest = repository.status("m")[0]
    assert (newest.number, newest.state) == (2, "END")
    assert newest.error
    repository.stop()
