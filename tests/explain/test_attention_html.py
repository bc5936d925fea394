"""The page: self-contained, safe, and with the numbers in it."""

import base64
import hashlib
import html.parser
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_seq.explain import attention_html

H, T, S = 3, 5, 7
ROWS, COLUMNS = list("abcde"), list("ABCDEFG")
WEIGHTS = np.random.default_rng(0).random((H, T, S)) / S


class Page(html.parser.HTMLParser):
    """The elements of a page, with their attributes and texts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self._open = [], None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self._open = {"tag": tag, "text": "", **dict(attributes)}
        self.elements.append(self._open)

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        if self._open:
            self._open["text"] += data

    def find(self, tag):
        return [e for e in self.elements if e["tag"] == tag]

    @property
    def data(self):
        (data,) = [e for e in self.find("script") if e.get("id") == "data"]
        return json.loads(data["text"])


def test_the_numbers_are_in_the_page():
    (layer,) = Page(attention_html(WEIGHTS, ROWS, COLUMNS)).data
    assert layer["rows"] == ROWS and layer["columns"] == COLUMNS
    np.testing.assert_allclose(layer["heads"], WEIGHTS, rtol=1e-3)
    np.testing.assert_allclose(layer["mean"], WEIGHTS.mean(0), rtol=1e-3)


def test_small_weights_keep_their_digits():
    weights = [[1.23456789e-7, 1.0]]
    (layer,) = Page(attention_html(weights, ["a"], ["b", "c"])).data
    assert layer["heads"] == [[[1.235e-7, 1.0]]]


def test_every_layer_can_be_chosen():
    weights = {"encoder/self": WEIGHTS[..., :T], "decoder/cross": WEIGHTS}
    columns = {"encoder/self": ROWS, "decoder/cross": COLUMNS}
    layers = Page(attention_html(weights, ROWS, columns)).data
    assert [layer["name"] for layer in layers] == list(weights)
    assert [layer["columns"] for layer in layers] == [ROWS, COLUMNS]


def test_what_is_not_seen_is_null():
    weights = WEIGHTS.copy()
    weights[:, 2], weights[1, 3, 4] = 0, np.nan
    text = attention_html(weights, ROWS, COLUMNS)
    (layer,) = Page(text).data
    assert layer["heads"][0][2] == [None] * S == layer["mean"][2]
    assert layer["heads"][1][3][4] is None
    assert "NaN" not in text


def test_the_page_asks_nothing_of_anyone():
    page = Page(attention_html(WEIGHTS, ROWS, COLUMNS, title="T"))
    for element in page.elements:
        for attribute in ("src", "href", "action", "data", "poster"):
            assert element.get(attribute, "data:,") == "data:,", element
    text = attention_html(WEIGHTS, ROWS, COLUMNS)
    assert not re.search(r"https?:|//\w|@import|url\(|fetch\(", text)


def test_the_browser_is_told_to_run_this_script_only():
    page = Page(attention_html(WEIGHTS, ROWS, COLUMNS))
    (policy,) = [
        e["content"]
        for e in page.find("meta")
        if e.get("http-equiv") == "Content-Security-Policy"
    ]
    (script,) = [e for e in page.find("script") if "id" not in e]
    (style,) = page.find("style")
    assert "default-src 'none'" in policy and "unsafe" not in policy
    for kind, element in (("script", script), ("style", style)):
        digest = hashlib.sha256(element["text"].encode()).digest()
        wanted = base64.b64encode(digest).decode()
        assert f"{kind}-src 'sha256-{wanted}'" in policy


EVIL = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--",
    "&lt;b&gt;",
    "{{title}}{{data}}",
    "`${alert(1)}`",
    "'\"\\",
    "\u2028",
]


@pytest.mark.parametrize("evil", EVIL)
def test_tokens_names_and_titles_are_text_and_never_run(evil):
    text = attention_html({evil: [[1.0]]}, [evil], [evil], title=evil)
    plain = attention_html({"x": [[1.0]]}, ["x"], ["x"], title="x")
    page = Page(text)
    tags = [e["tag"] for e in page.elements]
    assert tags == [e["tag"] for e in Page(plain).elements]
    assert page.data[0]["rows"] == [evil] == page.data[0]["columns"]
    assert page.data[0]["name"] == evil
    assert page.find("h1")[0]["text"].strip() == evil.strip()
    assert "<script>alert" not in text and "<img" not in text


visible = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)


@settings(max_examples=50, deadline=None)
@given(tokens=st.lists(visible.filter(str.strip), min_size=1, max_size=4))
def test_any_text_comes_back_as_it_was(tokens):
    weights = np.ones((len(tokens), len(tokens)))
    text = attention_html(weights, tokens, tokens)
    assert Page(text).data[0]["rows"] == tokens
    start = text.index('id="data">') + len('id="data">')
    assert not set("<>&") & set(text[start : text.index("</script>", start)])


def test_the_page_has_what_every_reader_needs():
    text = attention_html(WEIGHTS, ROWS, COLUMNS, title="Where it looked")
    page = Page(text)
    assert page.find("html")[0]["lang"] == "en"
    assert page.find("title")[0]["text"] == "Where it looked"
    assert page.find("output")[0]["aria-live"] == "polite"
    assert page.find("table")[0]["role"] == "grid"
    assert "prefers-color-scheme: dark" in text
    assert 'dir = "auto"' in text  # right-to-left tokens
    assert "{{" not in text


def test_a_hundred_by_a_hundred_stays_small():
    words = [f"word{i}" for i in range(100)]
    weights = np.random.default_rng(0).random((8, 100, 100))
    text = attention_html(weights, words, words)
    assert len(text) < 1_000_000


def test_weights_are_checked():
    with pytest.raises(ValueError, match="Received: shape"):
        attention_html(WEIGHTS, COLUMNS, ROWS)
