"""predict, explain, evaluate and export of a captioner, by its files."""

import json
import pathlib
import re

import numpy as np
import pytest
from PIL import Image

from keras_seq.cli import main
from keras_seq.commands import captioning_run
from keras_seq.commands.captioning_inputs import image_inputs
from keras_seq.commands.captioning_pictures import view
from tests.tasks.captioning_toy import talkative_captioner, toy_files

pytestmark = pytest.mark.tensorflow
BAD = {
    "photos/bad.jpg": "must be a JPEG, PNG, GIF or BMP file",
    "cut.jpg": "must be a whole image, and is cut off",
    "dot.png": "at least 8 x 8 pixels. Received: 1 x 1",
    "huge.png": "at most 36000000 pixels. Received: 10000 x 10000",
    "empty": "must hold images (.jpg, .jpeg, .png, .gif, .bmp)",
    "no/*.jpg": "must match image files",
    "lost.jpg": "No such file",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a run, its export, photos, and what is none."""
    place = tmp_path_factory.mktemp("captions")
    (place / "photos").mkdir()
    (place / "empty").mkdir()
    toy_files(place / "photos")
    (place / "photos" / "bad.jpg").write_bytes(b"<html>404</html>")
    (place / "photos" / "note.txt").write_text("no image")
    noise = np.random.default_rng(0).integers(0, 255, (90, 120, 3), "uint8")
    Image.fromarray(noise).save(place / "cut.jpg")
    contents = (place / "cut.jpg").read_bytes()
    (place / "cut.jpg").write_bytes(contents[: len(contents) // 2])
    Image.new("RGB", (1, 1)).save(place / "dot.png")
    Image.new("L", (10_000, 10_000)).save(place / "huge.png")
    settings = {"data": "scenes", "licence": "CC0-1.0"}
    talkative_captioner(settings=settings).save(place / "run")
    run = captioning_run.CaptioningRun(place / "run")
    run.export(place / "exported", only=("serving_default", "explain"))
    return place


@pytest.fixture
def at_work(place, monkeypatch):
    monkeypatch.chdir(place)
    return place


def objects(printed):
    return [json.loads(line) for line in printed.splitlines()]


def test_bad_files_are_named_and_the_rest_is_done(at_work, capsys):
    asked = ["photos", "photos/[01].png", *list(BAD)[1:]]
    assert main(["predict", "run", "--json", *asked]) == 1
    captured = capsys.readouterr()
    answers = objects(captured.out)
    good = [one["image"] for one in answers if "text" in one]
    assert good == [f"photos/{n}.png" for n in (0, 1, 2, 0, 1)]
    assert all(one["text"] for one in answers if "text" in one)
    said = {one["image"]: one["error"] for one in answers if "error" in one}
    assert set(said) == set(BAD)
    for name, message in BAD.items():
        assert said[name].startswith(f"{name}: ") and message in said[name]
        assert said[name] in captured.err


def test_an_export_answers_as_the_run_and_reads_paths(at_work, capsys, stdin):
    found = []
    for model in ("run", "exported"):
        stdin(b"photos/0.png\r\nphotos/2.png")
        assert main(["predict", model]) == 0
        found.append(capsys.readouterr().out.splitlines())
    assert found[0] == found[1]
    assert [line.split(":")[0] for line in found[0]] == [
        "photos/0.png",
        "photos/2.png",
    ]


def test_explain_draws_what_it_looked_at(at_work, capsys, tmp_path):
    files = [tmp_path / "new" / f"look.{kind}" for kind in ("png", "html")]
    options = [x for f in files for x in (f"--{f.suffix[1:]}", str(f))]
    assert main(["explain", "exported", "photos/0.png", *options]) == 0
    printed = capsys.readouterr().out
    caption, *words = printed.splitlines()
    count = len(caption.split(": ")[1].split())
    places = r"  \w+ +(top|middle|bottom) (left|centre|right)  \(\d\.\d\d\)"
    assert all(re.fullmatch(places, line) for line in words[:count])
    for file in files:
        assert file.stat().st_size > 1000 and f"is in {file}" in printed
    gif = tmp_path / "look.gif"
    asked = ["photos/0.png", "photos/bad.jpg", "photos/1.png"]
    code = main(["explain", "exported", "--json", "--gif", str(gif), *asked])
    assert code == 1
    answers = objects(capsys.readouterr().out)
    assert [one["image"] for one in answers] == asked
    assert np.shape(answers[0]["attention"]) == (
        len(answers[0]["words"]),
        *(7, 5),
    )
    written = sorted(path.name for path in tmp_path.glob("*.gif"))
    assert written == ["look-0.gif", "look-1.gif"]


def test_what_is_drawn_has_the_shape_of_the_picture(tmp_path):
    pixels = np.zeros((30, 60, 3), "uint8")
    pixels[:, :15] = 255
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter turn
    Image.fromarray(pixels).save(tmp_path / "a.jpg", exif=exif)
    contents = (tmp_path / "a.jpg").read_bytes()
    assert view(contents, (28, 20), "stretch").shape == (60, 30, 3)
    square = view(contents, (28, 28), "crop")
    assert square.shape == (60, 60, 3)
    assert square[:5].mean() < 50  # white is at the end that was cut off


def test_two_images_of_one_name_have_two_pictures(tmp_path):
    from keras_seq.commands.captioning_pictures import _unused

    first = _unused(pathlib.Path("a/x.png"), "cat", [])
    assert first == pathlib.Path("a/x-cat.png")
    assert _unused(pathlib.Path("a/x.png"), "cat", [first]) == pathlib.Path(
        "a/x-cat-2.png"
    )


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("explain exported --png x.gif a.jpg", "--png must be a file that en"),
        ("explain exported --method gradient a.jpg", "--method is chosen"),
        ("explain run --method gradient a.jpg", "--method must be attention"),
        ("export exported", "is an export already"),
        ("export run --format onnx", "--format onnx is for classifiers"),
        ("evaluate exported --beam-size 2", "--beam-size is chosen when"),
        ("evaluate run --languages en-fr", "--languages says nothing about"),
        ("evaluate run --data nowhere", "--data must be one of ['scenes'"),
        ("train captioning --model sof", "--model must be one of"),
        ("train captioning --preset big", "--preset must be one of"),
        ("train captioning --epochs 0", "--epochs must be at least 1"),
        ("train captioning --data flickr8k", "--data-dir (or the environment"),
    ],
)
def test_a_bad_request_is_said(
    at_work, capsys, monkeypatch, arguments, message
):
    monkeypatch.delenv("KERAS_SEQ_DATA", raising=False)
    assert main(arguments.split()) == 2
    assert message in capsys.readouterr().err


def test_files_are_read_one_at_a_time(tmp_path):
    paths = toy_files(tmp_path)
    found = image_inputs([str(tmp_path).encode(), b"  "])
    assert next(found).contents == paths[0].read_bytes()
    paths[1].unlink()  # nobody has looked at it yet
    assert "No such file" in next(found).error
    assert [one.error[:4] for one in found] == ["", "must"]


def test_an_export_is_scored_as_the_run(at_work, capsys, monkeypatch):
    from keras_seq.data import load_scenes

    few = load_scenes(1, 1, 6)
    monkeypatch.setattr(
        "keras_seq.tasks.captioning_data.load_scenes", lambda: few
    )
    monkeypatch.setattr(  # it would take ten seconds, where there is Java
        "keras_seq.tasks.captioning_scores.find_meteor", lambda: None
    )
    scores = []
    for model in ("run", "exported"):
        assert main(["evaluate", model, "--data", "scenes", "--json"]) == 0
        scores.append(objects(capsys.readouterr().out)[0])
    assert scores[0].keys() == scores[1].keys()
    assert scores[0]["pictures"] == 6
    names = list(scores[0])
    beside = names.index("pointing_accuracy") + 1
    assert names[beside] == "pointing_chance"
    for name, value in scores[0].items():
        assert scores[1][name] == pytest.approx(value, rel=1e-2, abs=1e-2)
