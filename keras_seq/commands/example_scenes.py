"""Painted scenes as files: something to show a captioner of scenes."""

import pathlib

FOLDER = "scenes"


def write_example_scenes(run, data: str, count: int = 4) -> None:
    """Write test pictures into the folder of a run, as `scenes/1.png` and on.

    Args:
        run: The folder of the run.
        data: The name of its data set; if that is not painted, nothing is
            written.
        count: How many.
    """
    from keras_seq import data as data_sets
    from keras_seq.data.png import encode_png

    loaders = {
        "scenes": data_sets.load_scenes,
        "biased_scenes": data_sets.load_biased_scenes,
    }
    if data not in loaders:
        return
    # The first pictures do not depend on how many follow.
    scenes = loaders[data](1, 1, count)
    folder = pathlib.Path(run, FOLDER)
    folder.mkdir(exist_ok=True)
    for number, image in enumerate(scenes.columns("test")["image"], start=1):
        (folder / f"{number}.png").write_bytes(encode_png(image))


def example_scene(run) -> pathlib.Path | None:
    """Return a picture that `write_example_scenes` wrote, if it did."""
    path = pathlib.Path(run, FOLDER, "1.png")
    return path if path.is_file() else None
