"""When a run stops, and which epoch was its best."""

import pytest

from keras_seq.training import EarlyStopping
from keras_seq.training.early_stopping import BestSoFar


def follow(rule, values):
    """Return the best epoch and the epoch it stopped after, if any."""
    best = BestSoFar(rule)
    for epoch, value in enumerate(values, start=1):
        best.update(epoch, {rule.monitor: value})
        if best.should_stop:
            return best.epoch, epoch
    return best.epoch, None


@pytest.mark.parametrize(
    "monitor, larger",
    [
        ("val_loss", False),
        ("perplexity", False),
        ("val_token_crossentropy", False),
        ("alignment_error_rate", False),
        ("bleu", True),
        ("val_accuracy", True),
    ],
)
def test_direction_follows_the_name(monitor, larger):
    assert EarlyStopping(monitor).larger_is_better is larger
    assert EarlyStopping(monitor, mode="max").larger_is_better
    assert not EarlyStopping(monitor, mode="min").larger_is_better


def test_patience_counts_epochs_without_improvement():
    values = [5.0, 4.0, 4.5, 4.4, 3.0, 3.5, 3.5, 3.5, 1.0]
    assert follow(EarlyStopping("loss", patience=2), values) == (2, 4)
    assert follow(EarlyStopping("loss", patience=3), values) == (5, 8)
    assert follow(EarlyStopping("loss", patience=None), values) == (9, None)


def test_tiny_gains_do_not_count():
    values = [1.0, 1.05, 1.09, 1.2]
    assert follow(EarlyStopping("bleu", min_delta=0.1), values) == (4, None)
    rule = EarlyStopping("bleu", min_delta=0.1, patience=2)
    assert follow(rule, values) == (1, 3)


def test_equal_is_no_improvement_and_nan_is_never_the_best():
    nan = float("nan")
    assert follow(EarlyStopping("loss", patience=2), [1.0, 1.0, 1.0]) == (1, 3)
    assert follow(EarlyStopping("loss"), [nan, 2.0, nan]) == (2, None)


def test_state_survives():
    rule = EarlyStopping("loss", patience=2)
    first, second = BestSoFar(rule), BestSoFar(rule)
    first.update(1, {"loss": 1.0})
    first.update(2, {"loss": 2.0})
    second.load(first.state())
    assert not second.should_stop
    second.update(3, {"loss": 3.0})
    assert second.should_stop and second.epoch == 1


@pytest.mark.parametrize("arguments", [{"mode": "up"}, {"patience": 0}])
def test_bad_argument_is_named(arguments):
    with pytest.raises(
        ValueError, match=f"`{next(iter(arguments))}`.*Received"
    ):
        EarlyStopping(**arguments)


def test_unknown_metric_is_named():
    with pytest.raises(ValueError, match=r"one of \['loss'\].*'bleu'"):
        BestSoFar(EarlyStopping("bleu")).update(1, {"loss": 1.0})
