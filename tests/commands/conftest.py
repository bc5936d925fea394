"""One small run for all tests of the commands, made by the command itself."""

import contextlib
import io
import os
import random
import sys

import pytest

from keras_seq.cli import main

GOOD = "lovely warm funny brilliant moving".split()
BAD = "dull cold boring awful clumsy".split()
THINGS = "film story acting music ending plot food room".split()
ROWS = 160
TRAIN = "train sentiment --data reviews.csv --preset test --epochs 3".split()


def write_table(path, rows=ROWS, seed=0):
    """Write a table in which one word decides."""
    rng = random.Random(seed)
    lines = ["label,text"]
    for n in range(rows):
        word = rng.choice((BAD, GOOD)[n % 2])
        thing, other = rng.sample(THINGS, 2)
        lines.append(f'{n % 2},"The {thing} was {word}, and so the {other}."')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A folder in which somebody has trained; what was said, beside it."""
    folder = tmp_path_factory.mktemp("trained")
    write_table(folder / "reviews.csv")
    with contextlib.chdir(folder), spoken() as said:
        assert main(TRAIN) == 0
    (folder / "said.txt").write_text(said.getvalue())
    return folder


@contextlib.contextmanager
def spoken():
    """Keep what is printed inside, where no fixture of one test can reach."""
    said = io.StringIO()
    with contextlib.redirect_stdout(_Terminal(said)):
        yield said


class _Terminal(io.TextIOBase):
    """A stream that lets itself be reconfigured, as standard output does."""

    def __init__(self, kept):
        self.kept = kept

    def write(self, text):
        return self.kept.write(text)

    def reconfigure(self, **settings):
        pass


@pytest.fixture
def at_work(trained, monkeypatch):
    """The test stands in the folder with the run."""
    monkeypatch.chdir(trained)
    return trained


@pytest.fixture
def stdin(monkeypatch):
    """Let standard input hold these bytes."""

    def hold(content):
        stream = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stream)

    return hold


@pytest.fixture(autouse=True)
def log_level():
    """The command line sets the level of TensorFlow's log: put it back."""
    before = os.environ.get("TF_CPP_MIN_LOG_LEVEL")
    yield
    if before is not None:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = before
