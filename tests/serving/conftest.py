"""Tiny SavedModels, and a server in this process to ask about them."""

import asyncio
import contextlib
import pathlib
import socket
import threading
import time

import httpx
import pytest
import tensorflow as tf

from keras_seq.serving.app import create_app
from keras_seq.serving.repository import ModelRepository
from keras_seq.serving.server import http_server
from keras_seq.serving.settings import ServerSettings
from tests.serving.chromium import Chromium
from tests.serving.page_models import write_page_models

SHIPPED = pathlib.Path(__file__).parents[2] / "saved_models"


class Doubler(tf.Module):
    """Doubles numbers; refuses 13; says its factor in `explain`."""

    def __init__(self, factor=2.0):
        super().__init__()
        self.factor = tf.Variable(factor)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], name="x")])
    def double(self, x):
        bad = tf.reduce_any(tf.equal(x, 13.0))
        with tf.control_dependencies([tf.Assert(~bad, ["13 is unlucky"])]):
            return {"y": x * self.factor, "total": tf.reduce_sum(x, 1)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def letters(self, text):
        return {"letters": tf.strings.bytes_split(text).to_tensor("")}


def write_model(folder, factor=2.0):
    """Write a version folder whole, as an export does."""
    model = Doubler(factor)
    unfinished = folder.parent / f".unfinished-{folder.name}"
    signatures = {
        "serving_default": model.double,
        "letters": model.letters,
    }
    tf.saved_model.save(model, str(unfinished), signatures)
    unfinished.rename(folder)


class Asker:
    """Requests to an application, without a network."""

    def __init__(self, app):
        self._app = app

    def __call__(self, method, path, **options):
        return asyncio.run(self.gather([(method, path, options)]))[0]

    async def gather(self, requests):
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://test"
        ) as client:
            return await asyncio.gather(
                *(client.request(m, p, **o) for m, p, o in requests)
            )


@pytest.fixture(scope="package")
def base(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    (base / "tiny").mkdir()
    write_model(base / "tiny" / "1")
    return base


@pytest.fixture(scope="package")
def repository(base):
    repository = ModelRepository([base], labels={"tiny": {"stable": 1}})
    repository.scan()
    yield repository
    repository.stop()


@pytest.fixture(scope="package")
def ask(repository):
    return Asker(create_app(repository))


def wait_until(condition, seconds=30):
    """Wait for a condition, or fail."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


@contextlib.contextmanager
def running(app, **limits):
    """Serve on a free port, as `keras-seq serve` does; yield both."""
    server = http_server(app, ServerSettings(**limits))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listener]}
        )
        thread.start()
        wait_until(lambda: server.started)
        try:
            yield listener.getsockname(), server
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="package")
def browser(tmp_path_factory):
    browser = Chromium(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="package")
def page_models(tmp_path_factory):
    base = tmp_path_factory.mktemp("page-models")
    write_page_models(base)
    repository = ModelRepository([base, SHIPPED / "sentiment"])
    repository.scan()
    yield repository
    repository.stop()


@pytest.fixture(scope="package")
def site(page_models):
    with running(create_app(page_models)) as ((host, port), _):
        yield f"http://{host}:{port}/"


@pytest.fixture
def page(browser, site):
    """The page, opened anew; nothing may have gone wrong on it at the end."""
    browser.problems.clear()
    browser.requests.clear()
    browser.look()
    browser.open(site)
    browser.wait(
        "document.getElementById('status').textContent.startsWith('Ready')"
    )
    yield browser
    assert browser.run("window.attacked") is None
    assert browser.problems == []
    outside = [
        url
        for url in browser.requests
        if not url.startswith((site, "about:", "data:", "blob:"))
    ]
    assert outside == []
