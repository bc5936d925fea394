"""What every tokenizer promises: text to token ids and back, in graph."""

from typing import NamedTuple

import keras
import tensorflow as tf

from keras_seq.text.strings import as_strings


class TokenSpans(NamedTuple):
    """Tokens of texts and where they stand; fields are ragged, `(B, T)`.

    Attributes:
        tokens: The vocabulary entry of each token, as a string.
        starts: First character of the token in the original text (int32).
        ends: One past its last character; characters are code points, so
            `text[start:end]` in Python is what the token was made from.
        ids: The token ids (int32).
    """

    tokens: tf.RaggedTensor
    starts: tf.RaggedTensor
    ends: tf.RaggedTensor
    ids: tf.RaggedTensor


class Tokenizer(keras.layers.Layer):
    """Base of the tokenizers: a layer without weights, from text to ids.

    Ids 0 to 3 are the same everywhere: padding, unknown, start, end. No text
    makes them (unknown words aside, where a tokenizer has such): "<s>" in a
    text is three characters.

    Texts may be one string, a list, a NumPy array, a string tensor `(B,)` or
    `(B, 1)` (the same thing), or of higher rank or ragged; ids get one axis
    more.

    A subclass says how to `normalize` texts, `_split` `(N,)` strings into
    ragged ids, `_split_with_spans`, `_join` ragged ids into `(N,)` strings and
    hands its `vocabulary` to `_set_vocabulary`.

    The layer is whole as soon as it is made: the vocabulary is part of its
    config. In an `ExportArchive`, call `archive.track(tokenizer)`.
    """

    pad_id = 0
    unknown_id = 1
    start_id = 2
    end_id = 3
    SPECIAL_TOKENS = ("<pad>", "<unk>", "<s>", "</s>")

    def __init__(self, **kwargs):
        kwargs.setdefault("trainable", False)
        super().__init__(**kwargs)
        self.built = True

    def __call__(self, texts, *args, **kwargs):
        tensorflow = keras.backend.backend() == "tensorflow"
        if isinstance(texts, keras.KerasTensor) or (
            tensorflow and isinstance(texts, tf.Tensor)
        ):
            return super().__call__(texts, *args, **kwargs)
        # Keras cannot carry lists of strings, nor strings on other backends.
        return self.call(texts, *args, **kwargs)

    def call(self, texts, max_length=None, add_start=False, add_end=False):
        """Return `token_ids`, `(B, T)` int32, padded with 0 to the longest.

        Args:
            texts: Strings.
            max_length: Rows longer than this, start and end included, are
                cut; the end token stays. None cuts nothing.
            add_start: Whether rows begin with `start_id`.
            add_end: Whether rows end with `end_id`.
        """
        room = _room(max_length, add_start, add_end)

        def encode(strings):
            ids = self._split(strings)
            if room is not None:
                ids = ids[:, :room]
            edge = tf.ones_like(strings, tf.int32)[:, tf.newaxis]
            parts = [
                *([edge * self.start_id] if add_start else []),
                ids,
                *([edge * self.end_id] if add_end else []),
            ]
            return (tf.concat(parts, axis=1),)

        (ids,) = _over_rows(texts, encode)
        return _padded(ids)

    def tokenize(self, texts):
        """Return ragged token ids, without start, end or padding."""
        return _over_rows(texts, lambda strings: (self._split(strings),))[0]

    def tokenize_with_offsets(self, texts):
        """Return the tokens of `texts` with their place in it: `TokenSpans`."""

        def encode(strings):
            starts, ends, ids = self._split_with_spans(strings)
            return self.id_to_token(ids), starts, ends, ids

        return TokenSpans(*_over_rows(texts, encode))

    def detokenize(self, token_ids):
        """Return the text of `token_ids`: `(B, T)` -> `(B,)` strings.

        Reading stops at the first `end_id`. Padding, start and ids that are
        not in the vocabulary (negative or too large) write nothing.
        """
        if not isinstance(token_ids, tf.Tensor | tf.RaggedTensor):
            token_ids = _as_ids(token_ids)
        if isinstance(token_ids, tf.RaggedTensor):
            token_ids = token_ids.to_tensor(self.pad_id)
        if not token_ids.dtype.is_integer:
            raise ValueError(
                "`token_ids` must be integers. "
                f"Received: dtype={token_ids.dtype.name}"
            )
        shape = tf.shape(token_ids)
        ids = tf.reshape(token_ids, (tf.reduce_prod(shape[:-1]), shape[-1]))
        ended = tf.cumsum(tf.cast(ids == self.end_id, tf.int32), axis=1) > 0
        known = (ids >= len(self.SPECIAL_TOKENS)) & (ids < self.vocabulary_size)
        known |= ids == self.unknown_id
        ids = tf.ragged.boolean_mask(tf.cast(ids, tf.int32), known & ~ended)
        texts = tf.reshape(self._join(ids), shape[:-1])
        texts.set_shape(token_ids.shape[:-1])
        return texts

    def id_to_token(self, token_ids):
        """Return the vocabulary entries of `token_ids`; "<unk>" if none."""
        if isinstance(token_ids, tf.RaggedTensor):
            return token_ids.with_flat_values(
                self.id_to_token(token_ids.flat_values)
            )
        token_ids = tf.convert_to_tensor(token_ids)
        known = (token_ids >= 0) & (token_ids < self.vocabulary_size)
        token_ids = tf.where(known, token_ids, self.unknown_id)
        return tf.gather(self._tokens, token_ids)

    def vocabulary(self) -> list[str]:
        """Return all tokens; the place of a token in the list is its id."""
        return list(self._vocabulary)

    @property
    def vocabulary_size(self) -> int:
        """How many ids there are, the four special ones included."""
        return len(self._vocabulary)

    def normalize(self, texts):
        """Return `texts` as `detokenize(tokenize(texts))` would spell them."""
        raise NotImplementedError

    def compute_output_shape(self, texts_shape, *args, **kwargs):
        if len(texts_shape) == 2 and texts_shape[-1] == 1:
            texts_shape = texts_shape[:1]
        return (*texts_shape, None)

    def compute_output_spec(self, texts, *args, **kwargs):
        shape = self.compute_output_shape(texts.shape)
        return keras.KerasTensor(shape, dtype="int32")

    def _set_vocabulary(self, vocabulary):
        self._vocabulary = tuple(vocabulary)
        with tf.init_scope():
            self._tokens = tf.constant(
                [t.encode("utf-8", "surrogatepass") for t in vocabulary]
            )

    def _split(self, strings):
        raise NotImplementedError

    def _split_with_spans(self, strings):
        raise NotImplementedError

    def _join(self, token_ids):
        raise NotImplementedError


