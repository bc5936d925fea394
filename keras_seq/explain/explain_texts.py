"""Texts in; the answer of a model, and the weight of every word, out."""

import numpy as np

from keras_seq.explain.word_weights import word_weights


def explain_texts(weigh, tokenizer, texts, max_length=None, batch_size=128):
    """Return `(outputs (N, C), [WeightedWords, ...])` of N texts.

    Args:
        weigh: What `token_weights` returned for a model.
        tokenizer: A `keras_seq.text.Tokenizer`, or what has its call and its
            `tokenize_with_offsets`.
        texts: A list of strings.
        max_length: How many tokens of a text the model reads; None is all.
        batch_size: How many texts are run at once.

    Example:
        >>> import keras
        >>> from keras_seq.explain import token_weights
        >>> from keras_seq.text import WordTokenizer
        >>> tokenizer = WordTokenizer(["good", "bad"])
        >>> ids = keras.Input((None,), dtype="int32")
        >>> embed = keras.layers.Embedding(6, 3, name="token_embedding")
        >>> x = keras.layers.GlobalMaxPooling1D()(embed(ids))
        >>> weigh = token_weights(keras.Model(ids, keras.layers.Dense(2)(x)))
        >>> outputs, words = explain_texts(weigh, tokenizer, ["Bad, bad!"])
        >>> outputs.shape, words[0].words
        ((1, 2), ['Bad', ',', 'bad', '!'])
    """
    if isinstance(texts, str):
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
        some = [texts[i] for i in places]
        spans = tokenizer.tokenize_with_offsets(some)
        rows = run(_with_a_column(tokenizer(some, max_length=max_length)))
        rows = [_numpy(array) for array in rows]
        starts, ends = spans.starts.to_list(), spans.ends.to_list()
        for i, place in enumerate(places):
            outputs[place] = rows[0][i]
            words[place] = word_weights(
                texts[place], starts[i], ends[i], rows[1][i]
            )
    return np.array(outputs), words


def _with_a_column(token_ids):
    """Return `(B, T)` ids with T at least 1: a batch of empty texts has none.

    >>> _with_a_column(np.zeros((2, 0), "int32")).shape
    (2, 1)
    """
    ids = np.asarray(token_ids)
    return ids if ids.shape[1] else np.zeros((len(ids), 1), "int32")


def _numpy(tensor):
    # Here, so that this module does not load Keras before it is used.
    from keras import ops

    return ops.convert_to_numpy(tensor)
