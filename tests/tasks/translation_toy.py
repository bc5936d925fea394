"""A language of ten words, learned in seconds: each has one translation."""

import random

from keras_seq.data import Dataset

WORDS = {
    "one": "un",
    "two": "deux",
    "cat": "chat",
    "dog": "chien",
    "red": "rouge",
    "blue": "bleu",
    "sees": "voit",
    "eats": "mange",
    "and": "et",
    "here": "ici",
}
# Enough for a small model to learn it, in few updates.
SETTINGS = {
    "preset": "test",
    "hidden_dim": 32,
    "intermediate_dim": 64,
    "num_heads": 2,
    "dropout": 0.0,
    "vocabulary_size": 330,
    "tokens_per_batch": 256,
    "learning_rate": 5e-3,
    "warmup_steps": 20,
    "average_decay": 0.9,
    "label_smoothing": 0.0,
}


def toy_dataset(size=2500, seed=0):
    rng = random.Random(seed)

    def pairs(count):
        sources = [
            rng.choices(list(WORDS), k=rng.randint(1, 4)) for _ in range(count)
        ]
        return {
            "source": [" ".join(words) for words in sources],
            "target": [
                " ".join(WORDS[word] for word in words) for words in sources
            ],
        }

    return Dataset(
        "toy",
        "CC0",
        {"train": pairs(size), "validation": pairs(40), "test": pairs(40)},
    )
