"""The rooms of the house: who may import whom, and how large a file may get."""

import ast
import pathlib
import re
import subprocess

# A room may import itself and what is named here (data walks from top to
# bottom: text to tokens to batches to layers to models ... to serving).
MAY_IMPORT = {
    "ops": set(),
    "text": set(),
    "vision": set(),
    "data": {"text", "vision"},
    "layers": {"ops"},
    "models": {"layers", "ops"},
    "training": {"ops"},
    "decoding": {"ops"},
    "explain": {"layers", "ops"},
    "export": {"decoding", "models", "text", "vision", "layers", "ops"},
    "serving": {"explain"},
    "tasks": {
        "data",
        "decoding",
        "explain",
        "export",
        "layers",
        "models",
        "ops",
        "text",
        "training",
        "vision",
    },
}
# The command line stands above all rooms.
MAY_IMPORT["commands"] = {*MAY_IMPORT}
EVERY_ROOM_MAY_IMPORT = {"_startup"}
# Keras has no gradient of its own: each backend is asked for its.
BACKEND_CODE = {("explain/gradients.py", "torch")}
PROJECT = pathlib.Path(__file__).parents[1]
PACKAGE = PROJECT / "keras_seq"
LINE_LIMIT = 300
TUTORIAL_CODE_LIMIT = 350


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module == "keras_seq":
                yield from (f"keras_seq.{a.name}" for a in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_imports_point_one_way():
    bad = []
    for path in PACKAGE.glob("*/**/*.py"):
        room = path.relative_to(PACKAGE).parts[0]
        allowed = MAY_IMPORT[room] | {room} | EVERY_ROOM_MAY_IMPORT
        for module in imported(path):
            first, *rest = module.split(".")
            if first == "keras_seq" and rest and rest[0] not in allowed:
                bad.append(f"{room}/{path.name} -> {rest[0]}")
    assert not bad, bad


def test_nothing_reaches_into_the_private_parts_of_keras():
    bad = [
        f"{path.relative_to(PROJECT)}: {module}"
        for path in PACKAGE.rglob("*.py")
        for module in imported(path)
        if module.startswith(("keras.src", "keras_hub", "torch", "tf_keras"))
        and (path.relative_to(PACKAGE).as_posix(), module) not in BACKEND_CODE
    ]
    assert not bad, bad


def test_no_file_outgrows_a_reader():
    long = {
        str(path.relative_to(PROJECT)): lines
        for path in PACKAGE.rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > LINE_LIMIT
    }
    assert not long, long


def test_no_drawer_called_utils():
    drawers = {"utils", "misc", "common", "helpers"}
    assert not [p for p in PACKAGE.rglob("*") if p.stem in drawers]


def test_tutorials_stay_short():
    for path in PROJECT.glob("tutorials/*.py"):
        code = [
            line
            for line in path.read_text().splitlines()
            if line.strip() and not line.startswith("#")
        ]
        assert len(code) <= TUTORIAL_CODE_LIMIT, path.name


def test_no_absolute_path_of_a_machine_is_tracked():
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.md", "*.cfg", "*.toml", "Makefile"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
    ).stdout.split()
    machine = re.compile(r"[\s\"'(=`]/(?:work|root|tmp|home|Users)/[a-z.]")
    bad = [f for f in listed if machine.search((PROJECT / f).read_text())]
    assert not bad, bad
