"""Ten minutes of load while the models are replaced every twenty seconds."""

import os
import pathlib
import shutil
import tempfile
import threading

from benchmarks import serving_requests as asked
from benchmarks.http_load import load
from benchmarks.served_process import serving

CLIENTS = 16
SECONDS = 60 * float(os.environ.get("KERAS_SEQ_SOAK_MINUTES", "10"))
RELOAD_SECONDS = 20.0
KEEP = 3  # version folders on disk; the server serves the newest


def run():
    """Return a row: how many requests, how many of them failed."""
    tasks = asked.shipped_tasks()
    requests = [one for task in tasks for one in asked.single_requests(task)]
    with tempfile.TemporaryDirectory() as base:
        base = pathlib.Path(base)
        for task in tasks:
            shutil.copytree(asked.MODELS / task, base / task)
        with serving([base]) as server:
            reloads = _Reloads(base, tasks)
            reloads.start()
            before = server.megabytes
            try:
                seen = load(server.port, requests, CLIENTS, SECONDS)
            finally:
                reloads.stop()
            after = server.megabytes
            newest = server.ask(f"/v1/models/{tasks[0]}").decode()
    for refusal in seen.refusals:
        print(refusal)
    return [
        {
            "minutes": seen.seconds / 60,
            "reloads": reloads.count,
            "requests": len(seen.latencies),
            "failed": seen.failed,
            "wanted": 0,
            "requests/s": seen.per_second,
            "p50 (ms)": 1e3 * seen.quantile(0.5),
            "p99 (ms)": 1e3 * seen.quantile(0.99),
            "versions that served": newest.count('"END"') + 1,
            "memory before (MB)": before,
            "memory after (MB)": after,
        }
    ]


class _Reloads(threading.Thread):
    """Gives each model a new version again and again, as an export would."""

    def __init__(self, base, tasks):
        super().__init__(daemon=True)
        self._folders = [base / task for task in tasks]
        self._ended = threading.Event()
        self.count = 0

    def run(self):
        version = 1
        while not self._ended.wait(RELOAD_SECONDS):
            version += 1
            for folder in self._folders:
                unfinished = folder / f".unfinished-{version}"
                shutil.copytree(folder / str(version - 1), unfinished)
                unfinished.rename(folder / str(version))
                old = folder / str(version - KEEP)
                if old.is_dir():
                    shutil.rmtree(old)
                self.count += 1

    def stop(self):
        self._ended.set()
        self.join()
