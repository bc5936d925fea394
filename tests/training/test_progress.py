"""The progress line: one line, only where someone can see it."""

import io

import pytest

from keras_seq.training.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


LOGS = {"loss": 0.123456, "accuracy": 0.5}


def tell(progress):
    progress.start_epoch(10)
    progress.show(1, 5, 5, LOGS)
    progress.end_epoch(10, 10)
    progress.note("validating ...")
    progress.epoch_line(75.0, {"epoch": 1, **LOGS, "val_loss": 2.0})
    return progress.stream.getvalue()


def test_terminal_gets_a_bar_that_stays_on_its_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = tell(Progress(3, stream=Terminal()))
    bar, *_ = text.split("\r")[1:]
    assert "epoch 1/3" in bar and "50%" in bar and "##########......" in bar
    assert "loss 0.1235" in bar and "accuracy 0.5" in bar and "left" in bar
    assert text.count("\n") == 1  # after the epoch, none before
    assert text.splitlines()[-1].endswith("val_loss 2")
    assert "1:15" in text


def test_narrow_terminal_is_not_wrapped(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    progress = Progress(3, stream=Terminal())
    progress.start_epoch(10)
    progress.show(1, 5, 5, LOGS)
    shown = progress.stream.getvalue().replace("\r\x1b[K", "")
    assert len(shown) < 30


def test_length_that_is_not_known_is_learned_from_the_first_epoch():
    progress = Progress(2, stream=Terminal())
    progress.start_epoch(None)
    progress.show(1, 5, 5, LOGS)
    assert "step 5" in progress.stream.getvalue()
    assert "left" not in progress.stream.getvalue()
    progress.end_epoch(10, 10)
    progress.start_epoch(None)
    progress.show(2, 5, 5, LOGS)
    assert "50%" in progress.stream.getvalue()
    assert "left" in progress.stream.getvalue()


def test_file_gets_nothing_unless_asked():
    assert tell(Progress(3, stream=io.StringIO())) == ""
    assert tell(Progress(3, verbose=0, stream=Terminal())) == ""
    lines = tell(Progress(3, verbose=1, stream=io.StringIO())).splitlines()
    assert lines == ["epoch 1/3  1:15  loss 0.1235  accuracy 0.5  val_loss 2"]


def test_bad_verbosity_is_refused():
    with pytest.raises(ValueError, match="`verbose`.*Received: 2"):
        Progress(1, verbose=2)
