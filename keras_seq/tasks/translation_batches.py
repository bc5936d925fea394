"""Pairs of sentences as batches to learn from, or to be scored on."""

import numpy as np

from keras_seq.data import Batches

SIDES = ("source", "target")


def training_batches(translator, columns, how, seed=0, shuffle=True):
    """Return `data.Batches` of `({"source_ids", "target_ids"}, labels)`.

    `target_ids` begin with the start token and `labels` end with the end
    token. Pairs with a side longer than `max_length` are left out.

    With `how["subword_dropout"]`, shuffled batches have words that are split
    by chance, anew in each epoch. A pair that this would make longer than
    `max_length` is left as it is.
    """
    tokenizer, room = translator.tokenizer, how["max_length"] - 1
    rows = [translator.encode_rows(columns[side]) for side in SIDES]
    fits = [
        n
        for n, pair in enumerate(zip(*rows, strict=True))
        if max(map(len, pair)) <= room
    ]
    if not fits:
        raise ValueError(
            "`max_length` must leave pairs to learn from. "
            f"Received: {how['max_length']}"
        )
    dropout = how.get("subword_dropout", 0)
    if not 0 <= dropout < 1:
        raise ValueError(
            "`subword_dropout` must be at least 0 and less than 1. "
            f"Received: {dropout}"
        )

    plain = [tuple(side[n] for side in rows) for n in fits]

    def resample(epoch):
        # Each side of each epoch has chances of its own.
        seeds = np.random.SeedSequence([seed, epoch]).generate_state(2)
        sampled = (
            tokenizer.sample([columns[side][n] for n in fits], dropout, own)
            for side, own in zip(SIDES, seeds.tolist(), strict=True)
        )
        pairs = [
            pair if max(map(len, pair)) <= room else plain[at]
            for at, pair in enumerate(zip(*sampled, strict=True))
        ]
        return _columns(tokenizer, pairs)

    return Batches(
        _columns(tokenizer, plain),
        tokens_per_batch=how["tokens_per_batch"],
        shuffle=shuffle,
        seed=seed,
        resample=resample if shuffle and dropout else None,
    )


def _columns(tokenizer, pairs):
    start, end = tokenizer.start_id, tokenizer.end_id
    inputs = {
        "source_ids": [np.append(source, end) for source, _ in pairs],
        "target_ids": [np.insert(target, 0, start) for _, target in pairs],
    }
    return inputs, [np.append(target, end) for _, target in pairs]
