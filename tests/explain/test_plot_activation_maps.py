"""Heat maps over pictures: hot where the map is, readable, and checked."""

import subprocess
import sys

import numpy as np
import PIL.Image
import pytest

from keras_seq.explain import ActivationMaps, plot_activation_maps
from keras_seq.explain.heat_image import heat

N, GRID, SIZE = 3, (5, 7), (40, 56)
IMAGES = np.random.default_rng(0).integers(0, 256, (N, *SIZE, 3), "uint8")
GREY = np.full((*SIZE, 3), 120, "uint8")


def spot(row, column, level=1.0):
    weights = np.zeros(GRID)
    weights[row, column] = level
    return weights


def test_it_is_hot_where_the_map_is_and_dim_elsewhere():
    hot = heat(GREY, spot(1, 5))
    assert hot[12, 44, 0] > 200  # the middle of cell (1, 5)
    assert (hot[36, 4] < 120).all()
    assert hot.shape == GREY.shape and hot.dtype == np.uint8


def test_heat_rises_with_the_map_also_in_grey():
    ramp = np.tile(np.linspace(0, 1, 7), (5, 1))
    row = heat(GREY, ramp)[20].astype(float) @ [0.299, 0.587, 0.114]
    assert (np.diff(row) >= 0).all() and row[-1] > row[0] + 60


def test_the_scale_is_the_maps_own_and_what_is_negative_is_cold():
    np.testing.assert_array_equal(
        heat(GREY, spot(2, 3)), heat(GREY, spot(2, 3, 1e-3))
    )
    np.testing.assert_array_equal(
        heat(GREY, np.zeros(GRID)), heat(GREY, -np.ones(GRID))
    )


def test_every_picture_has_its_map_below_it():
    maps = np.stack([spot(0, 0), spot(2, 3), spot(4, 6)])
    found = ActivationMaps(maps, np.zeros(N, int), np.zeros(N))
    figure = plot_activation_maps(
        IMAGES,
        {"CAM": found, "Grad-CAM": maps},
        title="Seen",
        labels=["cat", "dog $5", "漢字"],
        boxes=[[(3, 4, 13, 14)], [], []],
    )
    texts = [text.get_text() for text in figure.texts]
    assert texts[:2] == ["Seen", "cat"]
    assert {"CAM", "Grad-CAM", "dog $5"} < {*texts}
    assert len(figure.axes) == N * 3
    columns = {round(axis.get_position().x0, 3) for axis in figure.axes}
    rows = {round(axis.get_position().y0, 3) for axis in figure.axes}
    assert (len(columns), len(rows)) == (3, 3)
    assert sum(len(axis.patches) for axis in figure.axes) == 2
    hot = figure.axes[1].images[0].get_array()
    assert hot[0, 0, 0] > hot[-1, -1, 0]


def test_many_pictures_wrap_and_sizes_may_differ(tmp_path):
    pictures = [np.ones((20, 30 + n, 3)) / 2 for n in range(8)]
    path = tmp_path / "many.png"
    assert plot_activation_maps(pictures, np.ones((8, 2, 3)), path) == path
    with PIL.Image.open(path) as drawn:
        assert drawn.width < 1400
    figure = plot_activation_maps(pictures, np.ones((8, 2, 3)))
    columns = {round(axis.get_position().x0, 3) for axis in figure.axes}
    assert (len(figure.axes), len(columns)) == (16, 4)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"maps": np.ones((2, *GRID))}, r"each of the 3 .* \(2, 5, 7\)"),
        ({"maps": {"CAM": np.ones((N, 5))}}, "`maps` of 'CAM' must have"),
        ({"maps": np.full((N, *GRID), np.nan)}, "`maps` must be finite"),
        ({"maps": {}}, "must not be empty"),
        ({"images": IMAGES[..., :2]}, "`image` must have the shape"),
        ({"labels": ["a"]}, "`labels` must have one entry.*Received: 1"),
        ({"boxes": [[]]}, "`boxes` must have one entry"),
        ({"path": "a.gif"}, "`path` must end in .png"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change, message):
    given = {"images": IMAGES, "maps": np.ones((N, *GRID)), **change}
    with pytest.raises(ValueError, match=message):
        plot_activation_maps(**given)


def test_drawing_loads_neither_keras_nor_tensorflow():
    code = (
        "import sys, numpy as np\n"
        "from keras_seq import explain\n"
        "explain.plot_activation_maps(np.ones((1, 9, 9)), np.ones((1, 3, 3)))\n"
        "assert not {'keras', 'tensorflow'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
