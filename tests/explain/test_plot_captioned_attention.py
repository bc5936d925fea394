"""A picture lit up word by word: as a picture, a page and an animation."""

import json
import re
import subprocess
import sys

import numpy as np
import PIL.Image
import pytest

from keras_seq.explain import captioned_attention_html, plot_captioned_attention
from keras_seq.explain.lit_image import as_pixels, light, smooth_map

T, GRID, SIZE = 3, (5, 7), (40, 56)
WORDS = ["a", "red", "cup"]
IMAGE = np.random.default_rng(0).integers(0, 256, (*SIZE, 3), "uint8")


def spots():
    maps = np.zeros((T, *GRID))
    maps[0, 1, 5] = maps[1, 4, 0] = maps[2, 0, 0] = 1.0
    return maps


def page_data(page):
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found.group(1))


def test_smoothing_keeps_a_flat_map_flat_and_stays_in_range():
    flat = smooth_map(np.full(GRID, 0.3), *SIZE)
    np.testing.assert_allclose(flat, 0.3, rtol=1e-12)
    smooth = smooth_map(np.random.default_rng(1).random(GRID), *SIZE)
    assert smooth.shape == SIZE and 0 <= smooth.min() < smooth.max() <= 1


def test_the_peak_stays_in_its_cell():
    for row, column in np.ndindex(GRID):
        weights = np.zeros(GRID)
        weights[row, column] = 1
        level = smooth_map(weights, *SIZE)
        y, x = np.unravel_index(level.argmax(), SIZE)
        assert (y // 8, x // 8) == (row, column)


def test_light_is_where_the_weight_is():
    grey = np.full((*SIZE, 3), 200, "uint8")
    lit = light(grey, spots()[0])
    assert (lit[12, 44] == 200).all()  # the middle of cell (1, 5)
    assert lit[36, 4].max() < 50
    assert (lit == [255, 176, 32]).all(-1).any()  # the line round it
    assert light(grey, np.zeros(GRID)).max() < 50


def test_the_figure_has_every_word_with_its_largest_weight():
    maps = spots() * np.array([0.25, 0.5, 1])[:, None, None]
    figure = plot_captioned_attention(IMAGE, WORDS, maps, title="Cup")
    said = [text.get_text() for text in figure.texts]
    assert said == "Cup image a 0.25 red 0.50 cup 1.00".split()
    panels = [axis.images[0].get_array() for axis in figure.axes]
    assert len(panels) == T + 1
    for panel, weights in zip(panels[1:], maps, strict=True):
        np.testing.assert_array_equal(panel, light(panels[0], weights))


def test_soft_stands_beside_hard_and_each_has_its_words():
    figure = plot_captioned_attention(
        IMAGE,
        {"soft": WORDS, "hard": ["$x$", "你"]},
        {"soft": spots(), "hard": spots()[:2]},
        boxes={"soft": [(), (), [(1, 2, 9, 12)]], "hard": [(), ()]},
    )
    said = [text.get_text() for text in figure.texts]
    assert {"soft", "hard", "cup", "$x$"} <= set(said)
    assert len(figure.axes) == (T + 1) + 3
    (box,) = [patch for axis in figure.axes for patch in axis.patches]
    assert box.get_bbox().bounds == (1, 2, 8, 10)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf", "html", "gif"])
def test_the_path_says_what_is_written(tmp_path, kind):
    path = tmp_path / f"caption.{kind}"
    starts = {
        "png": b"\x89PNG",
        "svg": b"<?xml",
        "pdf": b"%PDF",
        "html": b"<!doctype",
        "gif": b"GIF89a",
    }
    assert plot_captioned_attention(IMAGE, WORDS, spots(), path, dpi=50) == path
    assert path.read_bytes().startswith(starts[kind])


def test_the_animation_has_a_frame_for_each_word_and_two_more(tmp_path):
    path = tmp_path / "caption.gif"
    models = {"soft": spots(), "hard": spots()[:2]}
    words = {"soft": WORDS, "hard": WORDS[:2]}
    plot_captioned_attention(IMAGE, words, models, path, "Cup", dpi=40)
    with PIL.Image.open(path) as gif:
        assert gif.n_frames == T + 2
        frames = []
        for at in range(gif.n_frames):
            gif.seek(at)
            frames.append(np.asarray(gif.convert("RGB"), float))
    light_of = [frame.mean() for frame in frames]
    assert min(light_of[0], light_of[-1]) > max(light_of[1:-1])
    assert np.abs(frames[1] - frames[2]).max() > 100


def test_the_page_has_the_numbers_and_asks_nothing_of_anyone():
    maps = spots() * 0.123456
    page = captioned_attention_html(IMAGE, WORDS, {"soft": maps}, title="A & B")
    data = page_data(page)
    assert data["models"][0]["words"] == WORDS
    np.testing.assert_allclose(data["models"][0]["maps"], maps, atol=1e-4)
    assert data["picture"].startswith("data:image/png;base64,")
    assert "<h1>A &amp; B</h1>" in page
    assert not re.search(r"https?:|@import|url\(|fetch\(", page)
    assert "default-src 'none'" in page and "unsafe" not in page


@pytest.mark.parametrize(
    "evil", ["</script><script>alert(1)</script>", "<img src=x>", "{{data}}"]
)
def test_words_and_names_are_text_and_never_run(evil):
    page = captioned_attention_html(
        IMAGE, [evil] * T, {evil: spots()}, title=evil
    )
    assert page_data(page)["models"][0]["words"] == [evil] * T
    assert "<script>alert" not in page and "<img" not in page


def test_any_kind_of_pixels_will_do():
    grey = as_pixels(np.full((2, 3), 7, "uint8"))
    assert grey.shape == (2, 3, 3) and (grey == 7).all()
    assert (as_pixels(np.ones((2, 3, 4), "float32")) == 255).all()
    with pytest.raises(ValueError, match="floats from 0 to 1.*up to 200"):
        as_pixels(np.full((2, 3, 3), 200.0))
    with pytest.raises(ValueError, match=r"Received: shape \(2, 3, 2\)"):
        as_pixels(np.zeros((2, 3, 2)))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"path": "x.bmp"}, "`path` must end in .html, .gif.*'x.bmp'"),
        ({"words": ["a"]}, "a map for each of the 1 `words`"),
        ({"words": "a cup"}, "`words` must be a list. Received: 'a cup'"),
        ({"attention": np.ones((3, 4))}, r"\(T, h, w\).*shape \(3, 4\)"),
        ({"attention": -spots()}, "not negative"),
        ({"attention": {}}, "`attention` must not be empty"),
        ({"words": {"b": []}}, "`words` must have an entry for ''"),
        ({"boxes": [[]]}, "1 entries"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changes, message):
    given = {"words": WORDS, "attention": spots(), **changes}
    with pytest.raises(ValueError, match=message):
        plot_captioned_attention(IMAGE, **given)


def test_drawing_loads_neither_keras_nor_tensorflow_nor_pyplot():
    code = (
        "import sys\n"
        "from keras_seq.explain import plot_captioned_attention\n"
        "assert 'matplotlib' not in sys.modules\n"
        "plot_captioned_attention([[0.5]], ['a'], [[[1.0]]])\n"
        "heavy = {'keras', 'tensorflow', 'torch', 'jax', 'matplotlib.pyplot'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
