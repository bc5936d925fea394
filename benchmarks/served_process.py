"""`keras-seq serve` in a process of its own, for as long as a block lasts."""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

ENOUGH_SECONDS = 120
PROJECT = pathlib.Path(__file__).parents[1]


@dataclasses.dataclass(frozen=True)
class Served:
    """A server that can answer.

    Attributes:
        port: Where it listens, on 127.0.0.1.
        process_id: Its process.
    """

    port: int
    process_id: int

    @property
    def megabytes(self) -> float:
        """Memory of its process."""
        status = pathlib.Path(f"/proc/{self.process_id}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def ask(self, path: str, body=None):
        """Return an answer; `body` makes it a POST."""
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.port}{path}"
        with urllib.request.urlopen(url, data, timeout=60) as answer:
            return answer.read()


@contextlib.contextmanager
def serving(folders, *options, log=None):
    """Serve folders; yield a `Served` that is ready; stop it at the end.

    Args:
        folders: As `keras-seq serve` takes them.
        *options: Its other arguments.
        log: A file for what it writes.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "keras_seq.cli", "serve"]
        + [*map(str, folders), "--port", "0", *map(str, options)],
        stdout=subprocess.PIPE,
        stderr=log or subprocess.DEVNULL,
        cwd=PROJECT,
        env={k: v for k, v in os.environ.items() if k != "KERAS_SEQ_API_KEY"},
        text=True,
    )
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("keras-seq serve did not start")
        served = Served(int(line.rsplit(":", 1)[1]), process.pid)
        _wait_until_ready(served)
        yield served
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(served):
    until = time.monotonic() + ENOUGH_SECONDS
    while True:
        try:
            served.ask("/readyz")
            return
        except urllib.error.HTTPError:
            if time.monotonic() > until:
                raise
            # Often, so that the first request comes right after.
            time.sleep(0.02)
