"""The README's Python blocks run, in order, as one program."""

import pathlib
import re

import pytest

PROJECT = pathlib.Path(__file__).parents[1]
FENCED = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.tensorflow
def test_readme_blocks_run_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = FENCED.findall((PROJECT / "README.md").read_text())
    assert blocks
    names = {}
    for number, block in enumerate(blocks, 1):
        code = compile(block, f"README.md block {number}", "exec")
        exec(code, names)
    assert (tmp_path / "attention.html").stat().st_size > 1000


def test_readme_names_the_commands_that_exist():
    readme = (PROJECT / "README.md").read_text()
    targets = set(re.findall(r"^([a-z-]+):", _makefile(), re.MULTILINE))
    named = set(re.findall(r"make ([a-z-]+)", readme))
    assert {"run", "test"} <= named <= targets | {"it"}


def _makefile():
    return (PROJECT / "Makefile").read_text()
