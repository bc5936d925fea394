"""Captioners as SavedModels: image files to sentences and looks."""

import json

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from keras_seq import export
from keras_seq.export.graph_checks import read_meta_graph
from keras_seq.tasks.captioning_export import (
    captioning_signatures,
    export_captioning,
    golden_images,
)
from tests.tasks.captioning_toy import talkative_captioner, toy_captioner
from tests.vision.image_cases import CASES_OF_EACH_KIND, drawing, encode

pytestmark = pytest.mark.tensorflow
CARD = {"data": {}, "metrics": [], "licence": "CC0-1.0", "credits": []}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A captioner that knows nothing, exported in halves and verified."""
    captioner = talkative_captioner()
    folder = tmp_path_factory.mktemp("exported") / "captioning"
    path = export_captioning(captioner, folder, card=CARD, half=True)
    return captioner, export.load(path), path


def ask(exported, signature, images):
    ask = exported[1].signatures[signature]
    return ask(image_bytes=np.array(images, object))


def test_the_default_gives_what_the_captioner_gives(exported):
    images = golden_images()
    answer = ask(exported, "serving_default", images)
    assert set(answer) == {"text", "score"}
    said = exported[0].caption(images)
    assert [text.decode() for text in answer["text"]] == said
    assert all(said)
    assert np.isfinite(answer["score"]).all()


def test_every_signature_says_the_same(exported):
    images = golden_images()[:3]  # a size that is padded
    best = ask(exported, "serving_default", images)
    few = ask(exported, "n_best", images)
    assert few["texts"].shape == few["scores"].shape == (3, 4)
    for row, live in enumerate(exported[0].n_best(images)):
        texts, scores = zip(*live, strict=True)
        assert [text.decode() for text in few["texts"][row]] == list(texts)
        np.testing.assert_allclose(few["scores"][row], scores, atol=0.05)
    fast = ask(exported, "fast", images)
    assert fast["text"].tolist() == best["text"].tolist()
    np.testing.assert_allclose(fast["score"], best["score"], rtol=1e-3)
    features, failures = exported[0].features(images)
    assert not failures
    seen = exported[1].signatures["from_features"](features=features)
    assert seen["text"].tolist() == best["text"].tolist()


def test_explain_says_where_it_looked_for_each_word(exported):
    images = golden_images()
    answer = ask(exported, "explain", images)
    live = exported[0].explain(images)
    batch, length = answer["words"].shape
    assert answer["attention"].shape == (batch, length, 7, 5)
    for row, one in enumerate(live):
        words = [word.decode() for word in answer["words"][row] if word]
        assert words == list(one.words)
        assert " ".join(words) == answer["text"][row].decode() == one.text
        maps = answer["attention"][row]
        np.testing.assert_allclose(maps[: len(words)], one.attention, atol=2e-3)
        np.testing.assert_allclose(
            maps.sum(axis=(1, 2)), np.arange(length) < len(words), atol=1e-5
        )


def test_every_kind_of_file_is_read(exported):
    answer = ask(exported, "serving_default", CASES_OF_EACH_KIND)
    alone = [
        ask(exported, "serving_default", [contents])["text"][0]
        for contents in CASES_OF_EACH_KIND[:2]
    ]
    assert answer["text"].tolist()[:2] == alone
    assert np.isfinite(answer["score"]).all()


def test_no_images_have_no_captions(exported):
    shapes = {
        "serving_default": {"text": (0,), "score": (0,)},
        "fast": {"text": (0,), "score": (0,)},
        "n_best": {"texts": (0, 4), "scores": (0, 4)},
        "explain": {
            "text": (0,),
            "score": (0,),
            "words": (0, 1),
            "attention": (0, 1, 7, 5),
        },
    }
    for signature, expected in shapes.items():
        answer = ask(exported, signature, [])
        found = {name: value.shape for name, value in answer.items()}
        assert found == expected, signature
    no_features = np.zeros((0, 35, 6), "float32")
    answer = exported[1].signatures["from_features"](features=no_features)
    assert answer["text"].shape == answer["score"].shape == (0,)


@pytest.mark.parametrize(
    "bad, why",
    [
        (b"<html>404</html>", "a JPEG, PNG, GIF or BMP file"),
        (encode(drawing(), "JPEG")[:-300], "JPEG"),
        (encode(Image.new("RGB", (1, 1)), "PNG"), "at least 8 x 8"),
        (encode(Image.new("L", (10_000, 10_000)), "PNG"), "at most 36000000"),
    ],
    ids=["text", "cut", "dot", "bomb"],
)
def test_a_bad_file_fails_the_call_and_says_why(exported, bad, why):
    with pytest.raises(tf.errors.InvalidArgumentError, match=why):
        ask(exported, "serving_default", [golden_images()[0], bad])
    answer = ask(exported, "serving_default", golden_images()[:1])
    assert len(answer["text"]) == 1  # and the model lives


def test_the_card_says_what_it_takes(exported):
    card = json.loads((exported[2] / "model_card.json").read_text())
    assert card["task"] == "captioning"
    assert card["needs"] == ["tensorflow"]  # no tensorflow-text
    assert (card["image_size"], card["grid"]) == ([28, 20], [7, 5])
    assert card["search"]["beam_size"] == 1
    assert card["half"]["stored"] == "float16"
    assert "INVALID_ARGUMENT" in card["bad_input"]
    asked = card["golden"]["serving_default"][0]["inputs"]["image_bytes"]
    assert len(asked) == len(golden_images())


def test_what_sees_is_in_the_file_once_and_features_need_no_image(exported):
    graph = read_meta_graph(exported[2]).graph_def
    ops = [n.op for f in graph.library.function for n in f.node_def]
    assert ops.count("DecodeJpeg") == 1
    convolutions = [
        layer
        for layer in exported[0].vision.layers
        if "conv" in type(layer).__name__.lower()
    ]
    assert ops.count("Conv2D") == len(convolutions)


@pytest.mark.parametrize("model", ["transformer", "show_and_tell"])
def test_other_captioners_have_the_same_signatures(model):
    captioner = toy_captioner(model)
    signatures = captioning_signatures(captioner, n_best=2)
    names = {"serving_default", "n_best", "from_features", "fast"}
    if model != "show_and_tell":  # which looks at nothing
        names.add("explain")
        answer = signatures["explain"](golden_images())
        assert answer["attention"].shape[2:] == (7, 5)
    assert set(signatures) == names


def test_only_some_signatures():
    with pytest.raises(ValueError, match="`only` must be names.*Received"):
        export_captioning(toy_captioner(), "x", card=CARD, only=["explian"])
