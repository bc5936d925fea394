"""Sentiment as ONNX and LiteRT: the answers of `from_ids`, without text."""

import json

import keras
import numpy as np
import pytest

from keras_seq.export.standalone import open_functions
from keras_seq.models.text_classifier import text_classifier
from keras_seq.tasks.sentiment_classifier import SentimentClassifier
from keras_seq.tasks.sentiment_export import sentiment_signatures
from keras_seq.tasks.sentiment_files import export_sentiment_file
from keras_seq.text import SubwordTokenizer, WordTokenizer

pytestmark = pytest.mark.tensorflow
CARD = {"data": {}, "metrics": [], "licence": "CC0-1.0", "credits": []}
TEXTS = [
    "A warm and funny film, not a bad one.",
    "Two hours of my life; the ending is a mess.",
    "Не плохо! The straße was long, and so was this.",
]
FILES = {"onnx": "model.onnx", "litert": "model.tflite"}
# Between them every kind of layer that a preset has, but for the Transformer,
# which tests/export/test_other_runtimes.py has.
MODELS = {
    "words": (WordTokenizer, {}, {"preset": "test"}),
    "pieces": (
        SubwordTokenizer,
        {"vocabulary_size": 330},
        {
            "preset": "ngrams_spelling",
            "encoder": "lstm",
            "pooling": "max",
            "num_ngrams": 503,
            "num_spellings": 509,
        },
    ),
}


@pytest.fixture(scope="module", params=MODELS)
def classifier(request):
    keras.utils.set_random_seed(0)
    kind, size, settings = MODELS[request.param]
    tokenizer = kind.train(TEXTS, **size)
    model = text_classifier(tokenizer.vocabulary_size, **settings)
    made = SentimentClassifier(tokenizer, model, max_length=31)
    rows = made.encode_rows(TEXTS)
    for layer in model.layers:
        if layer.name == "spelling_bag":
            layer.learn_spellings(tokenizer.vocabulary())
        if layer.name in ("ngram_bag", "spelling_bag"):
            layer.learn_counts(rows, [1, 0, 1])
    return made


@pytest.mark.parametrize("file_format", FILES)
def test_a_file_answers_as_the_signature(classifier, file_format, tmp_path):
    package = "tf2onnx" if file_format == "onnx" else "ai_edge_litert"
    pytest.importorskip(package)
    path = export_sentiment_file(
        classifier, tmp_path, file_format, card=CARD, texts=TEXTS
    )
    card = json.loads((path / "model_card.json").read_text())
    assert card["labels"] == ["negative", "positive"]
    assert card["runtime"]["file"] == FILES[file_format]
    assert (path / FILES[file_format]).stat().st_size > 1000

    functions, _ = open_functions(path)
    from_ids = sentiment_signatures(classifier)["from_ids"]
    size = classifier.tokenizer.vocabulary_size
    for ids in (
        classifier.encode(TEXTS).numpy(),
        np.array([[4, -1, size, 10**6], [0, 0, 0, 0]], "int32"),
        np.zeros((2, 0), "int32"),
        np.full((1, 61), 5, "int32"),
    ):
        got = functions["serving_default"]({"token_ids": ids})
        want = from_ids(ids)["probabilities"].numpy()
        np.testing.assert_allclose(got["probabilities"], want, atol=1e-5)
    check_tokenizer(path, classifier)


def check_tokenizer(path, classifier):
    """Whoever writes it in another language can test it with this."""
    said = json.loads((path / "tokenizer.json").read_text(encoding="utf-8"))
    assert said["vocabulary"] == classifier.tokenizer.vocabulary()
    texts = [example["text"] for example in said["examples"]]
    assert texts == TEXTS
    ids = [example["token_ids"] for example in said["examples"]]
    assert classifier.tokenizer.tokenize(texts).to_list() == ids
    assert said["max_length"] == 31
    if said["kind"] == "SubwordTokenizer":
        import sentencepiece

        model = sentencepiece.SentencePieceProcessor(
            model_file=str(path / "sentencepiece.model")
        )
        assert model.vocab_size() == len(said["vocabulary"])
    else:
        known = [said["vocabulary"][n] for n in ids[0]]
        assert known == "a warm and funny film , not a bad one .".split()


def test_the_format_is_checked(tmp_path):
    with pytest.raises(ValueError, match="`file_format` must be one of.*'pdf'"):
        export_sentiment_file(None, tmp_path, "pdf", card=CARD)
