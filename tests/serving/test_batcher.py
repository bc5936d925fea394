"""Requests share calls; what goes wrong with one stays with it."""

import struct
import threading
import time

import numpy as np
import pytest

from keras_seq.serving.batcher import Batcher
from keras_seq.serving.batching_options import BatchingOptions
from keras_seq.serving.company import company_of
from keras_seq.serving.serving_error import ServingError
from keras_seq.serving.signature import Signature, TensorSpec

X = {"x": TensorSpec("float32", [None, 2])}
SIGNATURES = {"double": Signature(X, X)}


class Model:
    """Doubles; counts its calls; waits for `go`; refuses 13."""

    def __init__(self):
        self.calls = []
        self.go = threading.Event()
        self.busy = threading.Event()

    def __call__(self, signature, inputs):
        self.busy.set()
        assert self.go.wait(10)
        self.calls.append(len(inputs["x"]))
        if (inputs["x"] == 13).any():
            raise ServingError(400, "13")
        return {"x": 2 * inputs["x"]}


@pytest.fixture
def model():
    return Model()


def batcher_of(model, **options):
    return Batcher(model, SIGNATURES, BatchingOptions(**options))


def rows(value, count=1):
    return {"x": np.full((count, 2), value, "float32")}


def test_what_waits_together_is_answered_together(model):
    batcher = batcher_of(model)
    first = batcher.submit("double", rows(0), 10)
    assert model.busy.wait(10)
    rest = [batcher.submit("double", rows(i, i), 10) for i in (1, 2, 3)]
    model.go.set()
    for i, future in enumerate([first, *rest]):
        want = 2 * rows(i, max(i, 1))["x"]
        np.testing.assert_array_equal(future.result(10)["x"], want)
    assert model.calls == [1, 6]
    batcher.close()


def test_a_poisoned_request_fails_alone(model):
    batcher = batcher_of(model)
    batcher.submit("double", rows(0), 10)
    assert model.busy.wait(10)
    good, bad, last = (
        batcher.submit("double", rows(i), 10) for i in (1, 13, 2)
    )
    model.go.set()
    assert good.result(10)["x"][0, 0] == 2
    assert last.result(10)["x"][0, 0] == 4
    with pytest.raises(ServingError, match="13"):
        bad.result(10)
    batcher.close()


def test_a_full_queue_refuses_and_late_requests_are_dropped(model):
    batcher = batcher_of(model, queue_limit=1)
    batcher.submit("double", rows(0), 10)
    assert model.busy.wait(10)
    late = batcher.submit("double", rows(1), -1)
    with pytest.raises(ServingError) as refusal:
        batcher.submit("double", rows(2), 10)
    assert (refusal.value.status, refusal.value.retry_after) == (503, 1)
    model.go.set()
    with pytest.raises(ServingError) as timed_out:
        late.result(10)
    assert timed_out.value.status == 504
    assert model.calls == [1]
    batcher.close()


def test_short_texts_do_not_share_a_call_with_long_ones(model):
    text = {"x": TensorSpec("string", [None])}
    batcher = Batcher(model, {"s": Signature(text, X)})
    long, short = ({"x": np.array([b"a" * n], object)} for n in (900, 9))
    assert company_of("s", long, True) > company_of("s", short, True)
    batcher.close()


def test_outputs_as_long_as_the_longest_row_are_never_shared():
    loose = {"x": TensorSpec("float32", [None, None])}
    assert not Signature(X, loose).can_batch
    assert Signature(loose, X).can_batch


TEXT = {"x": TensorSpec("string", [None])}


class Reader:
    """Gives back the length of texts; long ones take until `go`."""

    def __init__(self):
        self.calls = []
        self.go = threading.Event()
        self.busy = threading.Event()

    def __call__(self, signature, inputs):
        lengths = np.array([len(text) for text in inputs["x"]])
        self.calls.append(lengths.tolist())
        if lengths.max() > 500:
            self.busy.set()
            assert self.go.wait(10)
        return {"length": lengths}


