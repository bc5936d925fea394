"""Clients that are slow, rude or gone, over a real socket."""

import json
import socket
import threading
import time

import pytest

from keras_seq.serving import repository as repository_module
from keras_seq.serving.app import create_app
from keras_seq.serving.repository import ModelRepository
from keras_seq.serving.servable import Servable
from keras_seq.serving.settings import ServerSettings
from tests.serving.conftest import Asker, running, wait_until

pytestmark = pytest.mark.tensorflow
BODY = json.dumps({"instances": [[1.0, 2.0, 3.5]]}).encode()
HEAD = b"POST /v1/models/tiny:predict HTTP/1.1\r\nhost: test\r\n"
REQUEST = HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY


def send(address, data=REQUEST):
    client = socket.create_connection(address, timeout=10)
    client.sendall(data)
    return client


def status_of(client):
    """Read an answer; return its status, or None if there is none."""
    first = client.recv(4096).split(b"\r\n")[0]
    return int(first.split()[1]) if first else None


@pytest.fixture
def slow(monkeypatch):
    """Make the model wait for `go`; return it."""
    go = threading.Event()
    run = Servable.run

    def wait_and_run(self, *arguments):
        assert go.wait(10)
        return run(self, *arguments)

    monkeypatch.setattr(Servable, "run", wait_and_run)
    yield go
    go.set()


@pytest.fixture
def own(base, slow):
    """A repository whose model waits."""
    repository = ModelRepository([base])
    repository.scan()
    yield repository
    slow.set()
    repository.stop()


@pytest.mark.parametrize(
    ("sent", "more"),
    [(b"", b""), (b"GE", b"T"), (HEAD, b"x"), (HEAD + b"x-long: ", b"x")],
)
def test_slow_headers_are_a_408(repository, sent, more):
    with running(create_app(repository), header_seconds=0.3) as (address, _):
        with send(address, sent) as client:
            time.sleep(0.2)
            client.sendall(more)  # a drop does not keep it alive
            assert status_of(client) == 408
            assert client.recv(1) == b""
        with send(address) as client:  # others are answered
            assert status_of(client) == 200


def test_the_headers_of_a_second_request_are_timed_too(repository):
    # Long enough for a busy machine: between requests, nothing is answered.
    with running(create_app(repository), header_seconds=1) as (address, _):
        with send(address) as client:
            assert status_of(client) == 200
            client.sendall(HEAD)
            assert status_of(client) == 408


def test_a_request_may_take_longer_than_its_headers(own, slow):
    with running(create_app(own), header_seconds=0.1) as (address, _):
        with send(address) as client:
            time.sleep(0.3)
            slow.set()
            assert status_of(client) == 200


def test_a_slow_body_is_a_408(repository):
    app = create_app(repository, ServerSettings(body_seconds=0.3))
    with running(app) as (address, _):
        with send(address, REQUEST[:-5]) as client:
            assert status_of(client) == 408
        with send(address) as client:
            assert status_of(client) == 200


def test_an_answer_that_takes_too_long_is_a_504(own, slow):
    ask = Asker(create_app(own, ServerSettings(request_seconds=0.1)))
    got = ask("POST", "/v1/models/tiny:predict", content=BODY)
    assert got.status_code == 504
    assert "0.1 seconds" in got.json()["error"]


def test_clients_that_hang_up_leave_nothing_behind(own, slow):
    with running(create_app(own)) as (address, _):
        for data in [REQUEST, REQUEST[:-5], HEAD, b"\x16\x03\x01\x02"] * 5:
            send(address, data).close()
        slow.set()
        with send(address) as client:
            assert status_of(client) == 200
        wait_until(lambda: own.waiting("tiny") == 0)
        wait_until(lambda: own._versions["tiny"][1].users == 0)


def test_a_stop_answers_who_is_waiting(own, slow):
    with running(create_app(own)) as (address, server):
        with send(address) as client:
            wait_until(lambda: own._versions["tiny"][1].users == 1)
            server.should_exit = True
            time.sleep(0.2)
            slow.set()
            assert status_of(client) == 200
    with pytest.raises(OSError):
        send(address)


def test_a_model_is_warm_before_it_is_ready(base, monkeypatch):
    go, began = threading.Event(), threading.Event()

    def warm_up(servable, max_batch_size):
        began.set()
        assert go.wait(10)
        return 0

    monkeypatch.setattr(repository_module, "warm_up", warm_up)
    repository = ModelRepository([base])
    ask = Asker(create_app(repository))
    assert ask("GET", "/readyz").status_code == 503
    repository.start()
    assert began.wait(10)
    predict = "POST", "/v1/models/tiny:predict"
    assert ask("GET", "/readyz").status_code == 503
    assert ask("GET", "/healthz").status_code == 200
    assert ask(*predict, content=BODY).status_code == 404
    assert ask("GET", "/api/models").json() == {"models": []}
    go.set()
    wait_until(lambda: repository.is_ready)
    assert ask("GET", "/readyz").status_code == 200
    assert ask(*predict, content=BODY).status_code == 200
    repository.stop()
