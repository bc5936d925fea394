"""The command line, run as a user runs it, on a course of three scripts."""

import configparser
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap

import pytest

import keras_seq
from keras_seq.cli import main
from keras_seq.commands import course

PROJECT = pathlib.Path(__file__).parents[1]

FIRST = """\
# ---
# jupyter: {}
# ---

# %% [markdown]
# # 1. The first × tutorial
#
# **You will** see *nothing* of `interest`. **Takes** about 3 s on a laptop.

# %%
import os
import pathlib

output = pathlib.Path(os.environ["KERAS_SEQ_OUTPUT"])
print("output:", output)
print("fast:", os.environ.get("KERAS_SEQ_FAST"))
print("name:", __name__)
(output / "picture.png").write_text("")

# %% [markdown]
# ## A section of $D$ parts
#
# Prose that only a reader of the page sees.

# %%
print("second cell")

# %% [markdown]
# ## Exercise
#
# Do it again.
"""
SECOND = """\
# %% [markdown]
# # 2. The second

# %%
print("running the second")
"""
BROKEN = """\
# %% [markdown]
# # 3. Broken

# %%
x = 1

# %%
x / 0
"""


@pytest.fixture
def sources(tmp_path):
    """A source tree with the package of this one and a course of its own."""
    root = tmp_path / "sources"
    (root / "tutorials").mkdir(parents=True)
    (root / "keras_seq").symlink_to(PROJECT / "keras_seq")
    (root / "pyproject.toml").touch()
    for name, text in {
        "01_first.py": FIRST,
        "02_second_step.py": SECOND,
        "03_broken.py": BROKEN,
        "README.md": "# Not a tutorial",
    }.items():
        (root / "tutorials" / name).write_text(text, encoding="utf-8")
    return root


def command(root, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(root)}
    for name in ("KERAS_SEQ_FAST", "PYTHONUNBUFFERED", "PYTHONIOENCODING"):
        environment.pop(name, None)
    return {
        "args": [sys.executable, "-m", "keras_seq.cli", *arguments],
        "env": environment,
        "cwd": root,
        "text": True,
        "encoding": "utf-8",
    }


def run(root, *arguments, **environment):
    settings = command(root, *arguments)
    settings["env"] |= environment
    return subprocess.run(**settings, capture_output=True, timeout=120)


def test_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"keras-seq {keras_seq.__version__}\n"


def test_no_command_shows_help(capsys):
    assert main([]) == 0
    assert "tutorial" in capsys.readouterr().out


def test_unknown_command_is_wrong_use(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["trian"])
    assert stop.value.code == 2
    assert "tutorial" in capsys.readouterr().err


