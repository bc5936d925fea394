"""Words: cut by one rule, found again in the text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_seq.data import split_words, word_spans


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ""),
        ("  \n ", ""),
        ("Don't!", "Don't !"),
        ("Thomas's dog", "Thomas 's dog"),
        ("the girls' room", "the girls ' room"),
        ("L'eau, s'il vous plaît.", "L' eau , s' il vous plaît ."),
        ("Qu'est-ce qu’il a ?", "Qu' est -ce qu’ il a ?"),
        ("A-t-elle lu ? Puis-je ?", "A -t-elle lu ? Puis -je ?"),
        ("aujourd'hui peut-être", "aujourd'hui peut-être"),
        ("mes grands-pères", "mes grands-pères"),
        ("5.30, 20 %", "5 . 30 , 20 %"),
    ],
)
def test_one_rule_cuts_both_languages(text, words):
    assert split_words(text) == words.split()


@settings(deadline=None)
@given(st.text(alphabet="abélsQu'’-. ?3\t\nœ漢"))
def test_spans_leave_out_nothing_but_white_space(text):
    spans = word_spans(text)
    assert [text[a:b] for a, b in spans] == split_words(text)
    assert "".join(split_words(text)) == "".join(text.split())
    assert all(a < b for a, b in spans)
    assert all(b <= c for (_, b), (c, _) in zip(spans, spans[1:], strict=False))
