"""WordTokenizer: words, punctuation, and what is unknown."""

import pytest
from hypothesis import given, settings

from keras_seq.text import WordTokenizer
from tests.oracles import normalization as oracle
from tests.text.awkward import MANY_TEXTS


def words(text, **kwargs):
    tokenizer = WordTokenizer.train([text], **kwargs)
    return [
        token.decode()
        for token in tokenizer.tokenize_with_offsets(text).tokens.numpy()
    ]


def test_punctuation_stands_alone_and_words_keep_their_apostrophe():
    assert words("It's well-made, isn't it?!") == [
        *("it's", "well-made", ",", "isn't", "it", "?", "!")
    ]
    assert words("'quoted' - so 3.5") == [
        *("'", "quoted", "'", "-", "so", "3", ".", "5")
    ]


def test_lower_case_knows_every_script_and_can_be_off():
    assert words("ÉCOLE Москва") == ["école", "москва"]
    assert words("ÉCOLE Москва", lowercase=False) == ["ÉCOLE", "Москва"]


@settings(max_examples=25, deadline=None)
@given(texts=MANY_TEXTS)
def test_spans_are_the_words_themselves(texts):
    texts = ["something", *texts]
    tokenizer = WordTokenizer.train(texts, lowercase=False)
    spans = tokenizer.tokenize_with_offsets(texts)
    for text, *row in zip(texts, *(x.to_list() for x in spans), strict=True):
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        words = ""
        for token, start, end, _ in zip(*row, strict=True):
            assert text[start:end] == token.decode()
            words += text[start:end]
        assert words == "".join(c for c in text if not oracle.is_space(c))
    again = tokenizer.detokenize(tokenizer(texts))
    assert (again == tokenizer.normalize(texts)).numpy().all()


def test_the_most_frequent_words_come_first_and_ties_by_the_alphabet():
    texts = ["b b b a a c c d"]
    assert WordTokenizer.train(texts).words == ["b", "a", "c", "d"]
    assert WordTokenizer.train(texts, vocabulary_size=6).words == ["b", "a"]
    assert WordTokenizer.train(texts, min_count=2).words == ["b", "a", "c"]


def test_other_words_are_unknown():
    tokenizer = WordTokenizer(["good", "film"])
    ids = tokenizer(["a good film", "zzz"])
    assert ids.numpy().tolist() == [[1, 4, 5], [1, 0, 0]]
    assert tokenizer.detokenize(ids)[0] == "<unk> good film"


def test_names_of_special_tokens_are_not_words():
    tokenizer = WordTokenizer.train(["<unk> <pad> <s>"])
    assert tokenizer.words == ["<", ">", "pad", "s", "unk"]


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="distinct.*Received: 'a' twice"):
        WordTokenizer(["a", "b", "a"])
    with pytest.raises(ValueError, match="`vocabulary_size`.*Received: 4"):
        WordTokenizer.train(["a"], vocabulary_size=4)
    with pytest.raises(ValueError, match="`texts`.*Received: none"):
        WordTokenizer.train([" "])


def test_every_argument_survives_the_config():
    tokenizer = WordTokenizer(["A"], lowercase=False, name="words")
    config = tokenizer.get_config()
    assert (config["words"], config["lowercase"]) == (["A"], False)
    assert WordTokenizer.from_config(config).get_config() == config
