"""What docs/serving.md and docs/export.md show is run."""

import json
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from keras_seq.cli import main

pytestmark = pytest.mark.tensorflow
PROJECT = pathlib.Path(__file__).parents[1]
DOCS = PROJECT / "docs"
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
SHELL = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^keras-seq (\w+)(.*?)(?:#.*)?$", re.MULTILINE)


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


@pytest.fixture(scope="module")
def serving_page():
    """docs/serving.md, with the ports of a server that is running."""
    pytest.importorskip("tensorflow_serving", reason="needs keras_seq[grpc]")
    rest, grpc = free_ports(2)
    process = subprocess.Popen(
        [sys.executable, "-m", "keras_seq.cli", "serve"]
        + [str(PROJECT / "saved_models" / "sentiment")]
        + ["--port", str(rest), "--grpc-port", str(grpc)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until_ready(f"http://127.0.0.1:{rest}/readyz", process)
        text = (DOCS / "serving.md").read_text()
        text = text.replace("127.0.0.1:8501", f"127.0.0.1:{rest}")
        yield text.replace("127.0.0.1:8500", f"127.0.0.1:{grpc}")
    finally:
        process.kill()
        process.wait()


def wait_until_ready(address, process, seconds=120):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5) as response:
                if response.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not become ready")


def run_blocks(name, blocks):
    assert blocks
    names = {}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"{name} block {number}", "exec"), names)
    return names


def test_the_curl_lines_are_answered(serving_page):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    shell = "".join(SHELL.findall(serving_page))
    lines = re.findall(r"^curl .*$", shell, re.MULTILINE)
    assert len(lines) == 6
    for line in lines:
        got = subprocess.run(
            shlex.split(line), capture_output=True, text=True, check=True
        )
        assert "error" not in json.loads(got.stdout), line


def test_the_clients_are_answered(serving_page, capsys):
    names = run_blocks("serving.md", PYTHON.findall(serving_page))
    said = capsys.readouterr().out
    assert names["answer"]["predictions"][0]["label"] in said
    assert "['explain', 'from_ids', 'serving_default']" in said
    assert "[b'positive']" in said or "[b'negative']" in said


def test_the_blocks_on_export_run(tmp_path, monkeypatch):
    pytest.importorskip("tf2onnx")
    (tmp_path / "saved_models").symlink_to(PROJECT / "saved_models")
    monkeypatch.chdir(tmp_path)
    blocks = PYTHON.findall((DOCS / "export.md").read_text())
    run_blocks("export.md", blocks)
    assert (tmp_path / "exported/encoder/1/model.onnx").is_file()


@pytest.mark.parametrize("page", ["serving.md", "export.md"])
def test_the_commands_exist(page, capsys):
    found = COMMAND.findall("".join(SHELL.findall((DOCS / page).read_text())))
    assert found
    for command, rest in found:
        with pytest.raises(SystemExit) as ended:
            main([command, "--help"])
        assert ended.value.code == 0
        said = capsys.readouterr().out
        for flag in re.findall(r"--[\w-]+", rest):
            assert flag in said, f"{command} {flag}"


def test_every_refusal_and_every_preset_is_named():
    from keras_seq.export.gpu_report import EXPECTED_ON_CPU
    from keras_seq.models import TEXT_CLASSIFIER_PRESETS

    text = (DOCS / "export.md").read_text()
    for preset in set(TEXT_CLASSIFIER_PRESETS) - {"test"}:
        assert f"`{preset}`" in text
    for kind in {*EXPECTED_ON_CPU, "rows of texts", "int32 variables"}:
        assert kind in text


@pytest.mark.parametrize("page", ["docs/serving.md", "docs/export.md"])
def test_links_lead_somewhere(page):
    readme = (PROJECT / "README.md").read_text()
    assert f"({page})" in readme
    path = PROJECT / page
    prose = PYTHON.sub("", path.read_text())
    for link in re.findall(r"\]\(([^)#]+)\)", prose):
        assert (path.parent / link).exists(), link
