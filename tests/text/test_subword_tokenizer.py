"""SubwordTokenizer: nothing is unknown, everything comes back."""

import base64
import functools
import time

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_seq.text import SubwordTokenizer
from tests.oracles import normalization as oracle
from tests.text.awkward import AWKWARD, FORMS, MANY_TEXTS
from tests.text.conftest import CORPUS

variant = functools.cache(SubwordTokenizer)
MANY = settings(max_examples=25, deadline=None)


@MANY
@given(texts=MANY_TEXTS, form=FORMS, lowercase=st.booleans())
def test_every_text_makes_the_round_trip(subword, texts, form, lowercase):
    tokenizer = variant(subword.proto, form, lowercase)
    again = tokenizer.detokenize(tokenizer(texts)).numpy().tolist()
    assert again == tokenizer.normalize(texts).numpy().tolist()


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_texts_make_the_round_trip(subword, name):
    text = AWKWARD[name]
    want = subword.normalize(text)
    assert subword.detokenize(subword(text)) == want
    assert subword.detokenize(subword([text]))[0] == want


@MANY
@given(texts=MANY_TEXTS)
def test_spans_hold_the_characters_of_their_token(subword, texts):
    found = subword.tokenize_with_offsets(texts)
    for text, *row in zip(texts, *(x.to_list() for x in found), strict=True):
        original = text.decode("utf-8", "replace")
        covered = set()
        for token, start, end, i in zip(*row, strict=True):
            covered |= set(range(start, end))
            if i < 260:  # a byte
                assert end > start
                continue
            surface = token.decode().removeprefix("\u2581")
            assert surface in oracle.normalize(original[start:end], "NFC")
        for at, char in enumerate(original):
            assert at in covered or oracle.is_space(char)


def test_lower_case_knows_every_script(subword):
    tokenizer = SubwordTokenizer(subword.proto, lowercase=True)
    for capital, small in (("ÉCOLE", "école"), ("ЯРКО", "ярко"), ("ΣΩ", "σω")):
        assert (tokenizer(capital) == tokenizer(small)).numpy().all()
        assert tokenizer.detokenize(tokenizer(capital)) == small


def test_composed_and_decomposed_letters_get_the_same_ids(subword):
    assert (subword("fenêtre") == subword("fene\u0302tre")).numpy().all()
    spans = subword.tokenize_with_offsets("fene\u0302tre !")
    assert spans.ends.numpy()[-1] == len("fene\u0302tre !")


def test_training_is_repeatable_to_the_byte():
    protos = {
        SubwordTokenizer.train(texts, vocabulary_size=420).proto
        for texts in (
            CORPUS,
            iter(CORPUS),
            np.array(CORPUS),
            tf.data.Dataset.from_tensor_slices(CORPUS),
            tf.data.Dataset.from_tensor_slices(CORPUS).batch(5),
        )
    }
    assert len(protos) == 1


def test_training_takes_seconds():
    rng = np.random.default_rng(0)
    syllables = ["ka", "lo", "mi", "ren", "stu", "pa", "vor", "e", "ti", "no"]
    words = ["".join(rng.choice(syllables, 3)) for _ in range(900)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(5000)]
    begun = time.perf_counter()
    SubwordTokenizer.train(texts, vocabulary_size=1000)
    assert time.perf_counter() - begun < 20


def test_long_texts_are_learned_from_too():
    text = " ".join(["unforgettable"] * 1000)  # SentencePiece skips these
    tokenizer = SubwordTokenizer.train([text], vocabulary_size=400)
    assert "\u2581unforgettable" in tokenizer.vocabulary()


def test_small_corpus_gives_a_small_vocabulary():
    tokenizer = SubwordTokenizer.train(["a b"], vocabulary_size=8000)
    assert 260 < tokenizer.vocabulary_size < 270


@pytest.mark.parametrize("texts", [[], [""], ["  ", "\n"]])
def test_no_text_to_learn_from_is_refused(texts):
    with pytest.raises(ValueError, match="`texts`.*Received: none"):
        SubwordTokenizer.train(texts)


def test_too_small_a_vocabulary_is_refused():
    with pytest.raises(ValueError, match="`vocabulary_size`.*Received: 260"):
        SubwordTokenizer.train(CORPUS, vocabulary_size=260)
    with pytest.raises(ValueError, match="vocabulary_size=270"):
        SubwordTokenizer.train(CORPUS, vocabulary_size=270)


@MANY
@given(texts=MANY_TEXTS, dropout=st.sampled_from([0.0, 0.3, 1.0]))
def test_texts_split_by_chance_are_the_same_texts(subword, texts, dropout):
    rows = subword.sample(texts, dropout)
    assert len(rows) == len(texts)
    for row, text in zip(rows, texts, strict=True):
        assert row.dtype == np.int32
        assert subword.detokenize(row) == subword.normalize(text)
        if not dropout:
            assert row.tolist() == subword(text).numpy().tolist()


def test_each_merge_is_left_out_with_the_chance_of_the_dropout():
    """One merge to make: of its draws, as many fail as a coin says."""
    tokenizer = SubwordTokenizer.train(["ab ab ab ab"], vocabulary_size=264)
    (whole,) = tokenizer(["ab"]).numpy().tolist()
    apart = tokenizer.sample(["ab"], 1.0)[0].tolist()
    assert len(apart) > len(whole)
    draws, dropout = 4000, 0.3
    found = tokenizer.sample(["ab"] * draws, dropout)
    kept = sum(row.tolist() == whole for row in found) / draws
    merges = len(apart) - len(whole)  # all must be made
    want = (1 - dropout) ** merges
    assert abs(kept - want) < 4 * (want * (1 - want) / draws) ** 0.5


def test_the_seed_decides_how_words_are_split(subword):
    def split(seed):
        return [row.tolist() for row in subword.sample(CORPUS, 0.4, seed)]

    first, other = split(1), split(2)
    assert split(1) == first != other
    assert split(2) == other


@pytest.mark.parametrize("dropout", [-0.1, 1.5])
def test_a_chance_that_is_none_is_refused(subword, dropout):
    with pytest.raises(ValueError, match=f"`dropout`.*Received.*{dropout}"):
        subword.sample(CORPUS, dropout)


def test_bad_arguments_are_refused(subword):
    with pytest.raises(ValueError, match="`form`.*Received: 'nfc'"):
        SubwordTokenizer(subword.proto, form="nfc")
    with pytest.raises(ValueError, match="`form`.*Received: 'nfc'"):
        SubwordTokenizer.train(CORPUS, form="nfc")


def test_a_model_made_elsewhere_is_refused():
    import io

    import sentencepiece

    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=made,
        vocab_size=90,
        minloglevel=2,
    )
    with pytest.raises(ValueError, match="`proto`.*Received"):
        SubwordTokenizer(made.getvalue())


def test_every_argument_survives_the_config(subword):
    tokenizer = SubwordTokenizer(subword.proto, "NFKC", True, name="pieces")
    config = tokenizer.get_config()
    assert base64.b64decode(config["proto"]) == subword.proto
    assert (config["form"], config["lowercase"]) == ("NFKC", True)
    again = SubwordTokenizer.from_config(config)
    assert again.get_config() == config and again.name == "pieces"
