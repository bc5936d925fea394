"""What captioners see: features of files, kept, and told apart."""

import keras
import numpy as np
import pytest

from keras_seq.tasks import caption_eyes, captioning
from keras_seq.tasks.caption_eyes import Eye, join_layers
from keras_seq.tasks.captioning_recipes import resolve_settings
from keras_seq.vision import small_cnn
from tests.tasks.captioning_toy import file_dataset, toy_dataset, toy_images

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
