"""The data sets that the captioning task knows, and their captions."""

import os
import pathlib
import re

import numpy as np

from keras_seq.data import (
    CaptionedImages,
    load_biased_scenes,
    load_coco_captions,
    load_flickr8k,
    load_scenes,
)
from keras_seq.data.folders import find_folder

NAMES = ("scenes", "biased_scenes", "flickr8k", "coco")
# What a mirror would make false.
_SIDES = re.compile(r"\b(?:left|right)")
_NO_WORD = re.compile(r"[^\w' -]|(?<!\w)['-]|['-](?!\w)")


def load_data(data, data_dir=None) -> CaptionedImages:
    """Return the `data.CaptionedImages` that `train` means by `data`.

    Args:
        data: "scenes" or "biased_scenes" (painted, built in); "flickr8k";
            "coco", a folder with `captions_train*.json`,
            `captions_val*.json` and the pictures; a file in the format of
            COCO's captions and where its pictures are, with a comma between
            them, as "captions.json,pictures"; or a data set.
        data_dir: The folder of the real data sets; by default what the
            environment variable `KERAS_SEQ_DATA` names.
    """
    if isinstance(data, CaptionedImages):
        return data
    name = os.fspath(data)
    if name == "scenes":
        return load_scenes()
    if name == "biased_scenes":
        return load_biased_scenes()
    if name == "flickr8k":
        return load_flickr8k(data_dir)
    if name == "coco":
        return _load_coco(find_folder(data_dir, "coco"))
    paths = [pathlib.Path(part) for part in name.split(",")]
    if len(paths) != 2 or not paths[0].is_file() or not paths[1].exists():
        raise ValueError(
            f"`data` must be one of {list(NAMES)}, or the path of a file of "
            "captions in COCO's format and that of a folder or zip file of "
            f"pictures with a comma between them. Received: {name!r}"
        )
    return load_coco_captions(
        paths[0], paths[1], name="files", licence="the user's own"
    )


def clean_caption(caption: str) -> str:
    r"""Return a caption in small letters, without punctuation.

    >>> clean_caption('A man\'s dog , in a T-shirt , barks " woof " !')
    "a man's dog in a t-shirt barks woof"
    """
    return " ".join(_NO_WORD.sub(" ", caption.lower()).split())


def clean_captions(columns) -> list[list[str]]:
    """Return the cleaned captions of each picture of some columns."""
    return [
        [clean_caption(caption) for caption in given]
        for given in columns["captions"]
    ]


def may_be_mirrored(captions) -> np.ndarray:
    """Whether no caption of a picture says which side something is on.

    >>> may_be_mirrored([["a dog", "one dog"], ["a cat left of a dog"]])
    array([ True, False])
    """
    return np.array(
        [not _SIDES.search(" | ".join(given)) for given in captions]
    )


def encode_captions(tokenizer, captions, max_length) -> list[list[np.ndarray]]:
    """Return ids of the captions of each picture, without start or end.

    Captions with more tokens than fit into `max_length` are left out, and so
    are those without a word.
    """
    flat = [caption for given in captions for caption in given]
    ids = tokenizer.tokenize(flat)
    rows = np.split(ids.values.numpy(), ids.row_splits[1:-1].numpy())
    found, at = [], 0
    for given in captions:
        own = rows[at : at + len(given)]
        found.append([row for row in own if 0 < len(row) < max_length])
        at += len(given)
    return found


def _load_coco(folder):
    files = {}
    for part in ("train", "val"):
        found = sorted(folder.rglob(f"captions_{part}*.json"))
        if not found:
            raise ValueError(
                f"`data_dir` must hold captions_{part}*.json, COCO's captions, "
                f"and the pictures. Received: {str(folder)!r}, where it is not"
            )
        files[part] = found[0]
    # COCO keeps the captions of its test part to itself.
    return load_coco_captions(
        files["train"],
        [folder, *sorted(folder.glob("*.zip"))],
        test=files["val"],
    )
