"""The REST contract, bad input, and limits, without a network."""

import pytest

from keras_seq.serving.app import create_app
from keras_seq.serving.settings import ServerSettings
from tests.serving.conftest import Asker

pytestmark = pytest.mark.tensorflow
PREDICT = "/v1/models/tiny:predict"
ROW = [1.0, 2.0, 3.5]


def test_rows_are_answered_by_rows(ask):
    got = ask("POST", PREDICT, json={"instances": [ROW, {"x": ROW}["x"]]})
    assert got.status_code == 200
    want = {"total": 6.5, "y": [2.0, 4.0, 7.0]}
    assert got.json() == {"predictions": [want, want]}


def test_columns_are_answered_by_columns_and_one_output_is_bare(ask):
    body = {"inputs": {"text": ["ab"]}, "signature_name": "letters"}
    got = ask("POST", PREDICT, json=body)
    assert got.json() == {"outputs": [["a", "b"]]}


def test_bytes_and_numbers_that_are_none(ask):
    body = {"instances": [{"b64": "/w=="}], "signature_name": "letters"}
    got = ask("POST", PREDICT, json=body)
    assert got.json() == {"predictions": [[{"b64": "/w=="}]]}
    got = ask("POST", PREDICT, content=b'{"instances": [[NaN, 0, -Infinity]]}')
    assert b'"y":[NaN,0.0,-Infinity]' in got.content


@pytest.mark.parametrize("which", ["", "/versions/1", "/labels/stable"])
def test_status_metadata_and_versions(ask, which):
    status = ask("GET", f"/v1/models/tiny{which}").json()
    assert status["model_version_status"] == [
        {
            "version": "1",
            "state": "AVAILABLE",
            "status": {"error_code": "OK", "error_message": ""},
        }
    ]
    metadata = ask("GET", f"/v1/models/tiny{which}/metadata").json()
    assert metadata["model_spec"]["version"] == "1"
    signatures = metadata["metadata"]["signature_def"]["signature_def"]
    x = signatures["serving_default"]["inputs"]["x"]
    assert x["dtype"] == "DT_FLOAT"
    assert [d["size"] for d in x["tensor_shape"]["dim"]] == ["-1", "3"]
    path = f"/v1/models/tiny{which}:predict"
    assert ask("POST", path, json={"instances": [ROW]}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"instances": ' + b"[" * 500 + b"]" * 500 + b"}",
        b"[]",
        b"{}",
        b'{"instances": []}',
        b'{"inputs": []}',
        b'{"inputs": {"text": []}, "signature_name": "letters"}',
        b'{"instances": "abc"}',
        b'{"instances": {"x": [1, 2, 3]}}',
        b'{"instances": [[1, 2, 3]], "signature_name": null}',
        b'{"instances": [[1, 2, 3]], "inputs": [[1, 2, 3]]}',
        b'{"instances": [[1, 2, 3], [1, 2]]}',
        b'{"instances": [[1, 2]]}',
        b'{"instances": [["a", "b", "c"]]}',
        b'{"instances": [[true, 1, 2]]}',
        b'{"instances": [[null, 1, 2]]}',
        b'{"instances": [{"z": [1, 2, 3]}]}',
        b'{"instances": [{"x": [1, 2, 3], "z": 1}]}',
        b'{"instances": [[13, 2, 3]]}',
        b'{"instances": [[1, 2, 3]], "signature_name": "nope"}',
        b'{"instances": [[1, 2, 3]], "signature_name": 5}',
        b'{"instances": [{"b64": "!"}], "signature_name": "letters"}',
        b'{"instances": ["\\ud800"], "signature_name": "letters"}',
        b'{"instances": [[' + b"9" * 5000 + b", 1, 2]]}",
    ],
)
def test_bad_bodies_are_refused_in_the_contracts_format(ask, body):
    got = ask("POST", PREDICT, content=body)
    assert got.status_code == 400
    assert set(got.json()) == {"error"}


