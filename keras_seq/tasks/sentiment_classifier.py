"""What a sentiment training makes: a tokenizer, a model, and their settings."""

import keras
import numpy as np

from keras_seq.tasks.long_texts import head_and_tail
from keras_seq.tasks.trained_folder import load_parts, save_parts
from keras_seq.text import Tokenizer, TokenSpans

DESCRIPTION = "classifier.json"


class SentimentClassifier:
    """Text in, probabilities of the labels out.

    Args:
        tokenizer: A `text.Tokenizer`.
        model: From token ids `(B, T)` to logits `(B, C)`, like
            `models.text_classifier`.
        labels: Names of the classes, in order.
        max_length: The most tokens that the model reads of a text: its
            beginning and its end (`long_texts.head_and_tail`).
        settings: How it was made, for `run.json` and the model card.

    Example:
        >>> from keras_seq.models import text_classifier
        >>> from keras_seq.text import WordTokenizer
        >>> words = WordTokenizer(["good", "bad"])
        >>> classifier = SentimentClassifier(
        ...     words, text_classifier(words.vocabulary_size, preset="test")
        ... )
        >>> classifier.predict(["so good!", ""]).shape
        (2, 2)
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        model: keras.Model,
        labels=("negative", "positive"),
        max_length: int | None = None,
        settings: dict | None = None,
    ):
        self.tokenizer = tokenizer
        self.model = model
        self.labels = tuple(labels)
        self.max_length = max_length
        self.settings = dict(settings or {})
        num_classes = model.output_shape[-1]
        if num_classes != len(self.labels):
            raise ValueError(
                f"`labels` must name the {num_classes} classes of the model. "
                f"Received: {self.labels}"
            )

    def encode(self, texts):
        """Return `token_ids`, `(B, T)` int32, padded with 0. Runs in graph."""
        rows = head_and_tail(_rows(self.tokenizer, texts), self.max_length)
        return rows.to_tensor(self.tokenizer.pad_id)

    def encode_with_offsets(self, texts) -> TokenSpans:
        """Return the tokens that the model reads, with their places.

        The ids are those of `encode`, ragged. Runs in graph.
        """
        spans = self.tokenizer.tokenize_with_offsets(_as_list(texts))
        return TokenSpans(
            *(head_and_tail(rows, self.max_length) for rows in spans)
        )

    def encode_rows(self, texts, chunk_size=512) -> list[np.ndarray]:
        """Return the ids of many texts without padding, for `data.Batches`."""
        texts, rows = list(texts), []
        for at in range(0, len(texts), chunk_size):
            ids = head_and_tail(
                _rows(self.tokenizer, texts[at : at + chunk_size]),
                self.max_length,
            )
            rows += np.split(ids.values.numpy(), ids.row_splits[1:-1].numpy())
        return rows

    def logits(self, texts, batch_size=64) -> np.ndarray:
        """Return the scores of the labels, `(N, C)` float32."""
        rows = self.encode_rows(_as_list(texts))
        logits = np.zeros((len(rows), len(self.labels)), "float32")
        # Texts of like length go together, so that little is padding.
        order = np.argsort([len(row) for row in rows], kind="stable")
        for at in range(0, len(rows), batch_size):
            places = order[at : at + batch_size]
            longest = max(1, *(len(rows[place]) for place in places))
            ids = np.zeros((len(places), longest), "int32")
            for n, place in enumerate(places):
                ids[n, : len(rows[place])] = rows[place]
            logits[places] = self.model.predict_on_batch(ids)
        return logits

    def predict(self, texts, batch_size=64) -> np.ndarray:
        """Return the probabilities of the labels, `(N, C)` float32.

        Any text has an answer: one without a known word gets what the model
        thinks of nothing.
        """
        logits = self.logits(texts, batch_size)
        logits = logits - logits.max(axis=-1, keepdims=True, initial=-1e30)
        odds = np.exp(logits)
        return odds / odds.sum(axis=-1, keepdims=True)

    def save(self, folder) -> None:
        """Write `model.keras` and `classifier.json`, with the tokenizer."""
        save_parts(
            folder,
            DESCRIPTION,
            self.model,
            self.tokenizer,
            labels=self.labels,
            max_length=self.max_length,
            settings=self.settings,
        )

    @classmethod
    def load(cls, folder):
        """Return the classifier that `save` wrote into `folder`."""
        tokenizer, model, rest = load_parts(folder, DESCRIPTION, "sentiment")
        return cls(tokenizer, model, **rest)


def _rows(tokenizer, texts):
    return tokenizer.tokenize(_as_list(texts))


def _as_list(texts):
    return [texts] if isinstance(texts, str | bytes) else texts
