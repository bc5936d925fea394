"""Features on disk: made once, resumed, checked, and refused."""

import json

import numpy as np
import pytest

from keras_seq.commands.captioning_task import OPTIONS
from keras_seq.commands.usage_error import UsageError, in_options
from keras_seq.data.png import encode_png
from keras_seq.vision import decode_images, feature_cache, small_cnn
from keras_seq.vision.feature_cache import cached_features

pytestmark = pytest.mark.tensorflow
SIZE = (28, 20)
NAMES = [f"{n}.png" for n in range(11)]


def contents(name):
    rng = np.random.default_rng(int(name.split(".")[0]))
    return encode_png(rng.integers(0, 256, (*SIZE, 3), dtype="uint8"))


@pytest.fixture(scope="module")
def network():
    return small_cnn(widths=(4, 6))


@pytest.fixture(autouse=True)
def parts_of_three(monkeypatch):
    monkeypatch.setattr(feature_cache, "PART", 3)


def make(folder, network, names=NAMES, read=contents, **how):
    return cached_features(
        folder, network, names, read, **{"image_size": SIZE, **how}
    )


class Reader:
    """Reads, counts, and is killed when it is told to be."""

    def __init__(self, dies_at=None):
        self.asked, self.dies_at = [], dies_at

    def __call__(self, name):
        if name == self.dies_at:
            raise KeyboardInterrupt
        self.asked.append(name)
        return contents(name)


def expected(network, names=NAMES):
    pixels = decode_images([contents(name) for name in names], SIZE, "stretch")
    return network(pixels, training=False).numpy()


def test_features_are_those_of_the_network(tmp_path, network):
    found = make(tmp_path / "a", network)
    assert found.features.shape == (11, 7, 5, 6) and not found.failures
    np.testing.assert_allclose(found.features, expected(network), rtol=2e-3)


def test_they_are_computed_once(tmp_path, network):
    first, again = Reader(), Reader()
    done = []
    made = make(
        tmp_path, network, read=first, progress=lambda *at: done.append(at)
    )
    assert first.asked == NAMES
    assert done == [(3, 11), (6, 11), (9, 11), (11, 11)]
    found = make(tmp_path, network, read=again)
    assert again.asked == []
    np.testing.assert_array_equal(found.features, made.features)


def test_a_killed_run_goes_on_where_it_was(tmp_path, network):
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, network, read=Reader("7.png"))
    with open(tmp_path / "parts.jsonl", "a") as file:
        file.write('{"part": 2, "cr')  # and it was writing
    again, done = Reader(), []
    found = make(
        tmp_path, network, read=again, progress=lambda *at: done.append(at)
    )
    assert again.asked == NAMES[6:]
    assert done == [(9, 11), (11, 11)]
    np.testing.assert_allclose(found.features, expected(network), rtol=2e-3)
    assert make(tmp_path, network, read=Reader("0.png")).features.shape[0] == 11


def test_damage_is_found_and_mended(tmp_path, network):
    made = np.array(make(tmp_path, network).features)
    path = tmp_path / "features.npy"
    data = bytearray(path.read_bytes())
    data[-7] ^= 1
    path.write_bytes(data)
    again = Reader()
    found = make(tmp_path, network, read=again)
    assert again.asked == NAMES[9:]
    np.testing.assert_array_equal(found.features, made)
    for rest in (data[:-100], b"", b"no array"):
        path.write_bytes(rest)
        np.testing.assert_array_equal(make(tmp_path, network).features, made)


def test_bad_pictures_are_named_and_the_rest_is_done(tmp_path, network):
    def read(name):
        if name == "4.png":
            return contents(name)[:-40]
        if name == "9.png":
            raise FileNotFoundError(2, "No such file or directory")
        return contents(name)

    for _ in range(2):  # made, then read
        found = make(tmp_path, network, read=read)
        assert list(found.failures) == [4, 9]
        assert "cut off or damaged" in found.failures[4]
        assert found.failures[9] == "No such file or directory"
        assert not found.features[4].any()
        good = [n for n in range(11) if n not in (4, 9)]
        np.testing.assert_allclose(
            found.features[good], expected(network)[good], rtol=2e-3
        )


