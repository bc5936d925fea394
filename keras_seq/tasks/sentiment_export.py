"""Sentiment as a SavedModel: text in; verdict, words and weights out."""

import tensorflow as tf

from keras_seq import explain, export
from keras_seq.tasks.signature_choice import chosen_signatures

# Asked of every export, live and in the clean process. The last three are
# what strangers send: nothing, blanks, and bytes that are no text.
GOLDEN_TEXTS = (
    "A warm, funny film that I would gladly see again.",
    "Two hours of my life that nobody will give me back.",
    "Not bad at all - the ending, however, is a mess.",
    "J'ai adoré ! 👍",
    "",
    "   ",
    b"caf\xe9 \xff\xfe",
)


def sentiment_signatures(classifier, method="auto") -> dict:
    """Return the signatures of a classifier, as `tf.function`s by name.

    - `serving_default(text)`: `label` and its `probability`, and the
      `probabilities` of all classes, in the order of `classifier.labels`.
    - `explain(text)`: `label`, `probability`, and for each token that the
      model read: `tokens`, the vocabulary entry; `offsets`, its first
      character in the text and one past its last, in code points; `weights`,
      see `explain.token_weights`. Rows are padded with "", -1 and 0.
    - `from_ids(token_ids)`: `probabilities`, with no operation on text.

    Any text gets a finite answer: an empty one, one that is not UTF-8, one
    that is too long (the model reads its beginning and its end). Ids that the
    vocabulary does not have count as unknown.

    Shapes:
        text `(B,)`; label, probability `(B,)`; probabilities `(B, C)`; tokens,
        weights `(B, T)`; offsets `(B, T, 2)`; token_ids `(B, T)`.

    Args:
        classifier: A `SentimentClassifier`.
        method: How tokens are weighed, as in `explain.token_weights`.
    """
    tokenizer, model = classifier.tokenizer, classifier.model
    weigh = explain.token_weights(model, method)
    text = tf.TensorSpec((None,), tf.string, name="text")
    token_ids = tf.TensorSpec((None, None), tf.int32, name="token_ids")
    labels = list(classifier.labels)

    def verdict(logits):
        probabilities = tf.nn.softmax(tf.cast(logits, tf.float32))
        best = tf.argmax(probabilities, axis=-1, output_type=tf.int32)
        return {
            "label": tf.gather(tf.constant(labels), best),
            "probability": tf.reduce_max(probabilities, axis=-1),
            "probabilities": probabilities,
        }

    @tf.function(input_signature=[text], autograph=False)
    def serving_default(text):
        ids = _with_a_column(classifier.encode(text))
        return verdict(model(ids, training=False))

    @tf.function(input_signature=[text], autograph=False)
    def explain_text(text):
        spans = classifier.encode_with_offsets(text)
        ids = spans.ids.to_tensor(tokenizer.pad_id)
        logits, weights = weigh(_with_a_column(ids))
        answer = verdict(logits)
        tokens = spans.tokens.to_tensor("")
        offsets = [spans.starts.to_tensor(-1), spans.ends.to_tensor(-1)]
        return {
            "label": answer["label"],
            "probability": answer["probability"],
            "tokens": tokens,
            "offsets": tf.stack(offsets, axis=-1),
            "weights": weights[:, : tf.shape(tokens)[1]],
        }

    @tf.function(input_signature=[token_ids], autograph=False)
    def from_ids(token_ids):
        known = (token_ids >= 0) & (token_ids < tokenizer.vocabulary_size)
        ids = tf.where(known, token_ids, tokenizer.unknown_id)
        logits = model(_with_a_column(ids), training=False)
        return {"probabilities": verdict(logits)["probabilities"]}

    return {
        "serving_default": serving_default,
        "explain": explain_text,
        "from_ids": from_ids,
    }


def export_sentiment(
    classifier,
    folder,
    *,
    card: dict,
    method: str = "auto",
    only=None,
    texts=GOLDEN_TEXTS,
    version: int | None = None,
    half: bool = False,
):
    """Export a classifier, verified; see `export.save`.

    Args:
        classifier: A `SentimentClassifier`.
        folder: The folder of all versions of this model.
        card: `data`, `metrics`, `licence` and `credits` for the model card;
            `task`, `labels` and the settings of the model are added.
        method: How tokens are weighed in the signature `explain`.
        only: Names of signatures, if not all are wanted. A folder with
            `("from_ids",)` alone loads where tensorflow-text is not: with
            the others in it, their operations have to be known as well.
        texts: The golden questions.
        version: Default: the next one.
        half: Whether to write the weights as float16.

    Returns:
        The version folder.
    """
    signatures = chosen_signatures(
        sentiment_signatures(classifier, method), only
    )
    golden = {
        "serving_default": {"text": list(texts)},
        "explain": {"text": list(texts)},
        "from_ids": {"token_ids": classifier.encode(list(texts))},
    }
    reads_text = any(name != "from_ids" for name in signatures)
    return export.save(
        folder,
        signatures,
        tracked=[classifier.model] + [classifier.tokenizer] * reads_text,
        card={
            "task": "sentiment",
            "labels": list(classifier.labels),
            "max_length": classifier.max_length,
            **card,
        },
        golden={name: golden[name] for name in signatures},
        version=version,
        half=half,
    )


def _with_a_column(token_ids):
    """Return `(B, T)` with T at least 1: a batch of empty texts has T = 0."""
    missing = tf.maximum(1 - tf.shape(token_ids)[1], 0)
    token_ids = tf.pad(token_ids, [[0, 0], [0, missing]])
    return tf.ensure_shape(token_ids, (None, None))
