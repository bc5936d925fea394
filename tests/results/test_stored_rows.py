"""The rows that are kept were measured with the settings that stand now."""

import json
import re

import pytest

from keras_seq.tasks import (
    captioning_recipes,
    sentiment_recipes,
    translation_recipes,
)
from results import captioning, sentiment, translation
from results.__main__ import ROWS
from results.kept_rows import MEASURED, find_rows
from results.page import write_page
from tests.test_readme import PROJECT

pytestmark = pytest.mark.tensorflow
STORED = {row["name"]: row for row in find_rows(ROWS, MEASURED)}
# Facts about a run that are no settings of it.
FACTS = {
    "task",
    "data",
    "languages",
    "licence",
    "notes",
    "family",
    "preset",
    "seed",
    "model",
    "alignment_heads",
    "padding_share",
    "pairs_too_long",
    "attention_heads",
}
# Measured before rows had their settings with them.
WITHOUT_SETTINGS = {name for name in STORED if ROWS[name] is sentiment}


def settings_now(name):
    """Return preset, training settings with their defaults, and the model's."""
    module, data = ROWS[name], name.split("/")[0]
    if module is sentiment:
        recipes, preset = sentiment_recipes, sentiment.ROWS[name]
        asked = (data, preset, sentiment._settings(data, preset, fast=False))
    elif module is translation:
        recipes = translation_recipes
        data, _, family, overrides, _ = translation.ROWS[name]
        asked = (data, family, None, overrides)
    else:
        recipes, asked = captioning_recipes, captioning.ROWS[name]
    found = (*recipes.resolve_settings(*asked), recipes.TRAINING_DEFAULTS)
    return json.loads(json.dumps(found))  # as they are kept: no tuples


def differences(row):
    """Return `{setting: (as measured, now)}` where they are not the same.

    A setting that came after the row has its default, which is to leave
    things as they were.
    """
    preset, training, model, defaults = settings_now(row["name"])
    stored = row["settings"]
    then = {name: stored.get(name, defaults[name]) for name in training}
    then |= {"preset": stored["preset"], "model": stored["model"]}
    then |= {name: stored[name] for name in {*stored} - FACTS - {*training}}
    now = {**training, "preset": preset, "model": model}
    return {
        name: (then.get(name), now.get(name))
        for name in {*then, *now}
        if then.get(name) != now.get(name)
    }


@pytest.mark.parametrize("name", sorted(STORED.keys() - WITHOUT_SETTINGS))
def test_a_row_was_measured_with_the_settings_of_now(name):
    found = differences(STORED[name])
    assert not found, f"measure {name} again: (then, now) is {found}"


@pytest.mark.parametrize("name", STORED)
def test_a_row_is_where_its_name_says(name):
    row = STORED[name]
    assert row["preset"] == settings_now(name)[0]
    assert row["command"] == f"python -m results --only {name} --again"
    assert not row["fast"]
    assert ("settings" in row) == (name not in WITHOUT_SETTINGS)


def test_every_stored_row_can_be_measured_again():
    paths = MEASURED.rglob("*.json")
    names = {path.relative_to(MEASURED).with_suffix("") for path in paths}
    assert {name.as_posix() for name in names} == {*STORED}


def test_another_setting_is_seen():
    row = json.loads(json.dumps(STORED["flickr8k/soft"]))
    row["settings"]["epochs"] += 1
    row["settings"]["model"]["hidden_dim"] = 7
    row["settings"]["no_more"] = 2
    assert differences(row).keys() == {"epochs", "model", "no_more"}
    del row["settings"]["mirror"]  # it is on, and off by default
    assert differences(row)["mirror"] == (False, True)


def test_the_page_is_what_the_stored_rows_make(tmp_path, monkeypatch):
    page = (PROJECT / "docs" / "results.md").read_text(encoding="utf-8")
    # These are of the machine that measured.
    (cores,) = re.findall(r"on (\d+) CPU cores", page)
    ((python, machine),) = re.findall(r"^Python (\S+), (\S+)\.$", page, re.M)
    monkeypatch.setattr("os.cpu_count", lambda: int(cores))
    monkeypatch.setattr("platform.python_version", lambda: python)
    monkeypatch.setattr("platform.machine", lambda: machine)
    write_page(
        [STORED[name] for name in ROWS if name in STORED], tmp_path / "p"
    )
    assert (tmp_path / "p").read_text(encoding="utf-8") == page
