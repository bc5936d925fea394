"""COCO captions: JSON files that say which caption belongs to which picture."""

import json
import os
import pathlib

import numpy as np

from keras_seq.data.captioned_images import CaptionedImages, captioned_files
from keras_seq.data.holdout import hold_out
from keras_seq.data.image_files import ImageFiles

LICENCE = (
    "captions CC BY 4.0, COCO Consortium; photographs belong to their "
    "authors; cite Lin et al. 2014 and Chen et al. 2015"
)


def load_coco_captions(
    train,
    images,
    *,
    validation=None,
    test=None,
    name="coco_captions",
    licence=LICENCE,
) -> CaptionedImages:
    """Load captions in the JSON format of COCO (Chen et al., 2015).

    Such a file has `images`, a list of `{"id": ..., "file_name": ...}`, and
    `annotations`, a list of `{"image_id": ..., "caption": ...}`. COCO's own
    are `captions_train2017.json` and `captions_val2017.json`.

    Fields: `name`, the file of a picture, and `captions`, as many as it has.
    Pictures without a caption are left out; those that are not in `images`
    are too, with a warning that names them.

    Args:
        train: The captions to learn from.
        images: Where the pictures are: a folder, a zip file, or a list.
        validation: The captions to choose by. None keeps those of a
            twentieth of the pictures of `train` aside.
        test: The captions to score on. None keeps another twentieth aside.
        name: Name of the data set.
        licence: Terms of use, to be kept with models made from it.
    """
    captions, notes = {"train": read_coco_captions(train)}, []
    for split, path in (("validation", validation), ("test", test)):
        if path is not None:
            captions[split] = read_coco_captions(path)
            continue
        captions["train"], captions[split] = _split_off(
            captions["train"], split
        )
        notes.append(
            f"`{split}` is a twentieth of the pictures of {train}, kept out "
            "of `train`."
        )
    return captioned_files(
        name, licence, captions, ImageFiles(images), tuple(notes)
    )


def read_coco_captions(path) -> dict[str, list[str]]:
    """Read `{file name of a picture: [its captions]}` from one JSON file.

    A file name may have folders in it.
    """
    content = _read_json(path)
    names = {}
    for row, image in enumerate(content["images"]):
        picture = _id(path, "images", row, image, "id")
        name = _value(path, "images", row, image, "file_name")
        if not isinstance(name, str) or not name.strip():
            raise ValueError(
                f"{path}: images[{row}] must have the name of a file. "
                f"Received: file_name {str(name)[:80]!r}"
            )
        name = str(pathlib.PurePosixPath(name))
        if names.setdefault(picture, name) != name:
            raise ValueError(
                f"{path}: images[{row}] must have an 'id' of its own. "
                f"Received: {picture!r}, which is {names[picture]!r} above"
            )
    captions = {name: [] for name in names.values()}
    for row, said in enumerate(content["annotations"]):
        picture = _id(path, "annotations", row, said, "image_id")
        caption = _value(path, "annotations", row, said, "caption")
        if picture not in names:
            raise ValueError(
                f"{path}: annotations[{row}] must be of one of the "
                f"{len(names)} `images`. Received: image_id {picture!r}"
            )
        if not isinstance(caption, str) or not caption.strip():
            raise ValueError(
                f"{path}: annotations[{row}] must have a caption. "
                f"Received: {caption!r}"
            )
        # Some of COCO's captions have line ends in them.
        captions[names[picture]].append(" ".join(caption.split()))
    captions = {name: said for name, said in captions.items() if said}
    if not captions:
        raise ValueError(f"{path}: must have captions. Received: none")
    return captions


def _read_json(path):
    try:
        content = json.loads(pathlib.Path(path).read_text("utf-8"))
    except FileNotFoundError as error:
        raise ValueError(
            f"`path` must be a file. Received: {os.fspath(path)!r}, which "
            "does not exist"
        ) from error
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path}, line {error.lineno}: must be JSON. Received: {error.msg}"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(
            f"{path}: must be readable, as UTF-8. Received: {error}"
        ) from error
    for key in ("images", "annotations"):
        if not isinstance(content, dict) or not isinstance(
            content.get(key), list
        ):
            found = list(content) if isinstance(content, dict) else content
            raise ValueError(
                f"{path}: must have the lists 'images' and 'annotations', as "
                f"COCO's caption files have. Received: {str(found)[:80]}"
            )
    return content


def _value(path, key, row, entry, field):
    if not isinstance(entry, dict) or field not in entry:
        raise ValueError(
            f"{path}: {key}[{row}] must have {field!r}. "
            f"Received: {str(entry)[:80]}"
        )
    return entry[field]


def _id(path, key, row, entry, field):
    found = _value(path, key, row, entry, field)
    if not isinstance(found, (int, float, str)):
        raise ValueError(
            f"{path}: {key}[{row}] must have a number or a text as {field!r}. "
            f"Received: {str(found)[:80]}"
        )
    return found


def _split_off(captions, split):
    names = np.array(sorted(captions), dtype=object)
    aside = set(names[hold_out(names, 0.05, salt=split)])
    if len(aside) == len(captions):
        raise ValueError(
            f"`{split}` is to be split off and leaves no picture to learn "
            f"from. Received: {len(captions)} pictures"
        )
    return tuple(
        {n: said for n, said in captions.items() if (n in aside) == wanted}
        for wanted in (False, True)
    )
