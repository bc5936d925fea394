"""Words drawn by weight: terminal, page and picture, from plain arrays."""

import html
import io
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_seq.explain import plot_words, word_weights, words_ansi, words_html
from keras_seq.explain.drawn_texts import drawn_texts
from keras_seq.explain.words_ansi import terminal_colours

REVIEW = {
    "words": ["It", "was", "far", "from", "dull", "."],
    "weights": [0.0, 0.05, 0.8, 0.3, -1.0, 0.0],
    "marked": [False, False, True, True, True, False],
    "label": "positive",
    "probability": 0.973,
    "note": "by gradient",
}
ESCAPE = re.compile(r"\x1b\[([\d;]*)m")


def grounds(line):
    """Return `{word: codes}` of an ANSI line."""
    return {
        word: codes.split(";")
        for codes, word in re.findall(r"\x1b\[([\d;]+)m(.*?)\x1b\[0m", line)
    }


# --- What may be drawn


def test_spaces_stand_where_the_text_has_them():
    text = "He said:\n  “don’t (ever)” — so."
    words = word_weights(text, [], [], [])
    (drawn,) = drawn_texts(words)
    line = "".join(w.gap + w.word for w in drawn.words)
    assert line == "He said: “don’t (ever)” — so."
    (guessed,) = drawn_texts((["So", "(", "very", ")", "good", "!"], [0] * 6))
    assert "".join(w.gap + w.word for w in guessed.words) == "So (very) good!"


def test_one_text_and_several_are_both_taken():
    pair = (["a"], [1.0])
    assert len(drawn_texts(pair)) == len(drawn_texts(REVIEW)) == 1
    assert len(drawn_texts([pair, REVIEW])) == 2
    assert drawn_texts([]) == []


def test_bytes_of_a_server_are_read():
    (text,) = drawn_texts({"words": [b"caf\xc3\xa9"], "weights": [1]})
    assert text.words[0].word == "café"


def test_bad_texts_are_named():
    for texts, message in (
        ([{"words": ["a"]}], "'words' and 'weights'"),
        ([{**REVIEW, "wieghts": 1}], "wieghts"),
        ([(["a"], [1, 2])], "each of the 1 words"),
        ([(["a"], [np.nan])], "finite"),
        ([{"words": ["b"], "weights": [1], "text": "a"}], "'b'"),
        ([3], "Received: 3"),
    ):
        with pytest.raises(ValueError, match=message):
            words_html(texts)
    with pytest.raises(ValueError, match="`colours`.*'pink'"):
        words_ansi(REVIEW, "pink")
    with pytest.raises(ValueError, match=r"`path`.*\.gif"):
        plot_words(REVIEW, "x.gif")


# --- In the terminal


def test_two_hues_for_two_signs_and_nothing_for_nothing():
    line = words_ansi(REVIEW, "truecolor")
    found = grounds(line)
    assert set(found) == {"far", "from", "dull"}  # 0.05 of 1 is too little
    blue = found["far"][found["far"].index("48") + 2 :][:3]
    orange = found["dull"][found["dull"].index("48") + 2 :][:3]
    assert int(blue[2]) > int(blue[0]) and int(orange[0]) > int(orange[2])
    assert all("4" in codes[-1:] for codes in found.values())  # underlined
    assert ESCAPE.sub("", line) == (
        "positive   97 %  by gradient  It was far from dull."
    )


def test_256_colours_are_a_way_out():
    found = grounds(words_ansi(REVIEW, "256"))
    for codes in found.values():
        assert codes[codes.index("48") + 1] == "5"
        assert 16 <= int(codes[codes.index("48") + 2]) <= 231


def test_ink_and_ground_are_set_together_and_differ_enough():
    """So a black and a white terminal can both be read."""
    words = [f"w{i}" for i in range(101)]
    weights = [i / 100 for i in range(101)]
    for sign in (1, -1):
        line = words_ansi((words, [sign * w for w in weights]), "truecolor")
        for codes in grounds(line).values():
            assert codes[:2] == ["38", "2"]
            ink = [int(c) for c in codes[2:5]]
            if "48" in codes[5:]:
                start = codes.index("48", 5) + 2
                ground = [int(c) for c in codes[start : start + 3]]
                assert contrast(ink, ground) >= 4.5
            else:
                for terminal in ((0, 0, 0), (255, 255, 255)):
                    assert contrast(ink, terminal) >= 3


