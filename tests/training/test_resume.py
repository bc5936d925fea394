"""A run that was killed ends where one that was not killed ends."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import keras
import numpy as np
import pytest

from keras_seq import training
from keras_seq.training.atomic_files import TEMPORARY
from keras_seq.training.checkpoints import CheckpointFolder, arrays_of
from tests.training import small_run
from tests.training.small_run import STEPS_PER_EPOCH, make_model, run

pytestmark = pytest.mark.tensorflow
PROJECT = pathlib.Path(__file__).parents[2]


def without_times(history):
    return [
        {name: value for name, value in logs.items() if name != "seconds"}
        for logs in history
    ]


def assert_same_end(first, second):
    (one, a), (two, b) = first, second
    for v, x, y in zip(
        one.variables,
        arrays_of(one.variables),
        arrays_of(two.variables),
        strict=True,
    ):
        np.testing.assert_array_equal(x, y, err_msg=v.path)
    assert without_times(a.history) == without_times(b.history)
    assert a.best_epoch == b.best_epoch


def steps_saved(folder):
    return [
        int(path.stem.split("-")[1])
        for path in CheckpointFolder(folder / "checkpoints").paths()
    ]


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch):
    fit = sys.modules["keras_seq.training.fit"]
    monkeypatch.setattr(fit, "draw_curves", lambda *arguments: None)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    return run(None)


def test_same_seed_gives_the_same_run(unbroken):
    assert_same_end(unbroken, run(None))
    other = small_run.make_model(seed=4)
    assert run(None, model=other)[1].history != unbroken[1].history


@pytest.mark.slow
def test_killed_process_goes_on_to_the_same_weights(tmp_path, unbroken):
    process = subprocess.Popen(
        [sys.executable, "-m", small_run.__name__, str(tmp_path)],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    middle = STEPS_PER_EPOCH + STEPS_PER_EPOCH // 2
    while (
        process.poll() is None
        and max(steps_saved(tmp_path), default=0) < middle
    ):
        time.sleep(0.005)
    process.kill()  # SIGKILL: no chance to tidy up
    assert process.wait() == -signal.SIGKILL
    reached = max(steps_saved(tmp_path))
    assert middle <= reached < 2 * STEPS_PER_EPOCH
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["status"] == "running" and len(record["history"]) == 1

    assert_same_end(unbroken, run(tmp_path, resume=True))
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["status"] == "finished" and len(record["resumed"]) == 1
    assert not list(tmp_path.rglob(TEMPORARY + "*"))


class Killed(Exception):
    """Stands for a kill, where a test needs it at one exact place."""


def test_deaths_at_any_place_change_nothing(tmp_path, unbroken, monkeypatch):
    save = CheckpointFolder.save

    def death_while_saving(self, step, state, arrays):
        if step == STEPS_PER_EPOCH + 3:
            (self.folder / f"{TEMPORARY}x.npz").write_bytes(b"PK")
            raise Killed
        save(self, step, state, arrays)

    def death_after_saving_an_epoch(self, step, state, arrays):
        save(self, step, state, arrays)
        if step == 2 * STEPS_PER_EPOCH:
            raise Killed

    def death_in_third_evaluation(model):
        if (
            tmp_path / f"checkpoints/step-{3 * STEPS_PER_EPOCH:010d}.npz"
        ).exists():
            raise Killed
        return small_run.size(model)

    for dying_save in (death_while_saving, death_after_saving_an_epoch):
        with monkeypatch.context() as patch:
            patch.setattr(CheckpointFolder, "save", dying_save)
            with pytest.raises(Killed):
                run(tmp_path, resume=True)
    with pytest.raises(Killed):
        run(tmp_path, resume=True, evaluate=death_in_third_evaluation)
    assert_same_end(unbroken, run(tmp_path, resume=True))


def test_other_settings_resume_exactly_too(tmp_path):
    def settings():
        return {
            "average": training.LastEpochsAverage(2),
            "gradient_accumulation_steps": 3,
            "optimizer": keras.optimizers.SGD(0.1, momentum=0.9),
            "early_stopping": None,
        }

    whole = run(None, **settings())
    run(tmp_path, epochs=2, keep_checkpoints=3, **settings())
    last, newest = CheckpointFolder(tmp_path / "checkpoints").paths()[1:]
    assert last.name == f"step-{2 * STEPS_PER_EPOCH - 1:010d}.npz"
    newest.unlink()  # go on from within an epoch
    assert_same_end(whole, run(tmp_path, resume=True, **settings()))


def test_finished_run_can_be_resumed_to_more_epochs(tmp_path, unbroken):
    run(tmp_path, epochs=2, resume=True)  # nothing to resume: a new run
    assert_same_end(unbroken, run(tmp_path, resume=True))
    assert_same_end(unbroken, run(tmp_path, resume=True))  # nothing left to do


@pytest.fixture(scope="module")
def one_epoch(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one_epoch")
    run(folder, epochs=1)
    return folder


def test_run_is_not_overwritten_unasked(one_epoch):
    with pytest.raises(ValueError, match="resume=True"):
        run(one_epoch, epochs=1)


def test_checkpoint_of_another_shape_is_refused_and_nothing_is_lost(one_epoch):
    other = make_model(hidden_dim=17)
    before = arrays_of(other.variables)
    files = {p: p.read_bytes() for p in one_epoch.rglob("*") if p.is_file()}
    with pytest.raises(
        ValueError, match=r"another shape.*\(13, 5\).*\(13, 17\)"
    ):
        run(one_epoch, resume=True, model=other)
    for now, value in zip(arrays_of(other.variables), before, strict=True):
        np.testing.assert_array_equal(now, value)
    assert all(path.read_bytes() == old for path, old in files.items())


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"seed": 5}, "`seed` must be 0"),
        ({"average": None}, r"`average` must be Exp.*Received: average=None"),
        ({"early_stopping": None}, "`early_stopping` must be size"),
        ({"metrics": []}, "`metrics` has 4 arrays where this one has 0"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_checkpoint_of_other_settings_is_refused(one_epoch, changes, message):
    with pytest.raises(ValueError, match=message):
        run(one_epoch, resume=True, **changes)


def test_interrupt_saves_and_says_how_to_go_on(tmp_path, unbroken, capsys):
    class Interrupted(small_run.DisturbedEpochs):
        def disturb(self, epoch):
            if epoch == 1:
                self.disturb = lambda epoch: None  # once
                os.kill(os.getpid(), signal.SIGINT)  # Ctrl-C

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, epochs_of=Interrupted, save_every_seconds=None)
    saved = max(steps_saved(tmp_path))
    assert STEPS_PER_EPOCH < saved < 2 * STEPS_PER_EPOCH
    assert "resume=True" in capsys.readouterr().err
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["status"] == "interrupted"
    assert_same_end(unbroken, run(tmp_path, resume=True))
