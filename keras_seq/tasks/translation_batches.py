"""Pairs of sentences as batches to learn from, or to be scored on."""

import numpy as np

from keras_seq.data import Batches


def training_batches(translator, columns, how, seed=0, shuffle=True):
    """Return `data.Batches` of `({"source_ids", "target_ids"}, labels)`.

    `target_ids` begin with the start token and `labels` end with the end
    token. Pairs with a side longer than `max_length` are left out.
    """
    start, end = translator.tokenizer.start_id, translator.tokenizer.end_id
    room = how["max_length"] - 1
    pairs = [
        (source, target)
        for source, target in zip(
            translator.encode_rows(columns["source"]),
            translator.encode_rows(columns["target"]),
            strict=True,
        )
        if max(len(source), len(target)) <= room
    ]
    if not pairs:
        raise ValueError(
            "`max_length` must leave pairs to learn from. "
            f"Received: {how['max_length']}"
        )
    inputs = {
        "source_ids": [np.append(source, end) for source, _ in pairs],
        "target_ids": [np.insert(target, 0, start) for _, target in pairs],
    }
    labels = [np.append(target, end) for _, target in pairs]
    return Batches(
        (inputs, labels),
        tokens_per_batch=how["tokens_per_batch"],
        shuffle=shuffle,
        seed=seed,
    )