def contrast(one, other):
    def luminance(colour):
        c = np.array(colour) / 255
        c = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        return c @ [0.2126, 0.7152, 0.0722]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_without_colours_heavy_words_carry_their_number():
    line = words_ansi(REVIEW, "none")
    assert line.endswith("It was [far +0.80] [from +0.30] [dull -1.00].")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "variables", "want"),
    [
        (Terminal(), {"COLORTERM": "truecolor"}, "truecolor"),
        (Terminal(), {"COLORTERM": "24bit"}, "truecolor"),
        (Terminal(), {"TERM": "xterm-256color"}, "256"),
        (Terminal(), {"TERM": "dumb"}, "none"),
        (Terminal(), {"NO_COLOR": "1", "COLORTERM": "truecolor"}, "none"),
        (Terminal(), {"NO_COLOR": "", "COLORTERM": "truecolor"}, "truecolor"),
        (io.StringIO(), {"COLORTERM": "truecolor"}, "none"),
        (io.StringIO(), {"FORCE_COLOR": "1"}, "256"),
        (io.StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, "none"),
    ],
)
def test_colours_follow_the_terminal(monkeypatch, stream, variables, want):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert terminal_colours(stream) == want


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_no_word_commands_the_terminal(words):
    line = words_ansi((words, np.ones(len(words))), "truecolor")
    rest = ESCAPE.sub("", line)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in rest)
    assert not any("\u202a" <= c <= "\u202e" for c in rest)


# --- On a page


def test_a_page_has_every_text_with_label_number_and_marks():
    page = words_html([REVIEW, (["so"], [0.0])], title="Two")
    assert page.count("<article>") == 2
    assert 'class="label">positive<' in page and "97.3 %" in page
    assert 'data-weight="-1.000"' in page and 'data-weight="+0.800"' in page
    dull = re.search(r'<span class="([^"]*)"[^>]*><bdi>dull', page)[1].split()
    assert {"against", "l20", "strong", "marked"} <= set(dull)
    so = re.search(r'<span class="([^"]*)"[^>]*><bdi>so', page)[1]
    assert so == "w"
    assert "speaks against" in page and "words that decide" in page
    calm = words_html((["so"], [1.0]))
    assert "speaks against" not in calm and "words that decide" not in calm


def test_a_page_loads_nothing_and_runs_nothing():
    page = words_html(REVIEW)
    assert not re.search(
        r"<script|https?:|@import|url\(|\sstyle=|\son\w+=", page
    )
    assert "default-src 'none'" in page and "'sha256-" in page
    assert "prefers-color-scheme: dark" in page


@given(st.text(st.sampled_from("<>&\"'{}tile/ \x00script"), min_size=1))
def test_words_are_escaped_whatever_they_contain(word):
    given = {"words": [word], "weights": [1], "label": word, "note": word}
    page = words_html(given, title=word)
    plain = words_html(
        {**given, "words": ["x"], "label": "x", "note": "x"}, "x"
    )
    assert re.findall("<[^>]*?[ >]", page) == re.findall("<[^>]*?[ >]", plain)
    shown = re.search("<bdi>(.*?)</bdi>", page, re.DOTALL)[1]
    (drawn,) = drawn_texts(given)
    assert html.unescape(shown) == drawn.words[0].word


def test_an_empty_text_is_said_to_be_empty():
    assert "(no words)" in words_html(([], []))


# --- As a picture


def test_words_of_a_picture_stay_inside_it_and_apart():
    long = {**REVIEW, "words": REVIEW["words"] * 9}
    long |= {"weights": REVIEW["weights"] * 9, "marked": REVIEW["marked"] * 9}
    figure = plot_words([long, (["x" * 30, "naïve", "$y_1$"], [1, 2, 3])])
    renderer = figure.canvas.get_renderer()
    boxes = [t.get_window_extent(renderer) for t in figure.axes[0].texts]
    page = figure.bbox
    for i, box in enumerate(boxes):
        assert box.x0 >= 0 and box.x1 <= page.x1 and box.y0 >= 0
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_no_line_of_a_picture_begins_with_a_comma():
    words = ["word", ","] * 60
    figure = plot_words((words, np.ones(120)))
    left = min(t.get_position()[0] for t in figure.axes[0].texts)
    first = {
        t.get_text()
        for t in figure.axes[0].texts
        if t.get_position()[0] < left + 0.1
    }
    assert first == {"word"}


def test_pictures_and_pages_are_written(tmp_path):
    for name in ("a.png", "a.svg", "a.html"):
        assert plot_words(REVIEW, tmp_path / name) == tmp_path / name
        assert (tmp_path / name).stat().st_size > 1000


def test_drawing_needs_neither_keras_nor_tensorflow():
    code = (
        "import sys; from keras_seq.explain import words_html, words_ansi;"
        "words_html((['a'], [1.0])); words_ansi((['a'], [1.0]));"
        "print({'keras', 'tensorflow', 'matplotlib'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert run.stdout.strip() == "set()", run.stdout + run.stderr