def texts(*lengths):
    return {"x": np.array([b"a" * length for length in lengths], object)}


def reading(**options):
    reader = Reader()
    numbers = {"length": TensorSpec("int64", [None])}
    loose = {"length": TensorSpec("int64", [None, None])}
    signatures = {
        "read": Signature(TEXT, numbers),
        "explain": Signature(TEXT, loose),
    }
    return reader, Batcher(reader, signatures, BatchingOptions(**options))


def test_a_short_text_never_waits_on_a_long_one():
    reader, batcher = reading(timeout=0.0)
    long = batcher.submit("read", texts(900), 10)
    assert reader.busy.wait(10)
    longer = batcher.submit("read", texts(950), 10)
    for length in (1, 100, 200):
        short = batcher.submit("read", texts(length), 10)
        assert short.result(10)["length"].tolist() == [length]
    assert not long.done() and not longer.done()
    reader.go.set()
    assert long.result(10) and longer.result(10)
    assert reader.calls == [[900], [1], [100], [200], [950]]
    batcher.close()


def test_a_long_text_is_not_left_behind_by_many_short_ones():
    reader, batcher = reading(timeout=0.0, max_batch_size=1)
    reader.go.set()
    first = [batcher.submit("read", texts(1), 10) for _ in range(20)]
    long = batcher.submit("read", texts(900), 10)
    rest = [batcher.submit("read", texts(2), 10) for _ in range(20)]
    for future in [*first, long, *rest]:
        future.result(10)
    assert reader.calls.index([900]) <= 21
    batcher.close()


def test_a_large_request_is_answered_in_shares_and_others_between():
    reader, batcher = reading(timeout=0.0, max_batch_size=4)
    large = batcher.submit("read", texts(*[501] * 4, *range(501, 510)), 10)
    assert reader.busy.wait(10)
    small = batcher.submit("read", texts(600), 10)
    reader.go.set()
    assert small.result(10)["length"].tolist() == [600]
    got = large.result(10)["length"].tolist()
    assert got == [501] * 4 + list(range(501, 510))
    assert [len(call) for call in reader.calls] == [4, 1, 4, 4, 1]
    batcher.close()


def test_on_a_quiet_server_nobody_waits_for_company():
    reader, batcher = reading(timeout=5.0)
    start = time.monotonic()
    for _ in range(3):
        batcher.submit("read", texts(1), 10).result(10)
    assert time.monotonic() - start < 2.5
    batcher.close()


def test_what_cannot_be_divided_has_few_rows_and_nothing_has_none():
    reader, batcher = reading()
    for rows, match in ((65, "at most 64 rows"), (0, "at least one row")):
        with pytest.raises(ServingError, match=match) as refusal:
            batcher.submit("explain", texts(*[1] * rows), 10)
        assert refusal.value.status == 400
    assert batcher.submit("explain", texts(*[1] * 64), 10).result(10)
    batcher.close()


def test_who_is_to_blame_is_found_by_halves(model):
    batcher = batcher_of(model)
    batcher.submit("double", rows(0), 10)
    assert model.busy.wait(10)
    futures = [
        batcher.submit("double", rows(13 if i == 29 else i % 13), 10)
        for i in range(32)
    ]
    model.go.set()
    with pytest.raises(ServingError, match="13"):
        futures.pop(29).result(10)
    for future in futures:
        future.result(10)
    assert len(model.calls) == 1 + 1 + 2 * 5
    batcher.close()


def image(size, width, height):
    sides = struct.pack(">II", width, height)
    return b"\x89PNG\r\n\x1a\n" + bytes(8) + sides + bytes(size)


def test_images_share_a_call_whatever_their_bytes_unless_they_are_huge():
    def company(item):
        return company_of("s", {"x": np.array([item], object)}, True)

    small, other = image(99, 50, 50), image(90_000, 1000, 1000)
    assert company(small) == company(other)
    huge = image(99, 3000, 2000)
    assert company(huge) != company(huge)
    assert company(huge) > company(small)
