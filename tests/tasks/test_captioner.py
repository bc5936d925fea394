"""Captioners: asked about pictures of all kinds, saved, and loaded."""

import json

import numpy as np
import pytest
import tensorflow as tf

from keras_seq.data.png import encode_png
from keras_seq.models import show_attend_tell
from keras_seq.tasks.captioner import Captioner
from keras_seq.vision import small_cnn
from tests.tasks.captioning_toy import (
    MAKERS,
    toy_captioner,
    toy_files,
    toy_images,
)

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module", params=list(MAKERS))
def captioner(request):
    return toy_captioner(request.param)


def test_bytes_paths_and_pixels_are_one_picture(captioner, tmp_path):
    paths, images = toy_files(tmp_path), toy_images()
    found = captioner.caption(images)
    assert len(found) == 3 and all(isinstance(text, str) for text in found)
    assert captioner.caption(paths) == found
    assert captioner.caption([str(path) for path in paths]) == found
    assert captioner.caption([p.read_bytes() for p in paths]) == found
    assert captioner.caption(paths, batch_size=2) == found
    assert captioner.caption(images[0]) == found[:1]
    assert captioner.caption(str(paths[0])) == found[:1]


def test_greedy_is_a_beam_of_one_and_the_first_of_the_best(captioner):
    images = toy_images()
    few = captioner.n_best(images, n_best=3, beam_size=4)
    assert [row[0][0] for row in few] == captioner.caption(images, beam_size=4)
    assert [len({text for text, _ in row}) for row in few] == [3, 3, 3]
    captioner.settings["beam_size"] = 1
    try:
        assert captioner.caption(images) == captioner.caption(
            images, beam_size=1
        )
    finally:
        del captioner.settings["beam_size"]


def test_no_caption_has_an_unknown_word(captioner):
    for text in captioner.caption(toy_images(11)):
        assert "<" not in text


def test_bad_pictures_do_not_lose_the_rest(captioner, tmp_path):
    (good,) = toy_files(tmp_path, 1)
    (tmp_path / "cut.png").write_bytes(good.read_bytes()[:-40])
    (tmp_path / "page.jpg").write_bytes(b"<html>404</html>")
    images = [
        tmp_path / "page.jpg",
        good,
        tmp_path / "cut.png",
        tmp_path / "none.png",
        np.zeros((5, 7)),
        good.read_bytes(),
    ]
    with pytest.warns(UserWarning, match="4 of 6 pictures") as caught:
        found = captioner.caption(images, batch_size=4)
    assert [text is None for text in found] == [True, False, True] + [
        True,
        True,
        False,
    ]
    assert found[1] == found[5] == captioner.caption([good])[0]
    message = str(caught[0].message)
    for said in ("page.jpg: ", "JPEG, PNG", "cut.png: ", "No such file"):
        assert said in message
    assert "images[4]: " in message
    assert caught[0].filename == __file__
    features, failures = captioner.features(images, batch_size=4)
    assert features.shape == (2, 35, 6) and sorted(failures) == [0, 2, 3, 4]
    with pytest.warns(UserWarning, match="1 of 1"):
        assert captioner.caption([b""]) == [None]


def test_no_pictures_have_no_captions(captioner):
    assert captioner.caption([]) == []
    assert captioner.n_best([]) == []
    features, failures = captioner.features([])
    assert features.shape == (0, 35, 6) and not failures


def test_a_folder_gives_the_captioner_back(captioner, tmp_path):
    captioner.settings["seed"] = 3
    captioner.save(tmp_path)
    again = Captioner.load(tmp_path)
    images = toy_images(2)
    assert again.caption(images) == captioner.caption(images)
    assert again.settings == {"seed": 3}
    assert (again.grid, again.image_size) == ((7, 5), (28, 20))
    assert json.loads((tmp_path / "captioner.json").read_text())["fit"]
    (tmp_path / "vision.keras").unlink()
    with pytest.raises(ValueError, match="has no vision.keras"):
        Captioner.load(tmp_path)


@pytest.mark.parametrize("model", ["soft", "hard", "transformer"])
def test_each_word_has_a_map_of_where_it_looked(model):
    captioner = toy_captioner(model)
    images = toy_images()
    said = captioner.explain(images)
    assert [one.text for one in said] == captioner.caption(images)
    for one in said:
        assert " ".join(one.words) == one.text
        assert one.attention.shape == (len(one.words), 7, 5)
        np.testing.assert_allclose(one.attention.sum((1, 2)), 1, rtol=1e-5)


@pytest.mark.parametrize("model", ["soft", "hard", "transformer"])
def test_the_maps_are_those_of_the_steps_that_wrote_the_words(model):
    captioner = toy_captioner(model)
    features, _ = captioner.features(toy_images(2))
    token_ids = tf.constant([[4, 6, 3, 0], [9, 5, 4, 3]])
    maps = captioner.attend(features, token_ids).numpy()
    state = captioner.model.start(features)
    read = np.array([[2, 4, 6, 3], [2, 9, 5, 4]])
    for t in range(4):
        _, state, weights = captioner.model.step(read[:, t], state)
        mean = np.mean([np.mean(w, axis=(1, 2)) for w in weights.values()], 0)
        mean[0] *= t < 3  # padding looks nowhere
        np.testing.assert_allclose(maps[:, t].reshape(2, 35), mean, atol=1e-6)


def test_heads_can_be_chosen():
    captioner = toy_captioner("transformer")
    features, _ = captioner.features(toy_images(2))
    token_ids = tf.constant([[4, 6, 3], [9, 5, 3]])
    heads = captioner.attend_heads(features, token_ids).numpy()
    assert heads.shape == (2, 2, 3, 3, 7, 5)
    captioner.settings["attention_heads"] = [[1, 2], [0, 0]]
    chosen = captioner.attend(features, token_ids).numpy()
    np.testing.assert_allclose(
        chosen, (heads[:, 1, 2] + heads[:, 0, 0]) / 2, atol=1e-6
    )


def test_one_vector_cannot_be_explained():
    captioner = toy_captioner("show_and_tell")
    assert not captioner.has_attention
    with pytest.raises(ValueError, match="`model` must have attention"):
        captioner.explain(toy_images(1))


def test_parts_that_do_not_fit_are_refused():
    good = toy_captioner()
    with pytest.raises(ValueError, match="`vision`.*6. Received: .7, 5, 8"):
        Captioner(
            good.tokenizer, good.model, small_cnn(widths=(4, 8)), (28, 20)
        )
    with pytest.raises(ValueError, match="`tokenizer`.*11.*Received: 10"):
        Captioner(good.tokenizer, show_attend_tell(11, 6, "test"), good.vision)


def test_the_graphs_run_in_a_graph_of_any_batch():
    captioner = toy_captioner()

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string)])
    def caption(image_bytes):
        features = captioner.encode_images(image_bytes)
        found = captioner.search(features)
        return (
            captioner.tokenizer.detokenize(found.token_ids[:, 0]),
            captioner.attend(features, found.token_ids[:, 0]),
        )

    images = toy_images(3)
    texts, maps = caption([encode_png(image) for image in images])
    assert [t.decode() for t in texts.numpy()] == captioner.caption(images)
    assert maps.shape[0] == 3 and maps.shape[2:] == (7, 5)
