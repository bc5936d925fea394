"""Every tutorial runs, keeps the course's form, and opens as a notebook."""

import os
import pathlib
import re
import subprocess
import sys

import jupytext
import pytest
from jupytext.compare import compare_notebooks

from keras_seq.commands.course import tutorials
from keras_seq.commands.percent_script import cells, opening

PROJECT = pathlib.Path(__file__).parents[2]
COURSE = tutorials(PROJECT / "tutorials")
NAMES = [tutorial.name for tutorial in COURSE]

every_tutorial = pytest.mark.parametrize("tutorial", COURSE, ids=NAMES)


def cells_after(source, header):
    """Return code and prose after the header, as two strings."""
    found = cells(source)
    (place,) = [
        i
        for i, cell in enumerate(found)
        if cell.is_markdown and header in cell.text.splitlines()
    ]
    code = [c.text for c in found[place:] if not c.is_markdown]
    prose = [c.text for c in found[place:] if c.is_markdown]
    return "\n".join(code), "\n".join(prose)


def test_there_is_no_gap_in_the_course():
    assert [t.number for t in COURSE] == list(range(1, len(COURSE) + 1))
    assert len(set(NAMES)) == len(COURSE) > 0


@pytest.mark.tutorial
@pytest.mark.tensorflow
@every_tutorial
def test_runs_in_fast_mode_without_noise_and_draws(tutorial, tmp_path):
    done = subprocess.run(
        [sys.executable, str(tutorial.path)],
        env={
            **os.environ,
            "KERAS_SEQ_FAST": "1",
            "KERAS_SEQ_OUTPUT": str(tmp_path / "pictures"),
            "MPLBACKEND": "Agg",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert done.stderr == "", done.stderr
    drawn = {str(path) for path in (tmp_path / "pictures").iterdir()}
    assert len(drawn) >= 3
    assert {*re.findall(r"^picture: (.+)$", done.stdout, re.M)} == drawn
    assert [p.name for p in tmp_path.iterdir()] == ["pictures"]


@every_tutorial
def test_opening_says_what_is_needed_how_long_and_where_the_code_is(tutorial):
    text = opening(tutorial.path.read_text(encoding="utf-8"))
    assert text.startswith(f"# {tutorial.number}. {tutorial.title}\n")
    for promise in ("**You will**", "**You need**", "**Library code:**"):
        assert promise in text
    assert re.fullmatch(r"\d+ (s|minutes?)", tutorial.takes), tutorial.takes
    named = re.findall(r"`(keras_seq/[\w/]+\.py)`", text)
    assert named and all((PROJECT / name).is_file() for name in named), named


@every_tutorial
def test_ends_in_assertions_and_an_exercise(tutorial):
    source = tutorial.path.read_text(encoding="utf-8")
    code, prose = cells_after(source, "## What should be true now")
    assert "assert" in code
    assert "## Exercise" in prose or "**Exercise" in prose


@every_tutorial
def test_survives_being_a_notebook_and_back(tutorial):
    script = tutorial.path.read_text(encoding="utf-8")
    notebook = jupytext.reads(script, fmt="py:percent")
    kinds = {cell.cell_type for cell in notebook.cells}
    assert kinds == {"code", "markdown"}
    stored = jupytext.writes(notebook, fmt="ipynb")
    compare_notebooks(jupytext.reads(stored, fmt="ipynb"), notebook)
    back = jupytext.writes(
        jupytext.reads(stored, fmt="ipynb"), fmt="py:percent"
    )
    first = script.index("# %%")
    assert back[back.index("# %%") :] == script[first:]


def test_the_table_of_the_course_is_complete():
    page = (PROJECT / "tutorials" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| \[`(\w+)`\]\((\S+)\) \|", page, re.M)
    assert rows == [(str(t.number), t.name, t.path.name) for t in COURSE]
    for picture in re.findall(r"\]\((pictures/\S+?)\)", page):
        assert (PROJECT / "tutorials" / picture).is_file(), picture
    for t in COURSE:
        (row,) = re.findall(rf"^\| {t.number} \| .*$", page, re.M)
        assert f"| {t.takes} |" in row, row
        assert f"pictures/{t.name}.png" in row
