"""Folders of versions: whole ones, whatever happens."""

import os
import signal
import subprocess
import sys
import time

import pytest

from keras_seq.export import version_folders
from keras_seq.export.version_folders import (
    find_version,
    new_version,
    versions,
)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_versions_are_numbered_on_and_appear_at_the_end(tmp_path):
    folder = tmp_path / "not" / "yet" / "there"
    for number in (1, 2):
        with new_version(folder) as unfinished:
            (unfinished / "deep").mkdir()
            (unfinished / "deep" / "file").write_text("whole")
            assert str(number) not in names(folder)
        assert list(versions(folder)) == list(range(1, number + 1))
        assert (folder / str(number) / "deep" / "file").read_text() == "whole"
    with new_version(folder, 9):
        pass
    with new_version(folder):
        pass
    assert names(folder) == ["1", "10", "2", "9"]


def test_what_others_may_read_is_left_to_the_users_mask(tmp_path):
    before = os.umask(0o022)
    try:
        with new_version(tmp_path):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "1").stat().st_mode & 0o777 == 0o755


def test_a_failure_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), new_version(tmp_path) as unfinished:
        (unfinished / "half").write_text("of it")
        _ = 1 / 0
    assert names(tmp_path) == []


@pytest.mark.parametrize("version", [-1, 1.0, True, "1"])
def test_a_version_is_a_whole_number(tmp_path, version):
    with pytest.raises(ValueError, match="`version` must be a whole number"):
        with new_version(tmp_path, version):
            pass


def test_a_version_is_never_written_over(tmp_path):
    with new_version(tmp_path, 3) as unfinished:
        (unfinished / "file").write_text("first")
    with pytest.raises(ValueError, match="does not have yet. Received: 3"):
        with new_version(tmp_path, 3):
            pass
    # One that comes while another is being written is not replaced either.
    with pytest.raises(OSError):
        with new_version(tmp_path, 4):
            (tmp_path / "4").mkdir()
            (tmp_path / "4" / "file").write_text("quicker")
    assert names(tmp_path) == ["3", "4"]
    assert (tmp_path / "4" / "file").read_text() == "quicker"


def test_only_what_was_abandoned_is_tidied_away(tmp_path):
    for name, age in ((".unfinished-1-dead", 7200), (".unfinished-2-live", 5)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
        then = time.time() - age
        os.utime(tmp_path / name / "file", (then, then))
        os.utime(tmp_path / name, (then, then))
    with new_version(tmp_path):
        pass
    assert names(tmp_path) == [".unfinished-2-live", "1"]


def test_the_newest_version_that_is_a_model_is_found(tmp_path):
    assert find_version(tmp_path) is None
    assert find_version(tmp_path / "nowhere") is None
    for number in (2, 10, 11):
        (tmp_path / str(number)).mkdir()
    for number in (2, 10):
        (tmp_path / str(number) / "saved_model.pb").touch()
    assert find_version(tmp_path) == tmp_path / "10"
    assert find_version(tmp_path / "2") == tmp_path / "2"


# The file alone: what is killed here starts in no time.
WRITER = """
import runpy, sys
new_version = runpy.run_path(sys.argv[1])["new_version"]
while True:
    with new_version(sys.argv[2]) as unfinished:
        (unfinished / "variables").mkdir()
        for n in range(7):
            (unfinished / "variables" / str(n)).write_bytes(b"x" * 100_000)
        (unfinished / "saved_model.pb").write_bytes(b"x" * 100_000)
    print("one more", flush=True)
"""


def test_killed_at_any_moment_it_leaves_whole_versions_only(tmp_path):
    for wait in (0, 0.003, 0.01, 0.017, 0.03, 0.05, 0.08, 0.13):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, version_folders.__file__, tmp_path],
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout.readline().strip() == b"one more"
            time.sleep(wait)
            os.kill(process.pid, signal.SIGKILL)
    found = versions(tmp_path)
    assert len(found) >= 8
    for path in found.values():
        files = [p for p in path.rglob("*") if p.is_file()]
        assert len(files) == 8
        assert {p.stat().st_size for p in files} == {100_000}
    assert find_version(tmp_path) == tmp_path / str(max(found))
