"""Texts in; the answer of a model, and the weight of every word, out."""

import numpy as np

from keras_seq.explain.word_weights import word_weights


def explain_texts(weigh, encode, texts, batch_size=128):
    """Return `(outputs (N, C), [WeightedWords, ...])` of N texts.

    Args:
        weigh: What `token_weights` returned for a model.
        encode: From a list of strings to the tokens that the model reads and
            their places, as `keras_seq.text.TokenSpans`: the method
            `tokenize_with_offsets` of a tokenizer, or `encode_with_offsets` of
            a classifier.
        texts: A list of strings.
        batch_size: How many texts are run at once.

    Example:
        >>> import keras
        >>> from keras_seq.explain import token_weights
        >>> from keras_seq.text import WordTokenizer
        >>> encode = WordTokenizer(["good", "bad"]).tokenize_with_offsets
        >>> ids = keras.Input((None,), dtype="int32")
        >>> embed = keras.layers.Embedding(6, 3, name="token_embedding")
        >>> x = keras.layers.GlobalMaxPooling1D()(embed(ids))
        >>> weigh = token_weights(keras.Model(ids, keras.layers.Dense(2)(x)))
        >>> outputs, words = explain_texts(weigh, encode, ["Bad, bad!"])
        >>> outputs.shape, words[0].words
        ((1, 2), ['Bad', ',', 'bad', '!'])
    """
    if isinstance(texts, str | bytes):
        raise ValueError(
            f"`texts` must be a list of strings. Received: {texts!r}"
        )
    texts = list(texts)
    run = getattr(weigh, "compiled", weigh)
    # Neighbours of like length, so that batches have little padding.
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    outputs, words = [None] * len(texts), [None] * len(texts)
    for first in range(0, len(order), batch_size):
        places = order[first : first + batch_size]
        spans = encode([texts[i] for i in places])
        scores, weights = map(_numpy, run(_padded(spans.ids.to_list())))
        starts, ends = spans.starts.to_list(), spans.ends.to_list()
        for row, place in enumerate(places):
            outputs[place] = scores[row]
            words[place] = word_weights(
                texts[place], starts[row], ends[row], weights[row]
            )
    return np.array(outputs), words


def _padded(rows):
    """Return `(B, T)` ids, T at least 1: empty texts have a column of padding.

    >>> _padded([[5, 7], []]).tolist(), _padded([[]]).shape
    ([[5, 7], [0, 0]], (1, 1))
    """
    ids = np.zeros((len(rows), max([1, *map(len, rows)])), "int32")
    for row, tokens in zip(ids, rows, strict=True):
        row[: len(tokens)] = tokens
    return ids


def _numpy(tensor):
    # Here, so that this module does not load Keras before it is used.
    from keras import ops

    return ops.convert_to_numpy(tensor)
