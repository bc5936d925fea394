"""Requests share calls; what goes wrong with one stays with it."""

import threading

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
