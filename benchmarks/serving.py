"""The server beside itself without batching, and beside the bare SavedModel."""

import contextlib
import json
import socket
import statistics
import time

from benchmarks import serving_requests as asked
from benchmarks.http_load import load, post
from benchmarks.race import Contender, race
from benchmarks.served_process import serving

CLIENTS = 64
ROUNDS, SECONDS = 3, 5.0
BATCH = 32
WARM_UP, MIXED = 2000, 20_000
# What was wanted before anything was measured.
SPEED_UP, OVERHEAD, FIRST, GROWTH = 4.0, 1.15, 2.0, 1.05


def run():
    """Return rows of figures; each table has what was wanted beside it."""
    tasks = asked.shipped_tasks()
    folders = [asked.MODELS / task for task in tasks]
    first = []
    with contextlib.ExitStack() as stack:
        servers = {}
        for name, options in (
            ("batched", ()),
            ("one by one", ("--max-batch-size", 1)),
        ):
            servers[name] = stack.enter_context(serving(folders, *options))
            for task in tasks:
                first.append(_first_request(servers[name].port, task, name))
        rows = [_speed_up(servers, task) for task in tasks]
    rows += first
    with serving(folders) as server:
        rows += [_overhead(server.port, task) for task in tasks]
        rows.append(_memory(server, tasks))
    return rows


def _speed_up(servers, task):
    """Requests per second of many clients, by turns; medians of the rounds."""
    requests = asked.single_requests(task)
    loads = {name: [] for name in servers}
    for _ in range(ROUNDS):
        for name, server in servers.items():
            loads[name].append(load(server.port, requests, CLIENTS, SECONDS))
    rate = {
        name: statistics.median(each.per_second for each in some)
        for name, some in loads.items()
    }
    late = {
        name: statistics.median(1e3 * each.quantile(0.99) for each in some)
        for name, some in loads.items()
    }
    return {
        "model": task,
        "clients": CLIENTS,
        "batched / one by one": rate["batched"] / rate["one by one"],
        "wanted at least": SPEED_UP,
        "batched (requests/s)": rate["batched"],
        "p99 (ms)": late["batched"],
        "one by one (requests/s)": rate["one by one"],
        "p99 one by one (ms)": late["one by one"],
        "failed": sum(one.failed for some in loads.values() for one in some),
    }


def _first_request(port, task, server):
    """The first request after `/readyz` said yes, beside the next ones."""
    times = []
    for request in asked.single_requests(task)[:41]:
        with socket.create_connection(("127.0.0.1", port), 60) as line:
            start = time.perf_counter()
            _exchange(line, request)
            times.append(time.perf_counter() - start)
    median = statistics.median(times[1:])
    return {
        "model": task,
        "server": server,
        "first request / median": times[0] / median,
        "wanted at most": FIRST,
        "median (ms)": 1e3 * median,
    }


def _overhead(port, task):
    """One client's batches, beside calls of the SavedModel itself."""
    texts = asked.texts(task)[:BATCH]
    results = race(
        {
            "direct": Contender(
                direct_work,
                {"folder": str(asked.MODELS / task / "1"), "texts": texts},
            ),
            "served": Contender(
                served_work, {"port": port, "task": task, "texts": texts}
            ),
        },
        repeats=61,
        label=f"{task}, batch {BATCH}",
    )
    direct, served = results["direct"].seconds, results["served"].seconds
    return {
        "model": task,
        "batch": BATCH,
        "served / direct": served / direct,
        "wanted at most": OVERHEAD,
        "direct (ms)": 1e3 * direct,
        "served (ms)": 1e3 * served,
    }


def _memory(server, tasks):
    requests = asked.mixed_requests(tasks)
    load(server.port, requests, 16, 60, WARM_UP)
    before = server.megabytes
    mixed = load(server.port, requests, 16, 300, MIXED)
    return {
        "mixed requests": len(mixed.latencies),
        "memory after / before": server.megabytes / before,
        "wanted at most": GROWTH,
        "before (MB)": before,
        "after (MB)": server.megabytes,
        "requests/s": mixed.per_second,
        "answers of 5xx, or none": sum(
            count
            for status, count in mixed.statuses.items()
            if status >= 500 or status == 0
        ),
    }


def direct_work(folder, texts):
    """The SavedModel, called as its users call it, answers as arrays."""
    from keras_seq import _startup  # keeps start-up notes off the screen

    _startup.load_backend()
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  (registers its operations)

    model = tf.saved_model.load(folder)
    answer = model.signatures["serving_default"]

    def work():
        outputs = answer(text=tf.constant(texts))
        return [value.numpy() for value in outputs.values()]

    work.model = model  # functions do not keep their variables alive
    return work


def served_work(port, task, texts):
    """The same over HTTP, from the request's bytes to the answer's."""
    body = json.dumps({"instances": texts}).encode()
    request = post(asked.path_of(task), body)
    line = socket.create_connection(("127.0.0.1", port), 60)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return lambda: _exchange(line, request)


def _exchange(line, request):
    line.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += _receive(line)
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(answer[:500])
    length = head.lower().partition(b"content-length:")[2]
    left = int(length.split(b"\r\n", 1)[0]) - len(body)
    while left > 0:
        left -= len(_receive(line))


def _receive(line):
    data = line.recv(1 << 20)
    if not data:
        raise RuntimeError("the server closed the connection")
    return data
