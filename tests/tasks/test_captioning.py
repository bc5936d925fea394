"""Captioners: trained, gone on with, scored, and given what strangers give."""

import json

import keras
import numpy as np
import pytest

from keras_seq.tasks import captioning
from keras_seq.tasks.caption_batches import CaptionBatches
from keras_seq.tasks.captioner import Captioner
from keras_seq.tasks.captioning_evaluation import choose_heads, relative_bleu
from keras_seq.tasks.captioning_recipes import (
    TRAINING_DEFAULTS,
    resolve_settings,
)
from tests.tasks.captioning_toy import (
    SETTINGS,
    toy_captioner,
    toy_dataset,
    toy_images,
)

pytestmark = pytest.mark.tensorflow


def train(folder, model="soft", dataset=None, **overrides):
    settings = {**SETTINGS, "folder": folder, "verbose": 0, **overrides}
    return captioning.train(dataset or toy_dataset(), model, **settings)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captioning")
    return folder, *train(folder, epochs=14, bleu_images=10)


def test_it_learns_to_name_colours_and_to_look_at_them(trained):
    _, captioner, result = trained
    scores = captioning.evaluate(captioner, toy_dataset(), use_meteor=False)
    assert scores["bleu_3"] > 90, (scores, result.history[-1])
    assert scores["pointing_accuracy"] > scores["pointing_chance"] + 0.2
    assert scores["pictures"] == 20
    assert result.history[-1]["bleu_4"] >= 0
    assert "val_crossentropy" in result.history[-1]


def test_a_folder_gives_the_trained_one_back(trained):
    folder, captioner, _ = trained
    again = Captioner.load(folder)
    images = list(toy_dataset(seed=1).columns("test")["image"])
    found = captioner.caption(images)
    assert again.caption(images) == found
    assert again.settings == json.loads(json.dumps(captioner.settings))
    record = json.loads((folder / "run.json").read_text())
    assert record["settings"]["family"] == "soft"
    assert record["settings"]["captions_per_image"] == 2


def test_some_pictures_can_be_scored_alone(trained):
    scores = captioning.evaluate(
        trained[1], toy_dataset(), split="validation", limit=7, beam_size=1
    )
    assert scores["pictures"] == 7
    with pytest.raises(ValueError, match="`split`.*Received: 'dev'"):
        captioning.evaluate(trained[1], toy_dataset(), split="dev")


@pytest.mark.parametrize("model", ["hard", "transformer"])
def test_the_other_families_train_and_are_scored(model, tmp_path):
    captioner, result = train(
        tmp_path, model, toy_dataset(30), epochs=2, word_dropout=0.2
    )
    assert np.isfinite(result.history[-1]["val_crossentropy"])
    scores = captioning.evaluate(captioner, toy_dataset(30), use_meteor=False)
    assert "pointing_accuracy" in scores
    assert ("attention_heads" in captioner.settings) == (model == "transformer")


def test_heads_are_chosen_in_one_layer_as_well(tmp_path):
    """And not where there is but one."""
    for heads in (2, 1):
        captioner, _ = train(
            tmp_path / str(heads),
            "transformer",
            toy_dataset(30),
            epochs=1,
            num_layers=1,
            num_heads=heads,
        )
        chosen = captioner.settings.get("attention_heads")
        if heads == 1:
            assert chosen is None
        else:
            ((layer, head),) = chosen
            assert layer == 0 and head in (0, 1)


class Killed(BaseException):
    pass


