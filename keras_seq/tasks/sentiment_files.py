"""Sentiment for runtimes without TensorFlow: token ids in, verdict out."""

import json

import keras
from keras import ops

from keras_seq import export
from keras_seq.tasks.sentiment_export import GOLDEN_TEXTS
from keras_seq.text.word_tokenizer import TOKEN

FORMATS = {"onnx": export.save_onnx, "litert": export.save_litert}
TOKENIZER, SENTENCEPIECE = "tokenizer.json", "sentencepiece.model"


def sentiment_model_of_ids(classifier) -> keras.Model:
    """Return a model from token ids to probabilities, as `from_ids` answers.

    Ids that the vocabulary does not have count as unknown, and a row may be
    empty.

    Shapes:
        token_ids `(B, T)` int32, 0 is padding -> probabilities `(B, C)`.

    Args:
        classifier: A `SentimentClassifier`.
    """
    tokenizer = classifier.tokenizer
    token_ids = keras.Input((None,), dtype="int32", name="token_ids")
    is_known = ops.logical_and(
        token_ids >= 0, token_ids < tokenizer.vocabulary_size
    )
    ids = ops.where(is_known, token_ids, tokenizer.unknown_id)
    ids = ops.pad(ids, [[0, 0], [0, 1]])  # there is a step, then, to look at
    logits = ops.cast(classifier.model(ids), "float32")
    return keras.Model(token_ids, {"probabilities": ops.softmax(logits)})


def export_sentiment_file(
    classifier, folder, file_format: str, *, card: dict, texts=GOLDEN_TEXTS
):
    """Export a classifier as ONNX or LiteRT, verified.

    Operations on text are in neither, so the file takes token ids.
    `tokenizer.json` beside it has the vocabulary, and texts with their ids:
    whoever writes the tokenizer in another language has something to test it
    with. A subword tokenizer also leaves its `sentencepiece.model`.

    Args:
        classifier: A `SentimentClassifier` of any preset.
        folder: The folder of all versions.
        file_format: "onnx" or "litert".
        card: As in `export_sentiment`.
        texts: The golden questions.

    Returns:
        The version folder.
    """
    if file_format not in FORMATS:
        raise ValueError(
            f"`file_format` must be one of {list(FORMATS)}. "
            f"Received: {file_format!r}"
        )
    return FORMATS[file_format](
        folder,
        sentiment_model_of_ids(classifier),
        card={
            "task": "sentiment",
            "labels": list(classifier.labels),
            "max_length": classifier.max_length,
            **card,
        },
        golden={"token_ids": classifier.encode(list(texts))},
        beside=_tokenizer_files(classifier, texts),
    )


def _tokenizer_files(classifier, texts):
    tokenizer = classifier.tokenizer
    examples = [t for t in texts if isinstance(t, str)]
    rows = classifier.encode_rows(examples)
    described = {
        "kind": type(tokenizer).__name__,
        "lowercase": tokenizer.lowercase,
        "pad_id": tokenizer.pad_id,
        "unknown_id": tokenizer.unknown_id,
        "max_length": classifier.max_length,
        "longer": "keep the first half of max_length, rounded up, and the last",
        "examples": [
            {"text": text, "token_ids": row.tolist()}
            for text, row in zip(examples, rows, strict=True)
        ],
        "vocabulary": tokenizer.vocabulary(),
    }
    files = {}
    if hasattr(tokenizer, "proto"):
        described["form"] = tokenizer.form
        files[SENTENCEPIECE] = tokenizer.proto
    else:
        described["token"] = TOKEN
    text = json.dumps(described, indent=1, ensure_ascii=False)
    return {TOKENIZER: f"{text}\n".encode("utf-8", "surrogatepass"), **files}
