"""What a translation training makes: a tokenizer, a model, their settings."""

import warnings

import keras
import numpy as np
import tensorflow as tf

from keras_seq import decoding
from keras_seq.tasks.trained_folder import load_parts, save_parts
from keras_seq.text import Tokenizer

DESCRIPTION = "translator.json"
# A translation may have this many times the tokens of its source, and some.
STRETCH, SLACK = 2, 10


class Translator:
    """Text in one language in, text in another out.

    Args:
        tokenizer: A `text.Tokenizer`, for both languages.
        model: An encoder-decoder with `start` and `step`, such as
            `models.transformer`.
        max_length: The most tokens that are read of a sentence, its end
            included; what comes after is cut off, with a warning.
        settings: How it was made, for `run.json` and the model card.

    Example:
        >>> from keras_seq.models import transformer
        >>> from keras_seq.text import SubwordTokenizer
        >>> tokenizer = SubwordTokenizer.train(["a cat", "un chat"], 270)
        >>> model = transformer(tokenizer.vocabulary_size, "test")
        >>> translator = Translator(tokenizer, model)
        >>> len(translator.translate(["a cat", ""]))
        2
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        model: keras.Model,
        max_length: int = 200,
        settings: dict | None = None,
    ):
        vocabulary_size = model.output_shape[-1]
        if vocabulary_size != tokenizer.vocabulary_size:
            raise ValueError(
                "`tokenizer` must have the vocabulary of the model, "
                f"{vocabulary_size} tokens. "
                f"Received: {tokenizer.vocabulary_size}"
            )
        self.tokenizer = tokenizer
        self.model = model
        self.max_length = max_length
        self.settings = dict(settings or {})
        self._searches = {}

    @property
    def coverage_penalty(self) -> float:
        """How much its search favours what has looked at all of a source."""
        return self.settings.get("coverage_penalty", 0.0)

    def encode(self, texts):
        """Return `source_ids`, `(B, S)` int32, each row with its end token.

        Runs in graph.
        """
        return self.tokenizer(
            _as_list(texts), max_length=self.max_length, add_end=True
        )

    def encode_rows(self, texts, chunk_size=2048) -> list[np.ndarray]:
        """Return ids of many texts, neither cut nor ended nor padded."""
        texts, rows = list(texts), []
        for at in range(0, len(texts), chunk_size):
            ids = self.tokenizer.tokenize(texts[at : at + chunk_size])
            rows += np.split(ids.values.numpy(), ids.row_splits[1:-1].numpy())
        return rows

    def search(
        self,
        source_ids,
        beam_size=4,
        length_penalty=0.6,
        coverage_penalty=None,
        n_best=1,
        max_steps=None,
    ):
        """Return the best translations as `decoding.Decoded`. Runs in graph.

        A source without a token of text has the empty translation.

        Args:
            source_ids: `(B, S)`, as `encode` gives them.
            beam_size: 1 is greedy search.
            length_penalty: As in `decoding.beam_search`.
            coverage_penalty: As in `decoding.beam_search`; by default what
                the settings say, or 0.
            n_best: How many translations of each; at most `beam_size`.
            max_steps: The most tokens of any translation, as a Python
                integer: room to reserve, which a compiled loop needs. By
                default the state grows as it goes.

        Returns:
            `token_ids` `(B, n_best, T)`, `scores` and `lengths`
            `(B, n_best)`.
        """
        real = tf.cast(source_ids != self.tokenizer.pad_id, tf.int32)
        lengths = tf.reduce_sum(real, axis=1)
        limits = tf.where(lengths > 1, STRETCH * lengths + SLACK, 0)
        if coverage_penalty is None:
            coverage_penalty = self.coverage_penalty
        if max_steps is not None:
            limits = tf.minimum(limits, max_steps)
        return decoding.beam_search(
            self.model.stepper(),
            self.model.start(source_ids, max_length=max_steps),
            tf.fill(tf.shape(source_ids)[:1], self.tokenizer.start_id),
            self.tokenizer.end_id,
            limits,
            beam_size=beam_size,
            length_penalty=length_penalty,
            coverage_penalty=coverage_penalty,
            n_best=n_best,
            room=max_steps,
        )

    def translate(
        self,
        texts,
        beam_size=4,
        length_penalty=0.6,
        coverage_penalty=None,
        batch_size=64,
    ) -> list[str]:
        """Return the best translation of each text.

        Args:
            texts: A list of strings; sentences of like length are translated
                together, whatever order they come in.
            beam_size: 1 is greedy search, faster and a little worse.
            length_penalty: As in `decoding.beam_search`.
            coverage_penalty: As in `search`.
            batch_size: How many at a time.
        """
        rows = self._cut(self.encode_rows(_as_list(texts)))
        if coverage_penalty is None:
            coverage_penalty = self.coverage_penalty
        search = self._compiled(beam_size, length_penalty, coverage_penalty)
        found = [""] * len(rows)
        order = np.argsort([len(row) for row in rows], kind="stable")
        for at in range(0, len(rows), batch_size):
            places = order[at : at + batch_size]
            ids = pad_rows([rows[place] for place in places])
            for place, text in zip(places, search(ids).numpy(), strict=True):
                found[place] = text.decode("utf-8", "replace")
        return found

    def save(self, folder) -> None:
        """Write `model.keras` and `translator.json`, with the tokenizer."""
        save_parts(
            folder,
            DESCRIPTION,
            self.model,
            self.tokenizer,
            max_length=self.max_length,
            settings=self.settings,
        )

    @classmethod
    def load(cls, folder):
        """Return the translator that `save` wrote into `folder`."""
        tokenizer, model, rest = load_parts(folder, DESCRIPTION, "translation")
        return cls(tokenizer, model, **rest)

    def _cut(self, rows):
        room = self.max_length - 1
        too_long = sum(len(row) > room for row in rows)
        if too_long:
            warnings.warn(
                f"{too_long} of {len(rows)} texts have more than {room} tokens "
                "and are cut there; translate them sentence by sentence.",
                stacklevel=3,
            )
        end = [self.tokenizer.end_id]
        return [np.concatenate([row[:room], end]) for row in rows]

    def _compiled(self, *how):
        """Return a graph from `source_ids` to texts, traced only once."""
        if how not in self._searches:

            @tf.function(
                input_signature=[tf.TensorSpec((None, None), tf.int32)],
                autograph=False,
            )
            def search(source_ids):
                found = self.search(source_ids, *how)
                return self.tokenizer.detokenize(found.token_ids[:, 0])

            self._searches[how] = search
        return self._searches[how]


def pad_rows(rows) -> np.ndarray:
    """Return `(B, T)` int32 with 0 after the end of each row."""
    padded = np.zeros((len(rows), max(map(len, rows), default=0)), "int32")
    for n, row in enumerate(rows):
        padded[n, : len(row)] = row
    return padded


def _as_list(texts):
    return [texts] if isinstance(texts, str | bytes) else texts
