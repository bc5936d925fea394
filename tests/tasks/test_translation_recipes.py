"""What is learned how: recipes, and what was asked for instead."""

import json

import pytest

from keras_seq.tasks import translation
from keras_seq.tasks.translation_recipes import (
    RECIPES,
    TRAINING_DEFAULTS,
    learning_rate_schedule,
    resolve_settings,
)
from keras_seq.training import Noam
from tests.tasks.translation_toy import toy_dataset

pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize("data", [*RECIPES, "mine.en,mine.fr"])
@pytest.mark.parametrize(("preset", "width"), [("base", 512), ("big", 1024)])
def test_sizes_of_the_paper_learn_at_the_rates_of_the_paper(
    data, preset, width
):
    _, how, model = resolve_settings(data, preset=preset)
    assert not model.get("normalize_first")
    schedule, paper = learning_rate_schedule(how, 10**5), Noam(width)
    for step in (1, 400, 4000, 50_000):
        assert float(schedule(step)) == pytest.approx(float(paper(step)))


def test_what_is_said_of_the_rate_counts_for_them_too():
    said = {"learning_rate": 1e-4, "schedule": "cosine"}
    _, how, _ = resolve_settings("grammar", preset="base", overrides=said)
    assert how["learning_rate"] == 1e-4 and how["schedule"] == "cosine"
    said = {"hidden_dim": 256, "warmup_steps": 100}
    _, how, _ = resolve_settings("grammar", preset="base", overrides=said)
    assert how["learning_rate"] == pytest.approx(1 / 160)
    before = RECIPES["grammar"]["transformer"]["learning_rate"]
    assert resolve_settings("grammar")[1]["learning_rate"] == before
    files = resolve_settings("mine.en,mine.fr")[1]
    assert files["learning_rate"] == TRAINING_DEFAULTS["learning_rate"]


def test_seq2seq_cannot_be_asked_to_cover_its_source(tmp_path):
    with pytest.raises(ValueError, match="`coverage_penalty`.*Received: 0.2"):
        translation.train(
            toy_dataset(20), "seq2seq", folder=tmp_path, coverage_penalty=0.2
        )
    assert not list(tmp_path.iterdir())  # refused before anything was learned


def train(dataset, folder, **settings):
    translator, _ = translation.train(
        dataset,
        "seq2seq",
        "test",
        folder=folder,
        vocabulary_size=330,
        verbose=0,
        **settings,
    )
    return translator


def test_the_last_epochs_can_be_averaged(tmp_path):
    """The mean over one epoch is not the mean over two."""
    weights = []
    for epochs in (1, 2):
        folder = tmp_path / str(epochs)
        translator = train(
            toy_dataset(40), folder, epochs=2, average_epochs=epochs
        )
        weights.append(translator.model.get_weights()[0].tolist())
        record = json.loads((folder / "run.json").read_text())
        assert record["settings"]["average_epochs"] == epochs
        assert translator.settings["languages"] is None  # nothing was said
    assert weights[0] != weights[1]


def test_pairs_that_are_too_long_are_counted(tmp_path):
    dataset = toy_dataset(40)
    dataset.splits["train"]["source"][3] = "cat " * 300
    translator = train(dataset, tmp_path, epochs=1, languages="xx-yy")
    assert translator.settings["languages"] == "xx-yy"
    assert translator.settings["pairs_too_long"] == 1
