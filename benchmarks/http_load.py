"""Many HTTP clients at once, in a process of their own.

As little Python per request as can be: the clients share two cores with the
server, and what they use up the server does not have. Each client keeps one
connection, sends a request, waits for the answer, and sends the next.
"""

import asyncio
import collections
import dataclasses
import itertools
import multiprocessing
import random
import time

MOST_SECONDS, MOST_CLIENTS = 900, 256
FAILED = 0  # the status of a request that got no answer


@dataclasses.dataclass(frozen=True)
class Load:
    """What the clients saw.

    Attributes:
        seconds: From the first request to the last answer.
        latencies: Seconds that each request took, in order of the answers.
        statuses: How often each HTTP status came.
        refusals: The first few answers that were not a 200.
    """

    seconds: float
    latencies: list[float]
    statuses: dict[int, int]
    refusals: list[str]

    @property
    def per_second(self) -> float:
        """Answers per second."""
        return len(self.latencies) / self.seconds

    @property
    def failed(self) -> int:
        """How many requests got anything but a 200."""
        return sum(n for status, n in self.statuses.items() if status != 200)

    def quantile(self, share: float) -> float:
        """Return the latency below which a share of the requests was."""
        ordered = sorted(self.latencies)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def post(path: str, body: bytes) -> bytes:
    """Return the bytes of a request."""
    head = (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode("ascii") + body


def load(port, requests, clients=64, seconds=10.0, count=10**9) -> Load:
    """Send requests, in an order of chance, until a time or a count is over.

    Args:
        port: Of a server on this machine.
        requests: Bytes of the requests to choose from.
        clients: How many at once.
        seconds: For how long at most.
        count: How many requests at most.
    """
    if clients > MOST_CLIENTS or seconds > MOST_SECONDS:
        raise ValueError(
            f"`clients` must be at most {MOST_CLIENTS}, `seconds` at most "
            f"{MOST_SECONDS}. Received: {clients}, {seconds}"
        )
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(
        target=_work,
        args=(theirs, port, requests, clients, seconds, count),
        daemon=True,
    )
    process.start()
    theirs.close()
    try:
        return ours.recv()
    finally:
        process.terminate()
        process.join()


def _work(line, port, requests, clients, seconds, count):
    line.send(asyncio.run(_load(port, requests, clients, seconds, count)))


async def _load(port, requests, clients, seconds, count):
    order = random.Random(7)
    places = itertools.cycle(order.sample(range(len(requests)), len(requests)))
    left = itertools.count(count, -1)
    start = time.perf_counter()
    state = _State(requests, places, left, start + seconds)
    await asyncio.gather(*(_client(port, state) for _ in range(clients)))
    return Load(
        time.perf_counter() - start,
        state.latencies,
        dict(state.statuses),
        state.refusals,
    )


class _State:
    def __init__(self, requests, places, left, end):
        self.requests, self.places, self.left = requests, places, left
        self.end = end
        self.latencies, self.refusals = [], []
        self.statuses = collections.Counter()

    def next(self):
        if time.perf_counter() >= self.end or next(self.left) <= 0:
            return None
        return self.requests[next(self.places)]

    def note(self, status, began, answer=b""):
        self.statuses[status] += 1
        self.latencies.append(time.perf_counter() - began)
        if status != 200 and len(self.refusals) < 5:
            self.refusals.append(repr(answer[-300:]))


async def _client(port, state):
    loop = asyncio.get_running_loop()
    while True:
        try:
            _, client = await loop.create_connection(
                lambda: _Client(state, loop.create_future()), "127.0.0.1", port
            )
        except OSError as error:
            state.note(FAILED, time.perf_counter(), str(error).encode())
            await asyncio.sleep(0.1)
            if time.perf_counter() >= state.end:
                return
            continue
        if await client.done:
            return


class _Client(asyncio.Protocol):
    """A connection; `done` is True when there is nothing more to ask."""

    def __init__(self, state, done):
        self._state, self.done = state, done
        self._answer, self._began = b"", None

    def connection_made(self, transport):
        self._transport = transport
        self._send()

    def _send(self):
        request = self._state.next()
        if request is None:
            self._transport.close()
            self.done.set_result(True)
            return
        self._began = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data):
        self._answer += data
        head, found, body = self._answer.partition(b"\r\n\r\n")
        if not found:
            return
        _, _, length = head.lower().partition(b"content-length:")
        if len(body) < int(length.split(b"\r\n", 1)[0]):
            return
        self._state.note(int(head[9:12]), self._began, self._answer)
        self._answer, self._began = b"", None
        if b"connection: close" not in head.lower():
            self._send()

    def connection_lost(self, exc):
        if self._began is not None:
            said = str(exc).encode() or b"the server closed the connection"
            self._state.note(FAILED, self._began, said)
        if not self.done.done():
            self.done.set_result(False)