def test_a_picture_that_was_mended_is_tried_again(tmp_path, network):
    broken = {"4.png", "5.png", "9.png"}
    asked = []

    def read(name):
        asked.append(name)
        return b"<html>404</html>" if name in broken else contents(name)

    make(tmp_path, network, read=read)
    asked.clear()
    assert list(make(tmp_path, network, read=read).failures) == [4, 5, 9]
    assert asked == ["4.png", "5.png", "9.png"]
    broken.remove("4.png")
    found = make(tmp_path, network, read=read)
    assert list(found.failures) == [5, 9]
    good = [n for n in range(11) if n not in (5, 9)]
    np.testing.assert_allclose(
        found.features[good], expected(network)[good], rtol=2e-3
    )
    asked.clear()
    assert list(make(tmp_path, network, read=read).failures) == [5, 9]
    assert asked == ["5.png", "9.png"]  # 4.png is known by now
    broken.clear()
    assert not make(tmp_path, network, read=read).failures
    asked.clear()
    assert not make(tmp_path, network, read=read).failures
    assert asked == []


def test_a_mended_picture_of_a_killed_run_is_tried_again(tmp_path, network):
    def broken(name):
        if name == "9.png":
            raise KeyboardInterrupt
        return b"" if name == "1.png" else contents(name)

    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, network, read=broken)
    again = Reader()
    found = make(tmp_path, network, read=again)
    assert again.asked == ["1.png", "9.png", "10.png"] and not found.failures
    np.testing.assert_allclose(found.features, expected(network), rtol=2e-3)


def test_other_contents_of_the_same_names_are_refused(tmp_path, network):
    stamps = [f"made on day {n}" for n in range(11)]
    make(tmp_path, network, stamps=stamps)
    again = Reader()
    make(tmp_path, network, read=again, stamps=stamps)
    assert again.asked == []
    with pytest.raises(ValueError, match="differs in contents: "):
        make(tmp_path, network, stamps=["another day", *stamps[1:]])
    with pytest.raises(ValueError, match="`stamps`.*Received: 10 and 11"):
        make(tmp_path, network, stamps=stamps[1:])


def test_a_refusal_says_what_to_change_on_the_command_line(tmp_path, network):
    make(tmp_path / "kept", network)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("years of work")
    for folder in ("kept", "other"):
        with (
            pytest.raises(UsageError, match=f"--cache-dir.*{folder}'"),
            in_options(OPTIONS),
        ):
            make(tmp_path / folder, network, image_size=(20, 28))


@pytest.mark.parametrize("about", ["", "[3]", "\x00\xff"])
def test_a_damaged_description_is_refused(tmp_path, network, about):
    make(tmp_path, network)
    (tmp_path / "about.json").write_text(about, encoding="latin-1")
    with pytest.raises(ValueError, match="`folder` must hold features"):
        make(tmp_path, network)


def test_another_network_size_or_list_is_refused(tmp_path, network):
    make(tmp_path, network)
    other = small_cnn(widths=(4, 6), name="other")
    with pytest.raises(ValueError, match="network: small_cnn there, other"):
        make(tmp_path, other)
    with pytest.raises(ValueError, match=r"image_size: \[28, 20\] there"):
        make(tmp_path, network, image_size=(20, 28))
    with pytest.raises(ValueError, match="fit: stretch there, crop asked"):
        make(tmp_path, network, fit="crop")
    with pytest.raises(ValueError, match="pictures: 11 there, 10 asked"):
        make(tmp_path, network, NAMES[:-1])
    with pytest.raises(ValueError, match="names: "):
        make(tmp_path, network, NAMES[::-1])
    with pytest.raises(ValueError, match="mirror: False there, True"):
        make(tmp_path, network, mirror=True)
    about = json.loads((tmp_path / "about.json").read_text())
    assert about["shape"] == [7, 5, 6]


def test_a_folder_of_other_things_is_left_alone(tmp_path, network):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ValueError, match="other files"):
        make(tmp_path, network)
    with pytest.raises(ValueError, match="`names` must have a picture"):
        make(tmp_path / "new", network, [])


def test_a_mirror_swaps_left_and_right(tmp_path, network):
    found = make(tmp_path, network, NAMES[:2], mirror=True).features
    pixels = decode_images([contents(n) for n in NAMES[:2]], SIZE, "stretch")
    right = network(pixels[:, :, ::-1], training=False).numpy()
    np.testing.assert_allclose(found, right, rtol=2e-3)
