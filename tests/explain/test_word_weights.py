"""From token weights to word weights, in any script, losing nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_seq.explain.word_weights import word_spans, word_weights


def words(text):
    return [text[start:end] for start, end in word_spans(text)]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", []),
        (" \t\n\u3000 ", []),
        ("It's a well-made, so-so film.", None),
        ("don’t", ["don’t"]),
        ("'quoted' - twice -", ["'", "quoted", "'", "-", "twice", "-"]),
        ("rock'n'roll", ["rock'n'roll"]),
        ("cafe\u0301 gut", ["cafe\u0301", "gut"]),
        ("İstanbul ŞEHİR straße", ["İstanbul", "ŞEHİR", "straße"]),
        ("очень хорошо!", ["очень", "хорошо", "!"]),
        ("हिन्दी फ़िल्म।", ["हिन्दी", "फ़िल्म", "।"]),
        ("كتاب جميل؟", ["كتاب", "جميل", "؟"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("不错，很好。", ["不错", "，", "很好", "。"]),
        ("👩\u200d🚀🚀", ["👩\u200d🚀", "🚀"]),
        ("❤\ufe0f👍🏽!", ["❤\ufe0f", "👍🏽", "!"]),
        ("3.5/5", ["3", ".", "5", "/", "5"]),
        ("a\x00b \ufffd", ["a", "b", "\ufffd"]),
        ("in\u00advisible \u00ad", ["in\u00advisible"]),
        ("[START] snake_case", ["[", "START", "]", "snake_case"]),
    ],
)
def test_words_of_many_scripts(text, want):
    if want is None:
        want = ["It's", "a", "well-made", ",", "so-so", "film", "."]
    assert words(text) == want


@given(st.text(max_size=40))
def test_words_are_in_order_visible_and_apart(text):
    last = 0
    for start, end in word_spans(text):
        assert last <= start < end
        assert not any(c.isspace() for c in text[start:end])
        last = end
    kept = {i for start, end in word_spans(text) for i in range(start, end)}
    lost = "".join(c for i, c in enumerate(text) if i not in kept)
    assert not any(c.isalnum() for c in lost)


@given(st.data())
def test_words_weigh_together_what_the_tokens_did(data):
    text = data.draw(st.text("ab é.'\u0301", min_size=1, max_size=20))
    if not word_spans(text):
        return
    edges = data.draw(
        st.lists(st.tuples(*[st.integers(0, len(text))] * 2), max_size=7)
    )
    starts, ends = [min(e) for e in edges], [max(e) for e in edges]
    weights = data.draw(
        st.lists(st.floats(-9, 9), min_size=len(edges), max_size=len(edges))
    )
    found = word_weights(text, starts, ends, weights)
    np.testing.assert_allclose(found.weights.sum(), sum(weights), atol=1e-9)


def test_pieces_of_a_word_are_added_and_others_left_alone():
    #       0123456789012
    text = "cafe\u0301 was sosoo"
    found = word_weights(
        text, [0, 2, 6, 10, 12], [2, 5, 9, 12, 15], [1, 2, -4, 8, 16]
    )
    assert found.words == ["cafe\u0301", "was", "sosoo"]
    assert found.weights.tolist() == [3, -4, 24]


def test_a_token_over_two_words_is_split_by_characters():
    found = word_weights("of the end", [0, 7], [6, 10], [0.5, 0.5])
    np.testing.assert_allclose(found.weights, [0.2, 0.3, 0.5])


def test_a_lone_space_counts_for_the_word_that_follows():
    found = word_weights("so  good ", [2, 8], [4, 9], [1, 10])
    assert found.weights.tolist() == [0, 11]  # at the end: for the last one


def test_bytes_of_one_character_all_count_for_it():
    found = word_weights("a 🜚", [0, 2, 2, 2, 2], [1, 3, 3, 3, 3], range(5))
    assert found.weights.tolist() == [0, 10]


def test_padding_is_dropped_and_cut_words_weigh_nothing():
    padded = word_weights("so good", [0, 3], [2, 7], [0.4, 0.6, 0.0, 0.0])
    assert padded.weights.tolist() == [0.4, 0.6]
    cut = word_weights("so good", [0, 3], [2, 7], [1.0])
    assert cut.weights.tolist() == [1.0, 0.0]


def test_a_text_without_words_has_no_weights():
    found = word_weights("  ", [0], [2], [1.0])
    assert found.words == [] and found.weights.shape == (0,)
    assert word_weights("", [], [], [0.0]).words == []


def test_what_cannot_belong_together_is_refused():
    with pytest.raises(ValueError, match=r"one text.*\(2,\), \(1,\)"):
        word_weights("so", [0, 1], [1], [0.5])
    with pytest.raises(ValueError, match="0 to 2.*Received: 0 to 3"):
        word_weights("so", [0], [3], [0.5])
    with pytest.raises(ValueError, match="must be 0 after the 1 token"):
        word_weights("so", [0], [2], [0.5, 0.5])


@pytest.mark.tensorflow
@pytest.mark.parametrize("text", ["Ärger, naïve 👍🏽 cafe\u0301!", "不错 ok"])
def test_offsets_of_the_tokenizers_lead_to_the_words(text):
    from keras_seq.text import SubwordTokenizer, WordTokenizer

    for tokenizer in (
        SubwordTokenizer.train([text, "other words"], vocabulary_size=290),
        WordTokenizer.train([text]),
    ):
        spans = tokenizer.tokenize_with_offsets(text)
        weights = np.ones(len(spans.ids)) / len(spans.ids)
        found = word_weights(
            text, spans.starts.numpy(), spans.ends.numpy(), weights
        )
        np.testing.assert_allclose(found.weights.sum(), 1)
        assert (found.weights > 0).all()
