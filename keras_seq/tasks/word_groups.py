"""Tokens joined to words, and attention between tokens to words, in graph."""

import tensorflow as tf

# A piece of a word that goes on begins with a letter or a digit, or is a byte
# of a character that the vocabulary does not have.
_GOES_ON = r"^([\pL\pM\pN_]|<0x[0-9A-F]{2}>).*"
_ELIDED = r".*['’]$"
_SPACE = (
    "▁"  # a space that SentencePiece left alone, before what it did not know
)


def word_of_token(tokens):
    """Return the number of the word that each token belongs to.

    A word begins with a space, with a mark that is no letter, and after an
    apostrophe: "l'" is a word, and so is "!". A space alone is no word: it
    belongs to what follows, and to what was before if nothing does.

    Args:
        tokens: Ragged strings `(B, T)`, as a `text.SubwordTokenizer` has them.

    Returns:
        Ragged int32 `(B, T)`, from 0 on in each row.

    Example:
        >>> rows = tf.ragged.constant([["▁l", "'", "eau", "x", "!"], []])
        >>> word_of_token(rows).to_list()
        [[0, 1, 2, 2, 3], []]
    """
    goes_on = tf.strings.regex_full_match(tokens.values, _GOES_ON)
    before = tf.concat([[""], tokens.values[:-1]], axis=0)
    before = before[: tf.shape(tokens.values)[0]]
    goes_on &= ~tf.strings.regex_full_match(before, _ELIDED)
    place = tf.ragged.range(tokens.row_lengths()).values
    of_row = tf.gather(tokens.row_lengths(), tokens.value_rowids())
    last = tf.cast(place, tf.int64) + 1 == tf.cast(of_row, tf.int64)
    goes_on |= (before == _SPACE) | ((tokens.values == _SPACE) & last)
    # A row begins with a word however its first token looks.
    first = place == 0
    begins = tf.cast(~goes_on | first, tf.int32)
    so_far = tf.cumsum(begins)
    before_row = tf.gather(
        tf.concat([[0], so_far], axis=0), tokens.row_starts()
    )
    number = so_far - 1 - tf.gather(before_row, tokens.value_rowids())
    return tokens.with_values(number)


def join_words(ids, words, detokenize):
    """Return the words that the tokens make, ragged strings `(B, W)`.

    Args:
        ids: Ragged int32 `(B, T)`, the ids of the tokens.
        words: What `word_of_token` returned for them.
        detokenize: From ids to texts, as `text.Tokenizer` has it.
    """
    counts = _words_in_rows(words)
    starts = tf.cumsum(counts, exclusive=True)
    word = words.values + tf.gather(starts, words.value_rowids())
    tokens = tf.RaggedTensor.from_value_rowids(
        ids.values, word, nrows=tf.reduce_sum(counts)
    )
    return tf.RaggedTensor.from_row_lengths(detokenize(tokens), counts)


def attention_between_words(weights, target_words, source_words):
    """Return what each target word gives to each source word.

    The mean over the tokens of the one, the sum over those of the other.

    Args:
        weights: `(B, T, S)` attention between tokens; what stands beyond the
            tokens of a row (an end token, padding) belongs to no word.
        target_words: `word_of_token` of the targets.
        source_words: `word_of_token` of the sources.

    Returns:
        `(B, W of targets, W of sources)`, 0 beyond the words of a row.
    """
    length, key_length = tf.shape(weights)[1], tf.shape(weights)[2]
    targets = _membership(target_words, length)  # (B, W, T)
    sources = _membership(source_words, key_length)
    tokens = tf.reduce_sum(targets, axis=2, keepdims=True)
    mean = tf.math.divide_no_nan(targets, tokens)
    return tf.matmul(tf.matmul(mean, weights), sources, transpose_b=True)


def _membership(words, length):
    most = tf.reduce_max(tf.concat([[0], _words_in_rows(words)], axis=0))
    ids = words.to_tensor(-1)[:, :length]
    ids = tf.pad(
        ids, [[0, 0], [0, length - tf.shape(ids)[1]]], constant_values=-1
    )
    return tf.transpose(tf.one_hot(ids, most), (0, 2, 1))


def _words_in_rows(words):
    """How many words each row has, `(B,)` int32."""
    last = tf.reduce_max(words, axis=1)
    # The largest of no number is the smallest there is.
    return tf.maximum(last + 1, 0)
