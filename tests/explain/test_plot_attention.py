"""plot_attention as a picture: right numbers, right tokens, nothing cut off."""

import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest
from matplotlib import font_manager, ft2font
from matplotlib.text import Text

from keras_seq.explain import plot_attention, token_fonts

H, T, S = 3, 5, 7
ROWS = "Where does it look now".split()
COLUMNS = "The animal was tired because of rain".split()
PNG = b"\x89PNG\r\n\x1a\n"


def attention(*shape, seed=0):
    weights = np.exp(2 * np.random.default_rng(seed).normal(size=shape))
    return weights / weights.sum(-1, keepdims=True)


def panels(figure):
    return [axis for axis in figure.axes if axis.images and axis.get_visible()]


def drawn(axis):
    return axis.images[0].get_array()


def labels(ticks):
    return [tick.get_text() for tick in ticks if tick.get_text()]


def test_each_head_is_drawn_with_its_numbers():
    weights = attention(H, T, S)
    figure = plot_attention(weights, ROWS, COLUMNS)
    assert len(panels(figure)) == H
    for axis, matrix, number in zip(
        panels(figure), weights, "123", strict=True
    ):
        np.testing.assert_array_equal(drawn(axis), matrix)
        assert axis.get_title() == f"head {number}"


def test_rows_are_tokens_that_look_and_columns_what_they_look_at():
    (axis,) = panels(plot_attention(attention(T, S), ROWS, COLUMNS))
    assert labels(axis.get_yticklabels()) == ROWS
    assert labels(axis.get_xticklabels()) == COLUMNS
    assert all(tick.get_rotation() == 90 for tick in axis.get_xticklabels())


def test_the_mean_of_the_heads_is_drawn_on_request():
    weights = attention(H, T, S)
    (axis,) = panels(plot_attention(weights, ROWS, COLUMNS, heads="mean"))
    np.testing.assert_allclose(drawn(axis), weights.mean(0))
    np.testing.assert_allclose(axis.images[0].get_clim()[1], drawn(axis).max())


def test_all_panels_share_one_colour_scale():
    weights = attention(2, H, T, S) * [[[[0.5]]], [[[1.0]]]]
    figure = plot_attention(weights, ROWS, COLUMNS)
    scales = {axis.images[0].get_clim() for axis in panels(figure)}
    assert scales == {(0.0, weights.max())}


def test_several_layers_have_a_row_each_with_their_name():
    weights = {"low/self": attention(H, T, T), "high/cross": attention(2, T, S)}
    figure = plot_attention(
        weights, ROWS, {"low/self": ROWS, "high/cross": COLUMNS}
    )
    found = panels(figure)
    assert len(found) == H + 2
    assert [text.get_text() for text in figure.texts] == list(weights)
    np.testing.assert_array_equal(drawn(found[3]), weights["high/cross"][0])


def test_small_matrices_have_their_numbers_printed():
    weights = np.array([[0.88, 0.12], [0.001, 0.999]])
    (axis,) = panels(plot_attention(weights, ["a", "b"], ["c", "d"]))
    assert [text.get_text() for text in axis.texts] == ["0.88", "0.12", "1.00"]
    assert [t.get_position() for t in axis.texts] == [(0, 0), (1, 0), (1, 1)]
    words = [str(i) for i in range(11)]
    (axis,) = panels(plot_attention(attention(11, 11), words, words))
    assert not axis.texts


def test_a_row_that_sees_nothing_is_left_empty():
    weights = attention(T, S)
    weights[2], weights[3, 4] = 0, np.nan
    (axis,) = panels(plot_attention(weights, ROWS, COLUMNS))
    empty = np.ma.getmaskarray(drawn(axis))
    assert empty[2].all() and empty[3, 4] and empty.sum() == S + 1
    assert axis.patch.get_hatch()


