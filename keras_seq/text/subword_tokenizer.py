"""Subword tokens by byte-pair encoding (Sennrich et al., 2016)."""

import base64
import io
import pathlib
import tempfile
from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np
import tensorflow as tf
import tensorflow_text as tf_text

from keras_seq.text.normalization import check_form, normalize, source_spans
from keras_seq.text.tokenizer import Tokenizer
from keras_seq.text.training_texts import batches_of_texts

SPACE = "\u2581"  # how SentencePiece writes the space before a word
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))


@keras.saving.register_keras_serializable(package="keras_seq")
class SubwordTokenizer(Tokenizer):
    """Words as a few frequent pieces each, learned from text in seconds.

    SentencePiece's byte-pair encoding, run in graph by tensorflow-text. A
    character that the vocabulary lacks is spelled in its UTF-8 bytes, each of
    which is a token, so there are no unknown words and
    `detokenize(tokenize(x)) == normalize(x)` for every `x`.

    Differs from `keras_hub.tokenizers.SentencePieceTokenizer`: text is
    normalized before SentencePiece sees it, so that offsets lead back to the
    original text; ids 0 to 3 are fixed; `detokenize` cannot be made to fail.

    Shapes:
        texts `(B,)` -> token_ids `(B, T)` int32; padding is 0, so
        `Embedding(mask_zero=True)` and `ops.padding_mask` know it.

    Args:
        proto: What `train` made: a serialized SentencePiece model, as bytes or
            in base64.
        form: Unicode normal form, "NFC" or "NFKC" or None; see
            `text.normalize`.
        lowercase: Whether texts are lower-cased.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> texts = ["the cat sat on the mat", "the dog sat on the log"]
        >>> tokenizer = SubwordTokenizer.train(texts, vocabulary_size=290)
        >>> token_ids = tokenizer(["the cat", "on the mat sat the cat"])
        >>> tokenizer.detokenize(token_ids).numpy().tolist()
        [b'the cat', b'on the mat sat the cat']
        >>> spans = tokenizer.tokenize_with_offsets("the  dog")
        >>> [b.decode() for b in spans.tokens.numpy()]
        ['▁the', '▁dog']
        >>> spans.starts.numpy().tolist(), spans.ends.numpy().tolist()
        ([0, 5], [3, 8])

    Reference: <https://arxiv.org/abs/1508.07909>
    """

    def __init__(self, proto, form="NFC", lowercase=False, **kwargs):
        super().__init__(**kwargs)
        check_form(form)
        self.proto = (
            base64.b64decode(proto) if isinstance(proto, str) else proto
        )
        self.form = form
        self.lowercase = bool(lowercase)
        with tf.init_scope():
            model = self._sentencepiece()
            pieces = model.id_to_string(tf.range(model.vocab_size())).numpy()
        vocabulary = [piece.decode() for piece in pieces]
        if (*self.SPECIAL_TOKENS, *BYTES) != tuple(vocabulary[:260]):
            raise ValueError(
                "`proto` must be a model made by `SubwordTokenizer.train`: "
                "ids 0 to 3 special, the next 256 the bytes. Received: a "
                f"model that begins with {vocabulary[:5]}"
            )
        self._set_vocabulary(vocabulary)
        with tf.init_scope():
            self._num_bytes = tf.constant([_num_bytes(t) for t in vocabulary])
            self._num_spaces = tf.constant(
                [int(token.startswith(SPACE)) for token in vocabulary]
            )
        # The model lives inside these two functions. Made outside of one, it
        # dies whenever a seed is set (TensorFlow drops its eager kernels,
        # and the model with them), and an export has to be told to track it.
        self._encode = tf.function(
            lambda strings: self._sentencepiece().tokenize(strings),
            input_signature=[tf.TensorSpec((None,), tf.string)],
        )
        self._decode = tf.function(
            lambda token_ids: self._sentencepiece().detokenize(token_ids),
            input_signature=[tf.RaggedTensorSpec((None, None), tf.int32)],
        )

    @classmethod
    def train(
        cls,
        texts,
        vocabulary_size=8000,
        form="NFC",
        lowercase=False,
        character_coverage=0.9995,
        **kwargs,
    ):
        """Learn the pieces from `texts`; the same texts give the same bytes.

        Args:
            texts: Strings, a list, an iterable or a `tf.data.Dataset` of them.
            vocabulary_size: How many ids, at most: a small text may not have
                that many different pieces. 260 are the special ones and bytes.
            form: As in the constructor.
            lowercase: As in the constructor.
            character_coverage: Share of the characters of `texts` that get a
                token of their own; the rest is spelled in bytes.
            **kwargs: Passed to the constructor.

        Returns:
            A `SubwordTokenizer`.
        """
        check_form(form)
        if vocabulary_size <= len(cls.SPECIAL_TOKENS) + len(BYTES):
            raise ValueError(
                "`vocabulary_size` must be more than 260: four special tokens "
                f"and 256 bytes. Received: {vocabulary_size}"
            )
        lines = [
            line
            for batch in batches_of_texts(texts)
            for line in normalize(batch, form, lowercase).numpy()
            if line
        ]
        if not lines:
            raise ValueError("`texts` must hold text. Received: none in it")
        try:
            proto = _learn(lines, vocabulary_size, character_coverage)
        except RuntimeError as error:
            raise ValueError(
                "SentencePiece could not learn from `texts`. "
                f"Received: vocabulary_size={vocabulary_size}, "
                f"character_coverage={character_coverage}; it said: {error}"
            ) from error
        return cls(proto, form, lowercase, **kwargs)

    def normalize(self, texts):
        return normalize(texts, self.form, self.lowercase)

    def sample(self, texts, dropout, seed=0) -> list[np.ndarray]:
        """Return ids of texts whose words are split by chance.

        Each merge of two pieces is left out with the probability `dropout`
        (Provilkov et al., 2020), so that a model meets a word in many
        spellings, and learns from few texts what its parts mean. To learn
        from; not in graph.

        Args:
            texts: A list of strings.
            dropout: 0 gives what `tokenize` gives, 1 single characters.
            seed: The same seed gives the same ids.

        Returns:
            For each text an int32 array of its own length.

        Example:
            >>> texts = ["the cat sat on the mat", "the dog sat on the log"]
            >>> tokenizer = SubwordTokenizer.train(texts, vocabulary_size=290)
            >>> rows = [tokenizer.sample(["the mat"], p)[0] for p in (0, 1)]
            >>> len(rows[0]) < len(rows[1]) == 8
            True

        Reference: <https://arxiv.org/abs/1910.13267>
        """
        if not 0 <= dropout <= 1:
            raise ValueError(
                "`dropout` must be between 0 and 1. "
                f"Received: dropout={dropout}"
            )
        lines = [
            line.decode()
            for batch in batches_of_texts(texts)
            for line in self.normalize(batch).numpy()
        ]
        rows = _split_by_chance(self.proto, lines, dropout, seed)
        return [np.array(row, "int32") for row in rows]

    def get_config(self):
        return {
            **super().get_config(),
            "proto": base64.b64encode(self.proto).decode(),
            "form": self.form,
            "lowercase": self.lowercase,
        }

    def _sentencepiece(self):
        return tf_text.SentencepieceTokenizer(self.proto, out_type=tf.int32)

    def _split(self, strings):
        return self._encode(self.normalize(strings))

    def _join(self, token_ids):
        return self._decode(token_ids)

    def _split_with_spans(self, strings):
        # The pieces of a row, in bytes, are " " + normalize(row): adding up
        # their lengths gives their place in it.
        ids = self._split(strings)
        length = tf.gather(self._num_bytes, ids.values)
        last = tf.cumsum(length)
        row_ends = tf.gather(tf.concat([[0], last], 0), ids.row_splits)
        last -= tf.gather(row_ends[:-1], ids.value_rowids()) + 1
        first = last - length + tf.gather(self._num_spaces, ids.values)
        source = source_spans(strings, self.form, self.lowercase)
        row_starts = tf.cast(
            tf.gather(source[0].row_starts(), ids.value_rowids()), tf.int32
        )
        starts = tf.gather(source[0].values, row_starts + first)
        # A space that stands alone, before a word spelled in bytes, has no
        # character of its own: it is an empty span where that word begins.
        byte = row_starts + tf.maximum(last - 1, first)
        ends = tf.where(first < last, tf.gather(source[1].values, byte), starts)
        return ids.with_values(starts), ids.with_values(ends), ids


