"""Whatever strangers send, it is their fault: never a 5xx, always JSON.

The examples are drawn anew from the same seed, so a failure comes again.
"""

import json
import socket

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keras_seq.serving.app import create_app
from keras_seq.serving.serving_error import ServingError
from keras_seq.serving.signature import TensorSpec
from keras_seq.serving.tensor_proto import decode_proto
from tests.serving.conftest import running
from tests.serving.test_hostile import REQUEST, send, status_of

pytestmark = pytest.mark.tensorflow
PREDICT = "/v1/models/tiny:predict"


def fuzz(examples):
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )


def check(answer):
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400 and answer.request.method != "HEAD":
        assert set(answer.json()) == {"error"}


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.just(13)
    | st.just([1.0, 2.0, 3.5]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["x", "text", "b64", "y"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)
BODIES = st.dictionaries(
    st.sampled_from(
        ["instances", "inputs", "signature_name", "examples", "context"]
    ),
    VALUES | st.sampled_from(["serving_default", "letters"]),
    max_size=4,
)


@fuzz(150)
@given(
    value=VALUES,
    key=st.sampled_from(["instances", "inputs"]),
    signature=st.sampled_from(["serving_default", "letters"]),
)
def test_no_value_is_our_fault(ask, value, key, signature):
    body = json.dumps({key: value, "signature_name": signature}).encode()
    answer = ask("POST", PREDICT, content=body)
    assert answer.status_code in (200, 400)
    check(answer)


@fuzz(100)
@given(
    body=BODIES,
    place=st.integers(0, 200),
    junk=st.binary(max_size=4),
    cut=st.integers(0, 3),
)
def test_no_broken_body_is_our_fault(ask, body, place, junk, cut):
    whole = json.dumps(body).encode()
    broken = whole[:place] + junk + whole[place + cut :]
    check(ask("POST", PREDICT, content=broken))


@fuzz(150)
@given(
    method=st.sampled_from(["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS"]),
    parts=st.lists(
        st.sampled_from(
            ["v1", "models", "tiny", "versions", "1", "labels", "stable"]
            + ["metadata", "..", "%2e%2e", "%00", "%ff", "static", "app.js"]
            + ["tiny:predict", "tiny:classify", "1:predict", "api", "metrics"]
        )
        | st.text("aZ09%:;?#[]@!$&'()*+,=~-_.\u00e9", max_size=6),
        max_size=6,
    ),
    headers=st.dictionaries(
        st.sampled_from(["content-type", "authorization", "accept", "range"]),
        st.text("abcXYZ0189 ;=/,*", max_size=12),
        max_size=2,
    ),
)
def test_no_path_is_our_fault(ask, method, parts, headers):
    path = "/" + "/".join(parts).replace("#", "%23").replace("?", "%3f")
    check(ask(method, path, headers=headers, content=b'{"instances": [1]}'))


@fuzz(60)
@given(
    place=st.integers(0, len(REQUEST)),
    junk=st.binary(min_size=1, max_size=12),
    cut=st.integers(0, 5),
)
def test_no_bytes_on_the_line_are_our_fault(line, place, junk, cut):
    with send(line, REQUEST[:place] + junk + REQUEST[place + cut :]) as client:
        client.shutdown(socket.SHUT_WR)
        status = status_of(client)
    assert status is None or status < 500
    with send(line) as client:
        assert status_of(client) == 200


@pytest.fixture(scope="module")
def line(repository):
    app = create_app(repository)
    with running(app, header_seconds=0.2, body_seconds=0.2) as (address, _):
        yield address


@fuzz(100)
@given(
    dtype=st.integers(-2, 30),
    sizes=st.lists(st.integers(-3, 2**40), max_size=4),
    content=st.binary(max_size=24),
    floats=st.lists(st.floats(width=32), max_size=4),
    strings=st.lists(st.binary(max_size=4), max_size=4),
)
def test_no_tensor_message_is_our_fault(dtype, sizes, content, floats, strings):
    from tensorflow.core.framework import tensor_pb2

    proto = tensor_pb2.TensorProto(dtype=dtype, tensor_content=content)
    proto.float_val.extend(floats)
    proto.string_val.extend(strings)
    for size in sizes:
        proto.tensor_shape.dim.add(size=size)
    for spec in (
        TensorSpec("float32", [None, 3]),
        TensorSpec("string", None),
        TensorSpec("int32", None),
    ):
        try:
            array = decode_proto("x", proto, spec, 10_000)
        except ServingError as error:
            assert error.status == 400
        else:
            assert array.nbytes <= 10_000