def test_nothing_to_see_at_all_is_still_a_picture(tmp_path):
    plot_attention(np.zeros((T, S)), ROWS, COLUMNS, tmp_path / "blind.png")
    assert (tmp_path / "blind.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize("suffix", ["png", "PNG", "svg", "pdf", "html"])
def test_the_path_says_what_is_written(tmp_path, suffix):
    path = tmp_path / f"attention.{suffix}"
    starts = {"png": PNG, "svg": b"<?xml", "pdf": b"%PDF", "html": b"<!doctype"}
    written = plot_attention(attention(T, S), ROWS, COLUMNS, path)
    assert written == path
    assert path.read_bytes().startswith(starts[suffix.lower()])


def test_a_path_may_be_a_string(tmp_path):
    path = str(tmp_path / "attention.png")
    written = plot_attention(attention(T, S), ROWS, COLUMNS, path, dpi=50)
    assert written == pathlib.Path(path) and written.exists()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"path": "x.bmp"}, r"`path` must end.*Received: 'x.bmp'"),
        ({"path": "x"}, r"`path` must end.*Received: 'x'"),
        ({"heads": 3}, r"`heads` must be 'all' or 'mean'. Received: 3"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        plot_attention(attention(T, S), ROWS, COLUMNS, **arguments)


@pytest.mark.parametrize(
    "weights",
    [attention(T, S), attention(8, T, S), attention(2, H, T, S)],
    ids=["one head", "eight heads", "two layers"],
)
def test_no_token_is_cut_off_at_the_edge(weights):
    columns = [*COLUMNS[:-1], "internationalisation"]
    title = "A title that is longer than the small picture below it is wide"
    figure = plot_attention(weights, ROWS, columns, title=title)
    figure.canvas.draw()
    width, height = figure.bbox.size
    texts = [text for text in figure.findobj(Text) if text.get_text()]
    assert len(texts) > len(ROWS) + len(columns)
    for text in texts:
        box = text.get_window_extent()
        assert 0 <= box.x0 and box.x1 <= width, text
        assert 0 <= box.y0 and box.y1 <= height, text


@pytest.mark.parametrize(
    "heads, rows", [(1, 1), (4, 1), (5, 2), (8, 2), (9, 3)]
)
def test_every_panel_has_its_columns_below_it(heads, rows):
    figure = plot_attention(attention(heads, T, S), ROWS, COLUMNS)
    tops = sorted({axis.get_position().y0 for axis in panels(figure)})
    assert len(panels(figure)) == heads and len(tops) == rows
    for column in {axis.get_position().x0 for axis in panels(figure)}:
        below = min(
            (a for a in panels(figure) if a.get_position().x0 == column),
            key=lambda axis: axis.get_position().y0,
        )
        assert labels(below.get_xticklabels()) == COLUMNS


def test_a_hundred_tokens_fit_without_writing_over_each_other():
    words = [f"word{i}" for i in range(100)]
    figure = plot_attention(attention(100, 100), words, words)
    figure.canvas.draw()
    (axis,) = panels(figure)
    boxes = [t.get_window_extent() for t in axis.get_yticklabels()]
    assert len(boxes) >= 50
    for upper, lower in zip(boxes, boxes[1:], strict=False):
        assert lower.y1 <= upper.y0 + 1


AWKWARD = [
    "$x^2$",
    "$5",
    "\\alpha",
    "<script>",
    "你好",
    "שלום",
    "مرحبا",
    "😀",
    "x" * 99,
]


def test_awkward_tokens_are_drawn_without_a_warning(tmp_path):
    weights = attention(len(AWKWARD), len(AWKWARD))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plot_attention(weights, AWKWARD, AWKWARD, title="$y 你")
        figure.savefig(tmp_path / "awkward.png")
    found = labels(panels(figure)[0].get_yticklabels())
    assert found[:4] == AWKWARD[:4]
    assert found[-1] == "x" * 23 + "…"


def test_a_dollar_is_not_mathematics():
    figure = plot_attention([[1.0]], ["$x^2$"], ["$y$"], title="$z$")
    (axis,) = panels(figure)
    ticks = axis.get_xticklabels() + axis.get_yticklabels()
    assert not any(tick.get_parse_math() for tick in ticks)


def test_a_box_stands_for_what_no_font_has(monkeypatch, tmp_path):
    only = [
        font
        for font in font_manager.fontManager.ttflist
        if font.name == "DejaVu Sans"
    ]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", only)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = plot_attention([[1.0]], ["你 a"], ["你"], title="t 好")
        figure.savefig(tmp_path / "boxes.png")
    (axis,) = panels(figure)
    assert labels(axis.get_yticklabels()) == ["□ a"]


def test_a_font_that_has_the_letters_is_found():
    # DejaVu Sans has no mathematical fonts' brace pieces of STIX; any other
    # installed font will do to see that it is looked for.
    default = set(
        ft2font.FT2Font(font_manager.findfont("DejaVu Sans")).get_charmap()
    )
    for font in font_manager.fontManager.ttflist:
        plain = font.style == "normal" and font.weight == 400
        if plain and "LastResort" not in font.fname:
            extra = set(ft2font.FT2Font(font.fname).get_charmap()) - default
            extra = [chr(c) for c in extra if not chr(c).isspace()]
            if extra:
                break
    families, drawable = token_fonts.fonts_for(extra[0])
    assert len(families) == 2 and drawable == {extra[0]}
    assert not families[1].startswith("Last Resort")


def test_drawing_loads_neither_keras_nor_tensorflow_nor_pyplot():
    code = (
        "import sys\n"
        "from keras_seq.explain import attention_html, plot_attention\n"
        "assert 'matplotlib' not in sys.modules\n"
        "plot_attention([[1.0]], ['a'], ['b'])\n"
        "attention_html([[1.0]], ['a'], ['b'])\n"
        "heavy = {'keras', 'tensorflow', 'torch', 'jax', 'matplotlib.pyplot'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
