"""What captioners see: features of files, kept, and told apart."""

import dataclasses
import re
import zipfile

import keras
import numpy as np
import pytest

from keras_seq.commands.captioning_model import CaptioningModel
from keras_seq.data import ImageFiles
from keras_seq.tasks import caption_eyes, captioning
from keras_seq.tasks.caption_eyes import Eye, join_layers
from keras_seq.tasks.captioning_evaluation import picture_features
from keras_seq.tasks.captioning_export import captioning_signatures
from keras_seq.tasks.captioning_recipes import resolve_settings
from keras_seq.vision import small_cnn
from tests.tasks.captioning_toy import (
    SETTINGS,
    file_dataset,
    toy_captioner,
    toy_dataset,
    toy_images,
)

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def tiny_backbone(monkeypatch):
    """Stand in for EfficientNet, which would take seconds to load."""

    def make(name, weights):
        keras.utils.set_random_seed(5)
        return small_cnn(widths=(4, 6))

    monkeypatch.setattr(caption_eyes, "backbone", make)


def tiny_eye(**how):
    _, recipe, _ = resolve_settings("flickr8k", "soft", "test")
    return Eye({**recipe, "image_size": (28, 20), **how})


def test_features_of_a_frozen_network_are_kept(tmp_path, tiny_backbone):
    (tmp_path / "pictures").mkdir()
    dataset = file_dataset(tmp_path / "pictures", bad=["2.png"])
    how = {"preset": "test", "image_size": (28, 20), "epochs": 1, "verbose": 0}
    how |= {"projection_dim": 7, "mirror": True, "cache_dir": tmp_path / "kept"}
    with pytest.warns(UserWarning, match="1 pictures of 'train'.*2.png: "):
        captioner, _ = captioning.train(
            dataset, "show_and_tell", folder=tmp_path / "a", **how
        )
    kept = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert [name.split("_")[3] for name in kept] == [
        "train",
        "train",
        "validation",
    ]
    assert [name.endswith("_mirrored") for name in kept] == [
        False,
        True,
        False,
    ]
    assert captioner.grid == (7, 5)
    assert captioner.caption([tmp_path / "pictures" / "0.png"])[0] is not None
    scores = captioning.evaluate(captioner, dataset, use_meteor=False)
    assert scores["pictures"] == 1 and "pointing_accuracy" not in scores
    # What stays frozen is what the cache was made by, and goes with it.
    pixels = toy_images(9)[:1]
    features, _ = captioner.features(pixels)
    assert features.shape == (1, 35, 7)


def test_albums_of_the_same_names_do_not_share_features(
    tmp_path, tiny_backbone
):
    eye = tiny_eye()
    datasets = []
    for seed, album in enumerate(("cats", "dogs")):
        (tmp_path / album).mkdir()
        datasets.append(file_dataset(tmp_path / album, seed=seed))

    def features(dataset):
        found, failures = eye.pictures(dataset, "train", tmp_path / "kept")
        assert not failures
        return np.array(found)

    cats, dogs = map(features, datasets)
    assert (cats != dogs).any((1, 2, 3)).all()
    # One picture is replaced, and keeps its name.
    picture = (tmp_path / "dogs" / "1.png").read_bytes()
    (tmp_path / "cats" / "1.png").write_bytes(picture)
    again = features(datasets[0])
    np.testing.assert_array_equal(again[1], dogs[1])
    np.testing.assert_array_equal(again[[0, 2, 3]], cats[[0, 2, 3]])


def test_painted_pictures_are_known_by_what_is_on_them(tmp_path, tiny_backbone):
    eye = tiny_eye()
    one, two, same = (
        eye.pictures(toy_dataset(3, seed), "train", tmp_path)[0]
        for seed in (0, 1, 0)
    )
    assert (one != two).any()
    np.testing.assert_array_equal(one, same)
    assert len(list(tmp_path.iterdir())) == 2


