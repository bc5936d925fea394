"""What both tokenizers promise."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_seq.text import SubwordTokenizer, WordTokenizer
from tests.text.awkward import AWKWARD, AWKWARD_BYTES, BYTES
from tests.text.conftest import CORPUS

TEXT = "Two dogs see a man."
SOME = settings(max_examples=60, deadline=None)


def as_bytes(text):
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    return text


def spans(tokenizer, text):
    """`[(token, start, end, id)]` of one text, as Python values."""
    found = tokenizer.tokenize_with_offsets([text])
    return [
        (token.decode(), *rest)
        for token, *rest in zip(*(x.to_list()[0] for x in found), strict=True)
    ]


def test_special_ids_are_fixed(tokenizer):
    ids = (
        tokenizer.pad_id,
        tokenizer.unknown_id,
        tokenizer.start_id,
        tokenizer.end_id,
    )
    assert ids == (0, 1, 2, 3)
    assert tokenizer.vocabulary()[:4] == ["<pad>", "<unk>", "<s>", "</s>"]
    assert tokenizer.vocabulary_size == len(set(tokenizer.vocabulary()))


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_texts_give_valid_ids_and_spans(tokenizer, name):
    text = as_bytes(AWKWARD[name])
    ids = tokenizer([text, TEXT])
    assert ids.dtype == tf.int32 and ids.shape[0] == 2
    real = tokenizer.tokenize([text]).to_list()[0]
    assert ids[0, : len(real)].numpy().tolist() == real
    assert all(0 < i < tokenizer.vocabulary_size for i in real)
    assert not {tokenizer.pad_id, tokenizer.start_id, tokenizer.end_id} & set(
        real
    )
    length = len(text.decode("utf-8", "replace"))
    found = spans(tokenizer, text)
    assert [i for *_, i in found] == real
    assert all(0 <= a <= b <= length for _, a, b, _ in found)
    text_again = tokenizer.detokenize([real]).numpy()[0]
    text_again.decode("utf-8")  # is always valid


@SOME
@given(text=BYTES)
def test_special_ids_are_never_made_from_text(subword, word, text):
    for tokenizer, least in ((subword, 4), (word, 1)):
        ids = tokenizer.tokenize([text]).values.numpy()
        assert (ids >= least).all() and (ids < tokenizer.vocabulary_size).all()
        assert not {2, 3} & set(ids.tolist())


def test_control_names_in_the_training_text_stay_text():
    corpus = [*CORPUS, *["<s> <pad> </s> <unk> [START]"] * 50]
    for tokenizer in (
        SubwordTokenizer.train(corpus, vocabulary_size=420),
        WordTokenizer.train(corpus),
    ):
        text = "<s> <pad> </s> <unk>"
        ids = tokenizer.tokenize([text])
        assert (ids.values.numpy() > 3).all()
        assert tokenizer.detokenize(ids)[0] == tokenizer.normalize(text)
        assert tokenizer.vocabulary_size == len(set(tokenizer.vocabulary()))


def test_known_texts_make_the_round_trip(tokenizer):
    again = tokenizer.detokenize(tokenizer(CORPUS))
    assert (again == tokenizer.normalize(CORPUS)).numpy().all()


def test_spans_read_the_original_text(tokenizer):
    for text in (CORPUS[1], "  Two\t dogs,\n\n see!  "):
        words = "".join(text.split())
        assert "".join(text[a:b] for _, a, b, _ in spans(tokenizer, text)) == (
            words
        )


def test_every_way_to_hold_strings_gives_the_same_ids(tokenizer):
    texts = [TEXT, "a man"]
    want = tokenizer(texts).numpy()
    column = [[text] for text in texts]
    for held in (
        tuple(texts),
        [text.encode() for text in texts],
        np.array(texts),
        np.array(texts, dtype=object),
        np.array([text.encode() for text in texts]),
        tf.constant(texts),
        column,
        np.array(column),
        tf.constant(column),
    ):
        np.testing.assert_array_equal(tokenizer(held), want)
    assert tokenizer(TEXT).numpy().tolist() == want[0].tolist()
    assert tokenizer(np.str_(TEXT)).numpy().tolist() == want[0].tolist()


def test_shape_follows_the_texts(tokenizer):
    first = tokenizer([TEXT]).shape[1]
    assert tokenizer(TEXT).shape == (first,)
    assert tokenizer([[TEXT, ""], ["a", "a"]]).shape == (2, 2, first)
    assert tokenizer([[TEXT], [], ["a", "a"]]).shape == (3, 2, first)
    assert tokenizer([]).shape == (0, 0)
    assert tokenizer(["", ""]).shape == (2, 0)
    ragged = tokenizer.tokenize([[TEXT], [], ["a", "a"]])
    assert ragged.row_lengths().numpy().tolist() == [1, 0, 2]
    offsets = tokenizer.tokenize_with_offsets([[TEXT], [], ["a", "a"]])
    for field in offsets:
        assert field.shape.as_list() == [3, None, None]
        np.testing.assert_array_equal(
            field.bounding_shape(), ragged.bounding_shape()
        )


def test_cut_rows_keep_their_start_and_end(tokenizer):
    ids = tokenizer.tokenize([TEXT]).to_list()[0]
    assert len(ids) > 3
    for max_length in (2, 3, len(ids) + 1, len(ids) + 2, 1000):
        cut = tokenizer(
            [TEXT], max_length=max_length, add_start=True, add_end=True
        )
        want = [2, *ids[: max_length - 2], 3]
        assert cut.numpy().tolist() == [want]
    assert tokenizer([TEXT], max_length=1).numpy().tolist() == [ids[:1]]
    assert tokenizer(["", "a"], add_end=True).numpy()[0, 0] == 3


@pytest.mark.parametrize("length, edges", [(0, False), (1, True), (-1, False)])
def test_too_small_a_max_length_is_refused(tokenizer, length, edges):
    with pytest.raises(ValueError, match=f"`max_length`.*Received: {length}"):
        tokenizer(["a"], max_length=length, add_start=edges, add_end=edges)


@pytest.mark.parametrize("texts", [3, None, [1, 2], ["a", None], tf.ones(2)])
def test_what_is_not_text_is_refused(tokenizer, texts):
    with pytest.raises(ValueError, match="`texts`.*Received"):
        tokenizer(texts)


def test_detokenize_takes_any_ids(tokenizer):
    size = tokenizer.vocabulary_size
    ids = tokenizer.tokenize([TEXT]).to_list()[0]
    plain = tokenizer.detokenize(ids)
    wild = [2, -1, *ids, size, 2**31 - 1, -(2**31), 0, 3, ids[0], 99]
    assert tokenizer.detokenize(wild) == plain
    assert tokenizer.detokenize([wild, [0] * len(wild)]).numpy()[1] == b""
    assert tokenizer.detokenize(np.array(wild, "int64")) == plain
    assert tokenizer.detokenize([ids, []]).numpy().tolist() == [
        plain.numpy(),
        b"",
    ]
    assert tokenizer.detokenize(np.array([[ids]] * 3)).shape == (3, 1)
    assert tokenizer.detokenize(np.zeros((2, 0), "int32")).shape == (2,)
    with pytest.raises(ValueError, match="`token_ids`.*float"):
        tokenizer.detokenize(tf.ones((1, 2)))


@SOME
@given(ids=st.lists(st.integers(-10, 500), max_size=12))
def test_detokenize_always_gives_valid_text(subword, word, ids):
    for tokenizer in (subword, word):
        tokenizer.detokenize(np.array([ids], "int32")).numpy()[0].decode()


def test_ids_have_names(tokenizer):
    names = tokenizer.id_to_token([0, 3, -1, tokenizer.vocabulary_size])
    assert names.numpy().tolist() == [b"<pad>", b"</s>", b"<unk>", b"<unk>"]
    ids = tokenizer.tokenize([TEXT, "a"])
    for row, name_row in zip(
        ids.to_list(), tokenizer.id_to_token(ids).to_list(), strict=True
    ):
        assert [tokenizer.vocabulary()[i].encode() for i in row] == name_row


def test_one_trace_serves_every_batch_and_length(tokenizer):
    traces = []

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string)])
    def there_and_back(texts):
        traces.append(1)
        return tokenizer.detokenize(tokenizer(texts))

    for texts in ([TEXT], ["", "a man"], CORPUS):
        got = there_and_back(tf.constant(texts))
        assert (got == tokenizer.normalize(texts)).numpy().all()
    assert len(traces) == 1


def test_setting_a_seed_does_no_harm(tokenizer):
    in_graph = tf.function(lambda texts: tokenizer(texts))
    before = tokenizer([TEXT]).numpy(), in_graph(tf.constant([TEXT])).numpy()
    keras.utils.set_random_seed(7)
    after = tokenizer([TEXT]).numpy(), in_graph(tf.constant([TEXT])).numpy()
    np.testing.assert_array_equal(before, after)


def test_config_holds_the_whole_tokenizer(tokenizer):
    config = tokenizer.get_config()
    again = type(tokenizer).from_config(config)
    assert again.get_config() == config
    np.testing.assert_array_equal(again(CORPUS), tokenizer(CORPUS))


@pytest.mark.tensorflow
@pytest.mark.parametrize("shape", [(), (1,)])
def test_works_inside_a_functional_model_and_its_file(
    tokenizer, shape, tmp_path
):
    texts = keras.Input(shape, dtype="string")
    token_ids = tokenizer(texts, max_length=7, add_end=True)
    assert token_ids.shape == (None, None) and token_ids.dtype == "int32"
    model = keras.Model(texts, token_ids)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    held = tf.reshape(tf.constant(CORPUS), (-1, *shape))
    want = tokenizer(CORPUS, max_length=7, add_end=True)
    np.testing.assert_array_equal(model(held), want)
    np.testing.assert_array_equal(again(held), want)
    np.testing.assert_array_equal(again.predict(held, verbose=0), want)


def test_batched_and_single_texts_agree(tokenizer):
    texts = AWKWARD_BYTES
    together = tokenizer.tokenize_with_offsets(texts)
    for row, text in enumerate(texts):
        alone = tokenizer.tokenize_with_offsets(text)
        for a, b in zip(together, alone, strict=True):
            assert a[row].numpy().tolist() == b.numpy().tolist()
