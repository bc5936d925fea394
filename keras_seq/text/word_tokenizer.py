"""Whole words as tokens: the tokenizer that fits on a page."""

import collections

import keras
import tensorflow as tf

from keras_seq.text.normalization import clean, lower
from keras_seq.text.strings import as_strings
from keras_seq.text.tokenizer import Tokenizer
from keras_seq.text.training_texts import batches_of_texts

# A word: letters with their marks, digits, and apostrophes or hyphens
# between them. Any other character but a space is a token of its own.
TOKEN = r"[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|[^ ]"
MARK = "\x1f"  # a control character, so `clean` has left none in the text


@keras.saving.register_keras_serializable(package="keras_seq")
class WordTokenizer(Tokenizer):
    """Words and punctuation marks, each one id; rare words are all unknown.

    Written with core TensorFlow ops alone, so a SavedModel with it needs no
    tensorflow-text. Its `normalize` is the text with one space between
    tokens, and `detokenize(tokenize(x)) == normalize(x)` as long as no word
    is unknown. It applies no Unicode normal form: "é" and "e" + U+0301 are two
    spellings. Scripts that write no spaces come out as one long word; use
    `SubwordTokenizer` for those.

    Differs from `keras.layers.TextVectorization`: lower-cases every script,
    keeps punctuation, knows character offsets and the way back to text.

    Shapes:
        texts `(B,)` -> token_ids `(B, T)` int32, padded with 0.

    Args:
        words: The known words, in the order of their ids, which begin at 4.
        lowercase: Whether texts are lower-cased.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> tokenizer = WordTokenizer.train(["It's good!", "Good, not bad."])
        >>> tokenizer.vocabulary()[4:]
        ['good', '!', ',', '.', 'bad', "it's", 'not']
        >>> tokenizer(["good good!", "so bad"]).numpy().tolist()
        [[4, 4, 5], [1, 8, 0]]
        >>> tokenizer.normalize("It's   GOOD!").numpy().decode()
        "it's good !"
    """

    def __init__(self, words, lowercase=True, **kwargs):
        super().__init__(**kwargs)
        self.words = list(words)
        self.lowercase = bool(lowercase)
        if len(set(self.words)) != len(self.words):
            twice = collections.Counter(self.words).most_common(1)[0][0]
            raise ValueError(
                f"`words` must be distinct. Received: {twice!r} twice"
            )
        self._set_vocabulary([*self.SPECIAL_TOKENS, *self.words])
        first = len(self.SPECIAL_TOKENS)
        with tf.init_scope():
            self._table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(
                    self._tokens[first:],
                    tf.range(first, self.vocabulary_size),
                ),
                default_value=self.unknown_id,
            )

    @classmethod
    def train(
        cls,
        texts,
        vocabulary_size=20000,
        min_count=1,
        lowercase=True,
        **kwargs,
    ):
        """Keep the most frequent words of `texts`, ties in code point order.

        Args:
            texts: Strings, a list, an iterable or a `tf.data.Dataset` of them.
            vocabulary_size: How many ids, at most, the four special included.
            min_count: Words seen less often are unknown.
            lowercase: As in the constructor.
            **kwargs: Passed to the constructor.

        Returns:
            A `WordTokenizer`.
        """
        room = vocabulary_size - len(cls.SPECIAL_TOKENS)
        if room < 1:
            raise ValueError(
                "`vocabulary_size` must be more than 4, the special tokens. "
                f"Received: {vocabulary_size}"
            )
        counts = collections.Counter()
        for batch in batches_of_texts(texts):
            _, words = _gaps_and_words(batch)
            words = lower(words.values) if lowercase else words.values
            counts.update(words.numpy().tolist())
        if not counts:
            raise ValueError("`texts` must hold text. Received: none in it")
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        kept = [word for word in ranked[:room] if counts[word] >= min_count]
        return cls([word.decode() for word in kept], lowercase, **kwargs)

    def normalize(self, texts):
        texts = as_strings(texts)
        if isinstance(texts, tf.RaggedTensor):
            return texts.with_flat_values(self.normalize(texts.flat_values))
        _, words = _gaps_and_words(tf.reshape(texts, [-1]))
        lines = tf.strings.reduce_join(self._cased(words), -1, separator=" ")
        return tf.reshape(lines, tf.shape(texts))

    def get_config(self):
        return {
            **super().get_config(),
            "words": self.words,
            "lowercase": self.lowercase,
        }

    def _cased(self, words):
        if not self.lowercase:
            return words
        return words.with_values(lower(words.values))

    def _split(self, strings):
        _, words = _gaps_and_words(strings)
        return words.with_values(self._table.lookup(self._cased(words).values))

    def _split_with_spans(self, strings):
        gaps, words = _gaps_and_words(strings)
        length = tf.strings.length(words.values, "UTF8_CHAR")
        last = tf.cumsum(gaps.values + length)
        row_ends = tf.gather(tf.concat([[0], last], 0), words.row_splits)
        last -= tf.gather(row_ends[:-1], words.value_rowids())
        ids = words.with_values(self._table.lookup(self._cased(words).values))
        return words.with_values(last - length), words.with_values(last), ids

    def _join(self, token_ids):
        return tf.strings.reduce_join(
            self.id_to_token(token_ids), -1, separator=" "
        )


def _gaps_and_words(strings):
    """Split `(N,)` strings into words, each with the gap before it.

    Returns:
        Two ragged `(N, words)` tensors: how many spaces stand before the
        word, and the word.
    """
    marked = tf.strings.regex_replace(clean(strings), TOKEN, r"\0" + MARK)
    pieces = tf.strings.split(marked, sep=MARK)
    words = tf.strings.strip(pieces.values)  # "  word" -> "word"
    gaps = tf.strings.length(pieces.values) - tf.strings.length(words)
    # After the last word comes a piece that is only a gap.
    is_word = pieces.with_values(words != "")
    return (
        tf.ragged.boolean_mask(pieces.with_values(gaps), is_word),
        tf.ragged.boolean_mask(pieces.with_values(words), is_word),
    )