def _room(max_length, add_start, add_end):
    if max_length is None:
        return None
    needed = int(add_start) + int(add_end)
    if max_length < max(needed, 1):
        raise ValueError(
            f"`max_length` must be at least {max(needed, 1)} to hold a token "
            f"and the start and end asked for. Received: {max_length}"
        )
    return max_length - needed


def _over_rows(texts, encode):
    """Apply `encode`, `(N,)` strings to ragged, to texts of any rank."""
    texts = as_strings(texts)
    if isinstance(texts, tf.RaggedTensor):
        flat = _over_rows(tf.reshape(texts.flat_values, [-1]), encode)
        return tuple(texts.with_flat_values(x) for x in flat)
    if texts.shape.rank == 0:
        return tuple(x[0] for x in encode(texts[tf.newaxis]))
    if texts.shape.rank == 2 and texts.shape[-1] == 1:
        texts = tf.reshape(texts, [-1])  # a column of texts
    if texts.shape.rank == 1:
        return encode(texts)
    rows = encode(tf.reshape(texts, [-1]))
    for length in reversed(tf.unstack(tf.shape(texts, tf.int64))[1:]):
        rows = tuple(
            tf.RaggedTensor.from_uniform_row_length(x, length) for x in rows
        )
    return rows


def _padded(ids):
    if not isinstance(ids, tf.RaggedTensor):
        return ids  # one text, one row
    return ids.to_tensor(Tokenizer.pad_id)


def _as_ids(token_ids):
    if hasattr(token_ids, "__array__"):  # NumPy, and tensors of any backend
        return tf.convert_to_tensor(keras.ops.convert_to_numpy(token_ids))
    try:
        return tf.constant(token_ids, tf.int32)
    except ValueError:  # rows of different lengths
        return tf.ragged.constant(token_ids, dtype=tf.int32)
