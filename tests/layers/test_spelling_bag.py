"""SpellingBag against dicts and loops."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.layers import SpellingBag
from tests.oracles import ngrams as oracle

WORDS = ["", " fun ", " funny ", " unfunny ", " dull ", "é🎬é", " a ", ""]


def padded(rows, length=7):
    ids = np.zeros((len(rows), length), "int32")
    for n, row in enumerate(rows):
        ids[n, : len(row)] = row
    return ids


def difference(layer, rows):
    z = ops.convert_to_numpy(layer(padded(rows)))
    return z[:, 1] - z[:, 0]


def spelled(**arguments):
    layer = SpellingBag(
        **{
            "units": 2,
            "vocabulary_size": 11,
            "num_ngrams": 300,
            "initial_strength": 1.0,
            **arguments,
        }
    )
    layer.learn_spellings(WORDS)
    return layer


@settings(max_examples=15, deadline=None)
@given(
    rows=st.lists(
        st.lists(st.integers(1, 7), max_size=5), min_size=2, max_size=9
    ),
    sizes=st.sampled_from([(1, 1), (2, 3), (3, 5)]),
    seed=st.integers(0, 99),
)
def test_matches_letter_runs_counted_by_hand(rows, sizes, seed):
    labels = np.random.default_rng(seed).integers(0, 2, len(rows))
    layer = spelled(min_ngram=sizes[0], max_ngram=sizes[1])
    layer.learn_counts(rows, labels, smoothing=0.5)
    texts = [[WORDS[token] for token in row] for row in rows]
    ratios = oracle.spelling_ratios(texts, labels, *sizes, smoothing=0.5)
    want = [
        sum(ratios[run] for run in oracle.letter_runs(words, *sizes))
        for words in texts
    ]
    np.testing.assert_allclose(
        difference(layer, rows), want, rtol=1e-4, atol=1e-4
    )


def test_a_word_that_was_never_counted_is_known_by_its_letters():
    layer = spelled()
    layer.learn_counts([[1], [4]], [1, 0])
    fun, unfunny, dull, blank, past_the_last = difference(
        layer, [[1], [3], [4], [7], [10]]
    )
    assert fun > unfunny > 0 > dull
    assert blank == past_the_last == 0.0


def test_long_tokens_keep_their_longest_runs():
    layer = spelled(max_ngram=3, runs_per_token=4)
    keys = ops.convert_to_numpy(layer.find_keys(np.array([[3, 6]])))
    assert keys.shape == (1, 8)
    whole = ops.convert_to_numpy(spelled(max_ngram=3).find_keys([[3]]))
    # " unfunny " has 7 runs of three letters; these are the first four.
    np.testing.assert_array_equal(keys[0, :4], whole[0, :4])
    assert (keys[0, :4] != 0).all()


def test_padding_has_no_letters_whatever_it_is_called():
    layer = SpellingBag(2, 3, 50)
    layer.learn_spellings([" padding ", " fun "])
    assert not ops.convert_to_numpy(layer.find_keys([[0, 0]])).any()


def test_a_saved_bag_remembers_how_its_tokens_are_written(tmp_path):
    inputs = keras.Input((None,), dtype="int32")
    layer = spelled(min_ngram=3, max_ngram=4, runs_per_token=9)
    model = keras.Model(inputs, layer(inputs))
    layer.learn_counts([[1, 2], [4]], [1, 0])
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    ids = padded([[1], [2, 3], []])
    np.testing.assert_array_equal(
        *(ops.convert_to_numpy(m(ids)) for m in (model, again))
    )
    assert ops.convert_to_numpy(model(ids))[:2].any()


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="`vocabulary_size`.*Received"):
        SpellingBag(2, 0, 5)
    with pytest.raises(ValueError, match="`min_ngram`.*Received: min_ngram=3"):
        SpellingBag(2, 5, 5, max_ngram=2, min_ngram=3)
    with pytest.raises(ValueError, match="`tokens`.*at most 2.*Received: 3"):
        SpellingBag(2, 2, 5).learn_spellings(["", "a", "b"])
