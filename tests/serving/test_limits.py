"""Requests that are too much: they are refused, and others are answered."""

import base64
import io
import json
import socket
import struct
import time
import zlib

import numpy as np
import pytest
import tensorflow as tf

from keras_seq.serving.access_log import AccessLog
from keras_seq.serving.app import create_app
from keras_seq.serving.image_size import image_pixels
from keras_seq.serving.input_limits import check_images
from keras_seq.serving.pending_bytes import PendingBytes
from keras_seq.serving.repository import ModelRepository
from keras_seq.serving.serving_error import ServingError
from keras_seq.serving.settings import ServerSettings
from keras_seq.vision import decode_images
from tests.serving.conftest import Asker, running
from tests.serving.test_hostile import HEAD, REQUEST, send

pytestmark = pytest.mark.tensorflow
MEGABYTE = 2**20
PREDICT = "/v1/models/tiny:predict"


def answer_of(client):
    """Read an answer whole; return its status and what it says."""
    data = b""
    while part := client.recv(65536):
        data += part
        head, _, body = data.partition(b"\r\n\r\n")
        if body.endswith(b"}"):
            return int(head.split()[1]), json.loads(body)
    return None, None


@pytest.fixture(scope="module")
def line(repository):
    with running(create_app(repository)) as (address, _):
        yield address


def test_a_hundred_megabytes_are_a_413_before_they_are_read(line):
    size = 100 * MEGABYTE
    with send(line, HEAD + b"content-length: %d\r\n\r\n" % size) as client:
        status, said = answer_of(client)
    assert status == 413
    assert "16777216 bytes" in said["error"]


def test_a_hundred_megabytes_that_were_not_announced_are_a_413(line):
    chunk = b"%x\r\n" % MEGABYTE + bytes(MEGABYTE) + b"\r\n"
    with send(line, HEAD + b"transfer-encoding: chunked\r\n\r\n") as client:
        sent = 0
        try:
            while sent < 100:
                client.sendall(chunk)
                sent += 1
        except OSError:
            pass  # the server has hung up, as it may
        status, _ = answer_of(client)
    assert status in (413, None)
    with send(line) as client:
        assert answer_of(client)[0] == 200


def test_what_is_no_http_is_refused_in_the_contracts_format(line):
    with send(line, b"\x16\x03\x01 hello\r\n\r\n") as client:
        status, said = answer_of(client)
        assert client.recv(1) == b""
    assert status == 400 and set(said) == {"error"}


def test_head_has_the_headers_and_no_body(line):
    request = b"HEAD /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
    with send(line, request) as client:
        data = b""
        while part := client.recv(4096):
            data += part
    assert data.startswith(b"HTTP/1.1 200") and data.endswith(b"\r\n\r\n")
    assert b"content-length: 15" in data


def test_requests_one_after_the_other_on_one_connection(line):
    with send(line, REQUEST * 3) as client:
        data = b""
        while data.count(b"predictions") < 3:
            data += client.recv(4096)
    assert data.count(b"HTTP/1.1 200 OK") == 3


def test_an_answer_is_one_packet(line):
    with send(line) as client:
        first = client.recv(65536)
    assert b"\r\n\r\n{" in first and first.endswith(b"}")


def test_others_are_answered_while_a_large_body_is_read(line):
    rows = b",".join([b"[1,2,3]"] * 200_000)
    body = b'{"instances":[' + rows + b"]}"
    request = HEAD + b"content-length: %d\r\n\r\n" % len(body) + body
    with send(line, request) as large:
        for _ in range(10):
            start = time.perf_counter()
            with send(line) as client:
                assert answer_of(client)[0] == 200
            assert time.perf_counter() - start < 3  # of a busy machine
        large.settimeout(30)
        status, said = answer_of(large)
    assert status == 400 and "100000 rows" in said["error"]


def test_a_body_of_a_million_values_is_refused_unread(ask):
    body = b'{"instances":[' + b"1," * 1_000_000 + b"1]}"
    answer = ask("POST", PREDICT, content=body)
    assert answer.status_code == 400
    assert "more than 1000000 values" in answer.json()["error"]


def test_all_clients_together_have_a_limit_too(repository):
    limits = ServerSettings(max_pending_bytes=500, body_seconds=5)
    with running(create_app(repository, limits)) as (address, _):
        half = HEAD + b"content-length: 400\r\n\r\n{"
        with send(address, half):
            time.sleep(0.3)
            with send(address, half) as client:
                status, said = answer_of(client)
            assert status == 503 and "unanswered" in said["error"]
            with send(address) as client:  # a small one has room
                assert answer_of(client)[0] == 200
    pending = PendingBytes(10)
    with pending.hold(1000):  # alone, all may come
        pass
    assert pending._held == 0


def test_a_full_queue_is_a_503_that_says_when_to_try_again(repository):
    class Full:
        def submit(self, *_):
            from keras_seq.serving.serving_error import ServingError

            raise ServingError(503, "The queue is full", 1)

    version = repository._versions["tiny"][1]
    batcher, version.batcher = version.batcher, Full()
    try:
        ask = Asker(create_app(repository))
        answer = ask("POST", PREDICT, json={"instances": [[1, 2, 3]]})
    finally:
        version.batcher = batcher
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json() == {"error": "The queue is full"}