def test_layers_are_looked_at_side_by_side():
    network = small_cnn(widths=(4, 6, 8))
    names = ("stage_2_shrink_relu", "features")
    both = join_layers(network, names, (32, 24))
    images = np.stack(toy_images(2))[:, :24, :16]
    fine = keras.Model(network.input, network.get_layer(names[0]).output)
    found = both(images).numpy()
    pooled = fine(images).numpy().reshape(2, 3, 2, 2, 2, 6).mean((2, 4))
    np.testing.assert_allclose(found[..., :6], pooled, atol=1e-4)
    np.testing.assert_allclose(found[..., 6:], network(images), atol=1e-4)
    with pytest.raises(ValueError, match="`feature_layers`.*block_9"):
        join_layers(network, ("block_9",), (32, 24))
    with pytest.raises(ValueError, match="fit into each other"):
        join_layers(network, names, (20, 20))


def test_pictures_none_of_which_can_be_read_are_named(tmp_path):
    bad = [f"{n}.png" for n in range(6)]
    dataset = file_dataset(tmp_path, bad=bad)
    with pytest.raises(ValueError, match="`data`.*'train', with 6.*0.png: "):
        captioning.train(dataset, folder=tmp_path, **{**SETTINGS, "epochs": 1})


def zipped_dataset(folder):
    """Pictures in a zip file, of which 1.png is damaged and 7.png no image."""
    (folder / "loose").mkdir()
    dataset = file_dataset(folder / "loose", bad=["7.png"])
    path = folder / "photos.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for picture in sorted((folder / "loose").iterdir()):
            archive.write(picture, picture.name)
    damage(path, "1.png")
    return dataclasses.replace(dataset, files=ImageFiles(path))


def damage(path, name):
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo(name).header_offset
    data[start + 80] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize("vision", ["small_cnn", "efficientnet_lite0"])
def test_a_damaged_member_of_a_zip_file_is_like_any_bad_picture(
    tmp_path, tiny_backbone, vision
):
    dataset = zipped_dataset(tmp_path)
    eye = tiny_eye(vision=vision, cnn_widths=(4, 6))
    for split, row, why in (
        ("train", 1, "1.png in .*photos.zip cannot be unpacked"),
        ("validation", 1, "JPEG, PNG, GIF or BMP"),
    ):
        seen, failures = eye.pictures(dataset, split, tmp_path / "kept")
        assert list(failures) == [row] and re.search(why, failures[row])
        assert not seen[row].any() and seen[0].any()


def test_pictures_that_cannot_be_read_are_named_and_not_scored(tmp_path):
    dataset = zipped_dataset(tmp_path)
    captioner = toy_captioner("show_and_tell")
    with pytest.warns(UserWarning, match="1 of 3 pictures.* 1.png: 1.png in"):
        features, rows = picture_features(captioner, dataset, "train", range(3))
    assert rows == [0, 2] and len(features) == 2
    # Those asked for are named, and not others in their place.
    with pytest.warns(UserWarning, match="1 of 2 pictures.*: 7.png: "):
        scores = captioning.evaluate(
            captioner, dataset, split="validation", use_meteor=False
        )
    assert scores["pictures"] == 1
    with pytest.raises(ValueError, match="`split`.*'train', with 1.*: 1.png"):
        picture_features(captioner, dataset, "train", [1])


def test_an_export_names_what_it_could_not_score(tmp_path, monkeypatch):
    dataset = zipped_dataset(tmp_path)
    captioner = toy_captioner("show_and_tell")
    model = CaptioningModel(captioning_signatures(captioner), {})
    monkeypatch.setattr(  # it would take ten seconds, where there is Java
        "keras_seq.tasks.captioning_scores.find_meteor", lambda: None
    )
    asked = {"data": dataset, "split": "train"}
    with pytest.warns(UserWarning, match="1 of 6 pictures.* 1.png: 1.png in"):
        assert model.scores(asked)["pictures"] == 5
    with pytest.warns(UserWarning, match="1 of 2 pictures.*7.png: must be a J"):
        assert model.scores({**asked, "split": "validation"})["pictures"] == 1
