"""Tiny SavedModels, and a server in this process to ask about them."""

import asyncio
import time

import httpx
import pytest
import tensorflow as tf

from keras_seq.serving.app import create_app
from keras_seq.serving.repository import ModelRepository


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