@pytest.mark.parametrize("model", ["soft", "hard"])
def test_a_killed_run_ends_as_if_it_had_not_been(model, tmp_path, monkeypatch):
    how = {"model": model, "dataset": toy_dataset(30), "epochs": 2}
    whole, _ = train(tmp_path / "whole", **how)
    batch, asked = CaptionBatches._batch, []

    def dying(self, rows, rng):
        asked.append(rows)
        if len(asked) == 9:  # one batch to build the model, some to look
            raise Killed
        return batch(self, rows, rng)

    monkeypatch.setattr(CaptionBatches, "_batch", dying)
    with pytest.raises(BaseException):  # noqa: B017, PT011
        train(tmp_path / "cut", **how)
    monkeypatch.setattr(CaptionBatches, "_batch", batch)
    keras.utils.clear_session()
    cut, _ = train(tmp_path / "cut", **how, resume=True)
    for a, b in zip(whole.model.weights, cut.model.weights, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    for a, b in zip(whole.vision.weights, cut.vision.weights, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_batches_hold_each_caption_once_shifted_by_one():
    captions = [[[5, 6], [7]], [[8, 9, 4]], [], [[6], [5], [4]]]
    captions = [[np.array(row) for row in given] for given in captions]
    images = np.arange(4, dtype="float32")[:, None]
    batches = CaptionBatches(
        images,
        captions,
        start_id=2,
        end_id=3,
        batch_size=4,
        captions_per_image=2,
    )
    said = []
    for inputs, labels in batches.arrays():
        read = inputs["target_ids"]
        picture = inputs["images"][:, 0]
        assert read.shape[0] * 2 == len(labels)
        for n, row in enumerate(labels):
            if not row.any():
                continue
            words = [w for w in row if w > 3]
            given = read.reshape(labels.shape)[n]
            assert given[0] == 2 and list(given[1 : 1 + len(words)]) == words
            assert row[len(words)] == 3
            said.append((int(picture[n // 2]), words))
    right = [
        (n, list(row)) for n, given in enumerate(captions) for row in given
    ]
    assert sorted(said) == sorted(right)


def test_dropped_words_are_read_as_unknown_but_still_to_be_said():
    captions = [[np.full(11, 7)]] * 40
    batches = CaptionBatches(
        np.zeros((40, 2)), captions, start_id=2, end_id=3, word_dropout=0.3
    )
    ((inputs, labels),) = batches.arrays()
    read = inputs["target_ids"][:, 0]
    assert (read[:, 0] == 2).all() and (labels[:, :11] == 7).all()
    assert 0.2 < np.mean(read[:, 1:] == 1) < 0.4
    ((again, _),) = batches.arrays()
    np.testing.assert_array_equal(again["target_ids"], inputs["target_ids"])
    ((other, _),) = batches.arrays(epoch=1)
    assert (other["target_ids"] != inputs["target_ids"]).any()


def test_only_pictures_that_may_be_are_mirrored():
    captions = [[np.array([5])]] * 60
    may = np.arange(60) % 2 == 0
    images = np.arange(60)[:, None]
    batches = CaptionBatches(
        images,
        captions,
        start_id=2,
        end_id=3,
        mirrored=-images,
        may_mirror=may,
    )
    ((inputs, _),) = batches.arrays()
    seen = inputs["images"][:, 0]
    assert (seen[np.abs(seen) % 2 == 1] > 0).all()
    assert 5 < (seen < 0).sum() < 25


def test_the_head_that_points_best_is_found():
    captioner = toy_captioner("transformer")
    features, _ = captioner.features(toy_images(3))

    class Gold:
        def boxes_of(self, words):
            return [[(0, 0, 4, 4)] for _ in words]

    ((layer, head),) = choose_heads(captioner, features, [Gold()] * 3, (28, 20))
    tokens = captioner.search(features, beam_size=1).token_ids[:, 0]
    maps = captioner.attend_heads(features, tokens).numpy()
    peaks = maps.reshape(*maps.shape[:4], 35).argmax(-1) == 0
    real = (captioner.words_of(tokens).numpy() != b"")[:, None, None]
    right = (peaks & real).sum((0, 3))
    assert right[layer, head] == right.max()


def test_people_are_as_good_as_people():
    right = [
        ["a red cup is on the table", "one cup is on the table here"],
        ["two dogs run in the snow", "see two dogs run in the snow"],
    ]
    assert relative_bleu([r[0] for r in right], right) > 1
    assert relative_bleu(["x", "y"], right) == 0


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"model": "lstm"}, "`model`"),
        ({"preset": "huge"}, "`preset`"),
        ({"hidden_dims": 2}, "`overrides`"),
        ({"max_length": 1}, "`max_length`"),
        ({"epochs": 0}, "`epochs`"),
        ({"mirror": True}, "`mirror`"),
        ({"patience": 2}, "`bleu_images`"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, named, tmp_path):
    with pytest.raises(ValueError, match=f"{named}.*Received"):
        train(tmp_path, dataset=toy_dataset(4), **{"epochs": 1, **settings})


def test_recipes_give_way_to_what_was_asked():
    preset, how, model = resolve_settings(
        "flickr8k", "transformer", overrides={"epochs": 3, "dropout": 0.1}
    )
    assert (preset, how["epochs"], model["dropout"]) == ("small", 3, 0.1)
    assert how["min_count"] == 4
    assert set(how) == set(TRAINING_DEFAULTS)
    _, _, model = resolve_settings("flickr8k", "soft", "test")
    assert model == {}  # the recipe's layers are of another size
