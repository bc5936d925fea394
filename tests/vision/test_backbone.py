"""Networks of `keras.applications`, and the small one of ours."""

import keras
import numpy as np
import pytest

from keras_seq.vision import backbone, small_cnn

IMAGES = np.random.default_rng(0).uniform(0, 255, (2, 64, 96, 3))


@pytest.mark.parametrize(
    ("name", "module"),
    [("MobileNetV2", "mobilenet_v2"), ("VGG16", "vgg16")],
)
def test_plain_pixels_go_in(name, module):
    model = backbone(name, weights=None)
    family = getattr(keras.applications, module)
    peer = getattr(family, name)(
        include_top=False, weights=None, input_shape=(64, 96, 3)
    )
    peer.set_weights(model.get_weights())
    wanted = peer(family.preprocess_input(IMAGES.copy()))
    got = model(IMAGES)
    assert float(keras.ops.std(got)) > 0
    scale = float(keras.ops.max(keras.ops.abs(wanted)))
    np.testing.assert_allclose(got, wanted, atol=1e-4 * scale)


def test_a_network_with_its_own_preprocessing_works_too():
    assert backbone("MobileNetV3Small", weights=None)(IMAGES).shape[-1] == 576


def test_an_unknown_network_is_refused():
    with pytest.raises(ValueError, match="MobileNetV2.*Received: 'LeNet'"):
        backbone("LeNet")


def test_small_cnn_learns_to_see():
    # A red square on the left, or a green one on the right?
    rng = np.random.default_rng(0)
    images = rng.uniform(0, 60, (64, 19, 23, 3))
    labels = rng.integers(0, 2, 64)
    for image, label in zip(images, labels, strict=True):
        image[5:11, 3 + 9 * label : 9 + 9 * label, label] += 180
    model = small_cnn((5, 7), num_classes=2)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(True))
    model.optimizer.learning_rate = 0.01
    model.fit(images, labels, epochs=15, batch_size=16, verbose=0)
    found = np.argmax(model(images), axis=-1)
    assert np.mean(found == labels) > 0.95


def test_small_cnn_has_a_grid_of_features():
    model = small_cnn((5, 7, 11))
    features = model(IMAGES[:, :41, :])
    assert features.shape == (2, 6, 12, 11)
    assert model.get_layer("features").output is model.output
    assert float(keras.ops.min(features)) == 0.0


@pytest.mark.parametrize(
    "wrong", [{"widths": ()}, {"widths": (3, 0)}, {"num_classes": 1}]
)
def test_small_cnn_refuses_what_cannot_be(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must.*Rec"):
        small_cnn(**wrong)