NOT_FOUND, LABEL = "Could not find ", "Unrecognized servable version label: "


@pytest.mark.parametrize(
    ("method", "path", "status", "words"),
    [
        ("GET", "nope", 404, NOT_FOUND + "any versions of model nope"),
        ("GET", "tiny/versions/7", 404, NOT_FOUND + "version 7 of model tiny"),
        ("GET", "tiny/labels/nope", 400, LABEL + "nope"),
        ("POST", "tiny/labels/nope:predict", 400, LABEL + "nope"),
        (
            "POST",
            "nope:predict",
            404,
            "Servable not found for request: Latest(nope)",
        ),
        (
            "POST",
            "tiny/versions/7:predict",
            404,
            "Servable not found for request: Specific(tiny, 7)",
        ),
        ("GET", "<b>", 404, NOT_FOUND),
        ("GET", "..%2f..%2fetc", 400, "Malformed request: GET /v1/models/.."),
        ("GET", "%2e%2e/tiny", 400, "Malformed request: GET"),
        ("GET", "tiny/versions/1e3", 400, "Malformed request: GET"),
        ("GET", "tiny/versions/" + "9" * 30, 400, "Malformed request: GET"),
        ("GET", "tiny:predict", 400, "Malformed request: GET"),
        ("POST", "tiny", 400, "Malformed request: POST"),
        ("POST", "tiny:explode", 400, "Malformed request: POST"),
        ("PUT", "tiny:predict", 400, "Malformed request: PUT"),
    ],
)
def test_paths_are_refused_in_tensorflow_servings_words(
    ask, method, path, status, words
):
    got = ask(method, f"/v1/models/{path}", content=b'{"instances": [1]}')
    assert got.status_code == status
    assert got.json()["error"].startswith(words)


@pytest.mark.parametrize(
    "path", ["/static/..%2fapp.py", "/static/%2e%2e/app.py", "/nowhere", "/v2"]
)
def test_what_is_not_there_is_a_404(ask, path):
    got = ask("GET", path)
    assert got.status_code == 404
    assert set(got.json()) == {"error"}


@pytest.mark.parametrize(
    ("method", "kind"),
    [("classify", "classification"), ("regress", "regression")],
)
def test_classify_and_regress_are_refused_as_for_such_a_signature(
    ask, method, kind
):
    path = f"/v1/models/tiny:{method}"
    body = {"examples": [{"x": 1.0}]}
    got = ask("POST", path, json=body)
    assert got.status_code == 400
    assert got.json() == {
        "error": f"Expected {kind} signature method_name to be "
        f"tensorflow/serving/{method}. Was: tensorflow/serving/predict"
    }
    for bad in (b"{", b'{"signature_name": "nope"}', b'{"signature_name": []}'):
        assert ask("POST", path, content=bad).status_code == 400


def test_limits_and_key(repository):
    ask = Asker(
        create_app(
            repository, ServerSettings(max_body_bytes=50, api_key="secret")
        )
    )
    body = {"json": {"instances": [ROW]}}
    assert ask("POST", PREDICT, **body).status_code == 401
    key = {"headers": {"Authorization": "Bearer secret"}}
    assert ask("POST", PREDICT, **body, **key).status_code == 200
    long = {"json": {"instances": [ROW] * 9}}
    assert ask("POST", PREDICT, **long, **key).status_code == 413
    assert ask("GET", "/healthz").status_code == 200


def test_ready_metrics_and_the_page_headers(ask):
    assert ask("GET", "/readyz").status_code == 200
    ask("POST", PREDICT, json={"instances": [ROW]})
    text = ask("GET", "/metrics").text
    assert 'keras_seq_requests_total{method="predict",model="tiny"' in text
    policy = ask("GET", "/healthz").headers["content-security-policy"]
    assert "default-src 'none'" in policy
