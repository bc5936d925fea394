"""`keras-seq serve` as people start it, asked as the README asks it."""

import json
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request

import pytest

from keras_seq.serving import Client, ClientError
from tests.serving.conftest import wait_until

pytestmark = pytest.mark.tensorflow
PROJECT = pathlib.Path(__file__).parents[2]
CURL = re.compile(r"^curl [^\n]*(?:\\\n[^\n]*)*", re.MULTILINE)


@pytest.fixture(scope="module")
def address():
    process = subprocess.Popen(
        [sys.executable, "-m", "keras_seq.cli", "serve"]
        + [str(PROJECT / "saved_models"), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = process.stdout.readline().split()[-1]
        wait_until(lambda: _is_ready(address), 240)
        yield address
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    finally:
        process.kill()
        process.wait()


def _is_ready(address):
    try:
        return urllib.request.urlopen(f"{address}/readyz").status == 200
    except OSError:
        return False


def test_the_readmes_curl_lines_are_answered(address):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    lines = CURL.findall((PROJECT / "README.md").read_text())
    assert len(lines) >= 2
    for line in lines:
        line = line.replace("http://127.0.0.1:8501", address)
        got = subprocess.run(
            shlex.split(line), capture_output=True, text=True, check=True
        )
        assert "error" not in json.loads(got.stdout), line


def test_the_client_gives_the_golden_answers(address):
    card = PROJECT / "saved_models/sentiment/1/model_card.json"
    pair = json.loads(card.read_text())["golden"]["serving_default"][0]
    client = Client(address, "sentiment")
    rows = client.predict(pair["inputs"]["text"])
    assert [row["label"] for row in rows] == pair["outputs"]["label"]
    assert [row["probability"] for row in rows] == pytest.approx(
        pair["outputs"]["probability"], abs=1e-4
    )
    assert client.status()[0]["state"] == "AVAILABLE"
    assert "explain" in client.metadata()
    with pytest.raises(ClientError, match="404"):
        Client(address, "nope").predict(["x"])