def test_requests_are_logged_as_lines_of_json(repository):
    stream = io.StringIO()
    log = AccessLog(stream)
    ask = Asker(create_app(repository, access_log=log))
    ask("GET", "/%22evil%0aname%22")
    log.flush()
    (line,) = stream.getvalue().splitlines()
    said = json.loads(line)
    assert (said["status"], said["method"]) == (404, "GET")
    assert said["path"] == '/"evil\nname"'


# --- images -----------------------------------------------------------------


class Painter(tf.Module):
    """Decodes images as the captioner does, and gives their mean."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "image")])
    def mean(self, image):
        return {"mean": tf.reduce_mean(decode_images(image, (8, 8)), (1, 2, 3))}


def png(width, height):
    """A black image of one bit per pixel: a few kilobytes at any size."""

    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    row = b"\0" + bytes((width + 7) // 8)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(row * height, 9))
        + chunk(b"IEND", b"")
    )


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    base = tmp_path_factory.mktemp("images")
    painter = Painter()
    signatures = {"serving_default": painter.mean}
    tf.saved_model.save(painter, str(base / "painter" / "1"), signatures)
    repository = ModelRepository([base])
    repository.scan()
    yield repository
    repository.stop()


def send_images(ask, *images):
    rows = [{"b64": base64.b64encode(each).decode()} for each in images]
    return ask("POST", "/v1/models/painter:predict", json={"instances": rows})


def test_an_image_bomb_is_a_400_and_the_server_lives(gallery):
    """By the server's limit; and without it, by the graph's own."""
    bomb = png(10_000, 10_000)
    assert len(bomb) < 20_000
    for most in (36_000_000, 10**12):
        limits = ServerSettings(max_image_pixels=most)
        ask = Asker(create_app(gallery, limits))
        answer = send_images(ask, bomb)
        assert answer.status_code == 400
        assert "36000000 pixels" in answer.json()["error"]
    assert send_images(ask, png(20, 30)).json() == {"predictions": [0.0]}


def test_many_images_are_as_bad_as_a_large_one(gallery):
    ask = Asker(create_app(gallery))
    answer = send_images(ask, *[png(3000, 3000)] * 5)
    assert answer.status_code == 400
    assert "45000000" in answer.json()["error"]


BROKEN_IMAGES = [
    b"",
    b"no image at all, but as long as one",
    png(20, 30)[:40],
    png(20, 30)[:-20],
    png(0, 0),
    png(20, 30)[:16] + b"\xff" * 8 + png(20, 30)[24:],
    b"\xff\xd8\xff\xe0" + b"\xff" * 100,
    b"GIF89a" + b"\xff" * 20,
    b"BM" + bytes(60),
]


def test_broken_images_are_a_400(gallery):
    ask = Asker(create_app(gallery))
    for data in BROKEN_IMAGES:
        answer = send_images(ask, data)
        assert answer.status_code == 400, data
        assert set(answer.json()) == {"error"}


def test_no_graph_is_given_an_image_that_hides_its_size():
    hidden = b"\xff\xd8" + b"\xff" * 20_000
    for data in (hidden, png(0, 7), b"GIF89a" + bytes(40)):
        rows = {"image_bytes": np.array([png(20, 30), data], object)}
        with pytest.raises(ServingError, match="how large they are") as refusal:
            check_images(rows, 10**9)
        assert refusal.value.status == 400


def test_a_broken_image_does_not_spoil_those_beside_it(gallery):
    ask = Asker(create_app(gallery))

    async def both():
        rows = [png(20, 30), b"broken", png(9, 9)]
        bodies = [
            {"instances": [{"b64": base64.b64encode(row).decode()}]}
            for row in rows
        ]
        path = "/v1/models/painter:predict"
        return await ask.gather(
            [("POST", path, {"json": body}) for body in bodies]
        )

    import asyncio

    assert [a.status_code for a in asyncio.run(both())] == [200, 400, 200]


def test_sizes_are_those_that_decoders_see():
    pixels = tf.zeros((20, 30, 3), tf.uint8)
    for encode in (tf.io.encode_png, tf.io.encode_jpeg):
        assert image_pixels(encode(pixels).numpy()) == 600
    assert image_pixels(png(7, 5)) == 35
    bitmap = b"BM" + bytes(16) + struct.pack("<ii", 7, -5)
    assert image_pixels(bitmap) == 35
    assert image_pixels(b"a text") is None
    assert image_pixels(b"\xff\xd8\xff\xd8" + b"\xff\xd8" * 50_000) == 0
    texts = tf.constant(["GIF89a is a format", "x"]).numpy()
    check_images({"text": texts}, 36_000_000 * 100)


def test_slow_readers_do_not_stop_others(line):
    """Answers that nobody fetches fill buffers, not the server."""
    row = json.dumps({"instances": [[1.0, 2.0, 3.5]] * 20_000}).encode()
    request = HEAD + b"content-length: %d\r\n\r\n" % len(row) + row
    lazy = [socket.create_connection(line, timeout=10) for _ in range(5)]
    for client in lazy:
        client.sendall(request)
    time.sleep(0.5)
    with send(line) as client:
        assert answer_of(client)[0] == 200
    for client in lazy:
        client.close()
