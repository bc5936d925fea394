"""The texts a tokenizer learns from, whatever they are kept in."""

import itertools

import tensorflow as tf

from keras_seq.text.strings import as_strings


def batches_of_texts(texts, batch_size=1024):
    """Yield `texts` as `(N,)` string tensors.

    Args:
        texts: One string, or an iterable of strings: a list, a file, a
            generator, a NumPy array, a `tf.data.Dataset` (batched or not).
        batch_size: How many items to take at a time.
    """
    if isinstance(texts, str | bytes):
        texts = [texts]
    if isinstance(texts, tf.data.Dataset):
        texts = texts.as_numpy_iterator()
    texts = iter(texts)
    while batch := list(itertools.islice(texts, batch_size)):
        strings = as_strings(batch)
        if isinstance(strings, tf.RaggedTensor):
            strings = strings.flat_values
        yield tf.reshape(strings, [-1])
