"""Count in how many texts of each class an n-gram stands."""

import numpy as np
from keras import ops


def count_ngrams(rows, labels, find_keys, num_classes, chunk_size=512):
    """Return the keys of all n-grams, sorted, and their counts.

    Args:
        rows: Sequences of token ids, without padding.
        labels: The class of each.
        find_keys: From padded token ids `(B, T)` to the keys `(B, M)` of
            their n-grams, 0 where there is none.
        num_classes: How many classes.
        chunk_size: How many rows to look at together.

    Returns:
        `(keys (G,) int32, counts (G, num_classes) float64)`: a text counts
        once for an n-gram, however often it stands there.
    """
    found = [[] for _ in range(num_classes)]
    for at in range(0, len(rows), chunk_size):
        chunk = rows[at : at + chunk_size]
        longest = max(len(row) for row in chunk)
        token_ids = np.zeros((len(chunk), longest), "int32")
        for n, row in enumerate(chunk):
            token_ids[n, : len(row)] = row
        keys = ops.convert_to_numpy(find_keys(token_ids))
        for row, label in zip(keys, labels[at : at + chunk_size], strict=True):
            distinct = np.unique(row)
            found[label].append(distinct[distinct != 0])
    found = [np.concatenate([np.zeros(0, "int32"), *sets]) for sets in found]
    keys = np.unique(np.concatenate(found))
    counts = [
        np.bincount(np.searchsorted(keys, of_class), minlength=len(keys))
        for of_class in found
    ]
    return keys, np.stack(counts, axis=1).astype("float64")
