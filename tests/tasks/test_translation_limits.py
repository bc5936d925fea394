"""What an exported translator reads of a source that is too long, and of none.

The text and the ids of a source have the same limit.
"""

import numpy as np
import pytest

from keras_seq.models import rnn_search
from keras_seq.tasks.padded_sizes import pad_to_sizes
from keras_seq.tasks.translation_export import translation_signatures
from keras_seq.tasks.translator import Translator
from keras_seq.text import SubwordTokenizer
from tests.tasks.translation_toy import WORDS

pytestmark = pytest.mark.tensorflow
LIMIT = 7


@pytest.fixture(scope="module")
def translator():
    tokenizer = SubwordTokenizer.train([*WORDS, *WORDS.values()], 330)
    model = rnn_search(tokenizer.vocabulary_size, "test")
    return Translator(tokenizer, model, max_length=LIMIT)


@pytest.fixture(scope="module")
def signatures(translator):
    return translation_signatures(translator, beam_size=1, n_best=2)


def ids_of(translator, words):
    """The ids of a text, however long it is, with their end token."""
    (ids,) = translator.encode_rows([words])
    return np.append(ids, translator.tokenizer.end_id).astype("int32")


def test_ids_are_cut_as_the_text_is(translator, signatures):
    texts = ["one red cat " * 4, "two dog", "cat and dog and cat and dog sees"]
    rows = [ids_of(translator, text) for text in texts]
    assert len(rows[1]) <= LIMIT < len(rows[2]) < len(rows[0])
    source_ids = np.zeros((len(rows), len(rows[0])), "int32")
    for row, ids in enumerate(rows):
        source_ids[row, : len(ids)] = ids
    cut = signatures["from_ids"](source_ids)
    as_text = signatures["from_ids"](translator.encode(texts))
    for name, value in as_text.items():
        np.testing.assert_array_equal(cut[name], value)
    longest = 2 * LIMIT + 10  # what `Translator.search` gives room for
    assert cut["token_ids"].shape[1] <= longest


def test_what_fits_is_read_to_its_end(translator, signatures):
    whole = ids_of(translator, "one red cat " * 4)[:LIMIT]
    whole[-1] = translator.tokenizer.end_id
    padded = np.pad(whole, (0, 5))
    alone, beside = signatures["from_ids"]([whole]), signatures["from_ids"]
    np.testing.assert_array_equal(
        beside([padded])["token_ids"], alone["token_ids"]
    )
    other = whole.copy()
    other[-2] = whole[0] if whole[0] != whole[-2] else whole[1]
    assert beside([other])["score"] != alone["score"]


def test_no_sources_have_no_translations(signatures):
    for name, ask in signatures.items():
        empty = np.zeros((0, 3), "int32")
        answer = ask(empty if name == "from_ids" else np.array([], object))
        assert all(value.shape[0] == 0 for value in answer.values()), name


@pytest.mark.parametrize("rows, padded", [(0, 1), (1, 1), (2, 4), (9, 12)])
def test_a_batch_is_padded_to_the_next_size(rows, padded):
    found = pad_to_sizes(np.ones((rows, 5, 2), "float32"), (1, 4), (8,))
    assert found.shape == (padded, 8, 2)
    np.testing.assert_array_equal(found[:rows, :5], np.ones((rows, 5, 2)))
    assert found.numpy().sum() == rows * 5 * 2
