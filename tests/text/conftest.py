"""Small tokenizers, trained once for all tests of this room."""

import pytest

from keras_seq.text import SubwordTokenizer, WordTokenizer

CORPUS = [
    "A man in a blue shirt is standing on a ladder.",
    "Two dogs are playing in the snow, and a girl is watching them!",
    "It's a lovely film; I wouldn't miss it for the world.",
    "Une fille en robe rouge est assise près de la fenêtre.",
    "The straße is long. Ярко светит солнце. 你好，世界。",
    "Did the man see the two dogs? No, the man didn't see the dogs.",
] * 3


@pytest.fixture(scope="session")
def subword():
    return SubwordTokenizer.train(CORPUS, vocabulary_size=420)


@pytest.fixture(scope="session")
def word():
    return WordTokenizer.train(CORPUS)


@pytest.fixture(params=["subword", "word"])
def tokenizer(request):
    return request.getfixturevalue(request.param)