def _learn(lines, vocabulary_size, character_coverage):
    """Return the serialized model that SentencePiece learns from `lines`."""
    # Needed only to learn; to run, tensorflow-text will do.
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    pad, unknown, start, end = Tokenizer.SPECIAL_TOKENS
    learned = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        # `normalize` has been here: this rule finds nothing to change. With
        # none, every process that loads the model says so on its screen.
        rules = pathlib.Path(folder, "rules.tsv")
        rules.write_text("2581\t20\n")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=learned,
            model_type="bpe",
            vocab_size=vocabulary_size,
            hard_vocab_limit=False,
            byte_fallback=True,
            character_coverage=character_coverage,
            normalization_rule_tsv=str(rules),
            remove_extra_whitespaces=False,
            max_sentence_length=2**30,  # longer ones would be skipped
            **{"pad_id": 0, "pad_piece": pad},
            **{"unk_id": 1, "unk_piece": unknown, "unk_surface": "\ufffd"},
            **{"bos_id": 2, "bos_piece": start},
            **{"eos_id": 3, "eos_piece": end},
            num_threads=2,
            minloglevel=2,
        )
    model = sentencepiece_model_pb2.ModelProto.FromString(learned.getvalue())
    model.normalizer_spec.ClearField("normalization_rule_tsv")
    return model.SerializeToString(deterministic=True)


def _split_by_chance(proto, lines, dropout, seed):
    # As in `_learn`: only for learning.
    import sentencepiece

    splitter = sentencepiece.SentencePieceProcessor(model_proto=proto)

    def split():
        sentencepiece.set_random_generator_seed(seed)
        return splitter.encode(
            lines,
            enable_sampling=dropout > 0,
            alpha=float(dropout),
            nbest_size=-1,
            num_threads=1,
        )

    # A thread of SentencePiece takes the seed when it first draws, and never
    # again: one that is new has not drawn yet.
    with ThreadPoolExecutor(max_workers=1) as new_thread:
        return new_thread.submit(split).result()


def _num_bytes(token):
    if token in Tokenizer.SPECIAL_TOKENS:
        return 0
    if token in BYTES:
        return 1
    return len(token.replace(SPACE, " ").encode())