def test_help_loads_nothing_heavy():
    script = """
        import contextlib, sys
        from keras_seq.cli import main
        for arguments in (["--help"], ["tutorial", "--help"]):
            with contextlib.suppress(SystemExit):
                main(arguments)
        main(["tutorial"])
        heavy = {"keras", "matplotlib", "numpy", "tensorflow"} & {*sys.modules}
        print("heavy:", heavy)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        cwd=PROJECT,
    )
    assert done.stdout.endswith("heavy: set()\n"), done.stdout + done.stderr


def test_tutorials_are_listed_in_course_order(sources):
    done = run(sources, "tutorial")
    assert done.returncode == 0
    rows = [r.split() for r in done.stdout.splitlines() if r[:3].strip()]
    assert ["1", "first", "The", "first", "×", "tutorial", "3", "s"] in rows
    assert ["2", "second_step", "The", "second"] in rows
    numbers = re.findall(r"^ +(\d)", done.stdout, re.MULTILINE)
    assert numbers == ["1", "2", "3"]


def test_the_real_course_is_found_and_says_how_long_it_takes(capsys):
    assert main(["tutorial"]) == 0
    assert "soft_dictionary" in capsys.readouterr().out
    for tutorial in course.tutorials():
        assert re.fullmatch(r"\d+ (s|min\w*)", tutorial.takes), tutorial


def test_a_run_tells_headers_between_what_the_script_prints(sources):
    done = run(sources, "tutorial", "first")
    assert done.returncode == 0, done.stderr
    parts = [
        "1. The first × tutorial",
        "You will see nothing of interest.",
        "name: __main__",
        "A section of D parts",
        "second cell",
        "Exercise",
        "Do it again.",
        "Done in ",
        "Next: keras-seq tutorial second_step",
    ]
    places = [done.stdout.find(part) for part in parts]
    assert -1 not in places and places == sorted(places), done.stdout
    assert "Prose" not in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    "name",
    ["second_step", "02_second_step", "2", "02", "Second-Step",
     "tutorials/02_second_step.py"],
)  # fmt: skip
def test_a_tutorial_answers_to_its_name_number_and_file(sources, name):
    done = run(sources, "tutorial", name)
    assert "running the second" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "name, suggestion",
    [
        ("secnd_step", "Did you mean second_step?"),
        ("second", "Did you mean second_step?"),
        ("02_first", "Did you mean first?"),
        ("zzz", ""),
        ("9", ""),
        ("", ""),
    ],
)
def test_unknown_tutorial_lists_the_names(sources, name, suggestion):
    done = run(sources, "tutorial", name)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"there is no tutorial {name!r}" in done.stderr
    assert "1 first, 2 second_step, 3 broken" in done.stderr
    assert suggestion in done.stderr
    assert ("Did you mean" in done.stderr) == bool(suggestion)


def test_pictures_go_to_outputs_unless_told_otherwise(sources):
    done = run(sources, "tutorial", "first")
    place = pathlib.Path("outputs", "first")
    assert f"output: {place}\nfast: None\n" in done.stdout
    assert (sources / place / "picture.png").exists()
    assert f"The pictures are in {place}" in done.stdout

    done = run(sources, "tutorial", "first", "--fast", "--output", "a/b")
    place = pathlib.Path("a", "b")
    assert f"output: {place}\nfast: 1\n" in done.stdout
    assert (sources / place / "picture.png").exists()


def test_running_in_process_leaves_the_environment_alone(
    sources, tmp_path, monkeypatch, capsys
):
    folder = sources / "tutorials"
    monkeypatch.setattr(
        "keras_seq.commands.tutorial.tutorials",
        lambda: course.tutorials(folder),
    )
    monkeypatch.setenv("KERAS_SEQ_OUTPUT", "mine")
    monkeypatch.delenv("KERAS_SEQ_FAST", raising=False)
    before, path, argv = dict(os.environ), list(sys.path), list(sys.argv)
    output = str(tmp_path / "out")
    assert main(["tutorial", "1", "--fast", "--output", output]) == 0
    assert f"output: {output}" in capsys.readouterr().out
    assert (dict(os.environ), sys.path, sys.argv) == (before, path, argv)
    assert sys.modules["__main__"].__dict__.get("output") is None


def test_a_failure_shows_the_line_of_the_script_and_no_more(sources):
    done = run(sources, "tutorial", "broken")
    assert done.returncode == 1
    line = BROKEN.splitlines().index("x / 0") + 1
    assert f'03_broken.py", line {line}, in <module>' in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "percent_script" not in done.stderr
    assert "Tutorial broken failed." in done.stderr


def test_all_runs_every_tutorial_and_sums_up(sources):
    done = run(sources, "tutorial", "--all", "--fast", "--output", "here")
    assert done.returncode == 1
    summary = done.stdout.partition("Summary")[2]
    verdicts = re.findall(r"(\d)  (\w+) +(passed|FAILED)", summary)
    assert verdicts == [
        ("1", "first", "passed"),
        ("2", "second_step", "passed"),
        ("3", "broken", "FAILED"),
    ]
    assert f"output: {pathlib.Path('here', 'first')}\nfast: 1" in done.stdout
    (sources / "tutorials" / "03_broken.py").unlink()
    assert run(sources, "tutorial", "--all").returncode == 0


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["first", "--all"], "--all runs every tutorial. Received also: 'firs"),
        (["--fast"], "name the tutorial to run, or say --all"),
        (["--output", "x"], "name the tutorial to run, or say --all"),
        (["first", "--output", "pyproject.toml"], "--output must be a folder"),
    ],
)
def test_wrong_use_is_said_without_a_traceback(sources, arguments, message):
    done = run(sources, "tutorial", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_without_the_letters_does_not_stop_a_tutorial(sources):
    done = run(sources, "tutorial", "first", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "1. The first ? tutorial" in done.stdout


@pytest.mark.parametrize("arguments", [["first"], ["--all"]])
def test_ctrl_c_ends_cleanly(sources, arguments):
    text = FIRST + '\n# %%\nimport time\nprint("asleep")\ntime.sleep(60)\n'
    (sources / "tutorials" / "01_first.py").write_text(text, encoding="utf-8")
    with subprocess.Popen(
        **command(sources, "tutorial", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # A shell's background job, and so its tests, ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        while "asleep" not in process.stdout.readline():
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert said.strip("\n").splitlines()[-1] == "Stopped."
    assert "Traceback" not in said


def test_a_reader_that_leaves_early_is_no_error(sources):
    with subprocess.Popen(
        **command(sources, "tutorial"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        assert process.wait(timeout=120) == 141
        assert process.stderr.read() == ""


def test_tutorials_of_an_installed_package_are_found(sources):
    site = sources / "lib" / "site-packages"
    facts = site / "keras_seq-0.1.0.dist-info"
    facts.mkdir(parents=True)
    (site / "keras_seq").symlink_to(PROJECT / "keras_seq")
    (site / "tutorials").mkdir()  # of some other package
    (site / "tutorials" / "07_stranger.py").touch()
    (facts / "METADATA").write_text("Name: keras_seq\nVersion: 0.1.0\n")
    done = run(site, "tutorial")
    assert done.returncode == 2
    assert "the tutorials are not part of this installation" in done.stderr

    settings = configparser.ConfigParser()
    settings.read(PROJECT / "setup.cfg")
    (place,) = settings["options.data_files"]
    (sources / place).mkdir(parents=True)
    (sources / "tutorials" / "01_first.py").rename(
        sources / place / "01_first.py"
    )
    (facts / "RECORD").write_text(
        "keras_seq/__init__.py,,\n"
        f"../../{place}/01_first.py,,\n"
        f"../../{place}/README.md,,\n"
    )
    done = run(site, "tutorial", "1")
    assert done.returncode == 0, done.stderr
    assert "second cell" in done.stdout
