"""Sentiment as a SavedModel: every text gets an answer, everywhere the same."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_seq import export
from keras_seq.export.graph_checks import read_meta_graph
from keras_seq.models.text_classifier import text_classifier
from keras_seq.tasks.sentiment_classifier import SentimentClassifier
from keras_seq.tasks.sentiment_export import (
    GOLDEN_TEXTS,
    export_sentiment,
    sentiment_signatures,
)
from keras_seq.text import SubwordTokenizer, WordTokenizer

pytestmark = pytest.mark.tensorflow
MAX_LENGTH = 31
CARD = {"data": {}, "metrics": [], "licence": "CC0-1.0", "credits": []}
CORPUS = [
    "A warm and funny film, not a bad one.",
    "Two hours of my life; the ending is a mess.",
    "Не плохо! The straße was long, and so was this.",
] * 2
AWKWARD = [
    "",
    "   \n\t ",
    "x" * 10_000,
    "good " * 2_000,
    b"\xff\xfe\xc3(",
    b"fine \x00 fine",
    "<pad> <s> </s>",
    "Не плохо 👩‍👩‍👧",
    "q" * 3 + " zzz qqq",
]


def classifier(kind=SubwordTokenizer, preset="test"):
    keras.utils.set_random_seed(0)
    size = {"vocabulary_size": 330} if kind is SubwordTokenizer else {}
    tokenizer = kind.train(CORPUS, **size)
    model = text_classifier(tokenizer.vocabulary_size, preset=preset)
    return SentimentClassifier(tokenizer, model, max_length=MAX_LENGTH)


@pytest.fixture(scope="module")
def live():
    return classifier()


@pytest.fixture(scope="module")
def signatures(live):
    return sentiment_signatures(live)


@pytest.fixture(scope="module")
def loaded(live, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sentiment")
    export_sentiment(live, folder, card=CARD)
    return export.load(folder)


def ask(function, texts):
    answer = function(text=tf.constant(texts, tf.string))
    return {key: np.asarray(value) for key, value in answer.items()}


def test_the_folder_speaks_for_itself(loaded):
    assert set(loaded.signatures) == {"serving_default", "explain", "from_ids"}
    assert loaded.card["needs"] == ["tensorflow", "tensorflow_text"]
    assert loaded.card["labels"] == ["negative", "positive"]
    asked = loaded.card["golden"]["serving_default"][0]["inputs"]["text"]
    assert asked[:-1] == list(GOLDEN_TEXTS[:-1])
    assert asked[-1] == {"b64": "Y2Fm6SD//g=="}  # it was no text


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 256])
def test_every_text_gets_a_finite_answer_in_any_batch(loaded, live, rows):
    texts = (AWKWARD * 30)[:rows]
    answer = ask(loaded.signatures["serving_default"], texts)
    assert answer["probabilities"].shape == (rows, 2)
    assert np.isfinite(answer["probabilities"]).all()
    np.testing.assert_allclose(answer["probabilities"].sum(-1), 1, atol=1e-5)
    best = answer["probabilities"].argmax(-1)
    assert answer["label"].tolist() == [live.labels[i].encode() for i in best]
    np.testing.assert_array_equal(
        answer["probability"], answer["probabilities"].max(-1)
    )
    told = ask(loaded.signatures["explain"], texts)
    assert all(len(value) == rows for value in told.values())
    assert told["offsets"].shape == (*told["tokens"].shape, 2)
    assert told["tokens"].shape[1] <= MAX_LENGTH
    assert np.isfinite(told["weights"]).all()


def test_an_answer_does_not_depend_on_its_neighbours(loaded):
    together = ask(loaded.signatures["serving_default"], AWKWARD)
    for row, text in enumerate(AWKWARD):
        alone = ask(loaded.signatures["serving_default"], [text])
        np.testing.assert_allclose(
            alone["probabilities"][0],
            together["probabilities"][row],
            atol=1e-5,
        )


def test_explain_points_at_the_text_and_marks_the_padding(loaded):
    texts = ["A warm film", "", "Не плохо, a mess of two hours"]
    told = ask(loaded.signatures["explain"], texts)
    for row, text in enumerate(texts):
        real = told["tokens"][row] != b""
        assert (told["offsets"][row][~real] == -1).all()
        assert (told["weights"][row][~real] == 0).all()
        pieces = [text[a:b] for a, b in told["offsets"][row][real]]
        assert "".join(pieces) == text.replace(" ", "")
        if text:
            assert told["weights"][row].sum() == pytest.approx(1, abs=1e-5)
    answer = ask(loaded.signatures["serving_default"], texts)
    np.testing.assert_array_equal(answer["label"], told["label"])


def test_ids_give_the_answer_of_the_text(loaded, live):
    texts = [text for text in AWKWARD if text]
    ids = live.encode(texts).numpy()
    got = loaded.signatures["from_ids"](token_ids=ids)["probabilities"]
    want = ask(loaded.signatures["serving_default"], texts)["probabilities"]
    np.testing.assert_allclose(got, want, atol=1e-5)


def test_ids_from_a_stranger_are_unknown_words(signatures, live):
    size = live.tokenizer.vocabulary_size
    strange = tf.constant([[5, -3, 6], [5, size, 6], [5, 1, 6]])
    got = signatures["from_ids"](strange)["probabilities"].numpy()
    np.testing.assert_allclose(got, got[[2, 2, 2]], atol=1e-6)
    empty = signatures["from_ids"](tf.zeros((3, 0), tf.int32))
    assert np.isfinite(empty["probabilities"]).all()


@pytest.fixture
def unverified(monkeypatch):
    """Leave out the clean process, which has had its turn above."""
    monkeypatch.setitem(
        vars(sys.modules["keras_seq.export.save"]),
        "replay_in_clean_process",
        lambda folder: [],
    )


def test_ids_alone_have_no_operation_on_text(live, tmp_path, unverified):
    path = export_sentiment(live, tmp_path, card=CARD, only=["from_ids"])
    graph = read_meta_graph(path).graph_def
    ops = {node.op for f in graph.library.function for node in f.node_def}
    assert "While" in ops or "StatelessWhile" in ops
    assert not [op for op in ops if op.startswith(("Sentence", "Unicode"))]
    with pytest.raises(ValueError, match="`only` must be names of"):
        export_sentiment(live, tmp_path, card=CARD, only=["from_id"])


@pytest.mark.parametrize("preset", ["rnn", "transformer"])
def test_families_without_pooled_attention_explain_too(preset):
    model = classifier(WordTokenizer, preset)
    answer = ask(sentiment_signatures(model)["explain"], AWKWARD)
    assert np.isfinite(answer["probability"]).all()
    assert np.isfinite(answer["weights"]).all()
    assert (answer["weights"] != 0).any()
