"""A data set of pictures, each with several captions."""

import dataclasses
import warnings
import zlib

import numpy as np
import tensorflow as tf

from keras_seq.data.dataset import Dataset
from keras_seq.data.image_files import ImageFiles
from keras_seq.data.png import encode_png

_NAMED = 5  # of the pictures that are missing, so many are named


@dataclasses.dataclass(frozen=True, eq=False)
class CaptionedImages(Dataset):
    """Pictures and their captions.

    Fields: `captions`, several strings for each picture; and either `image`,
    the pixels themselves, or `name`, the name of a file in `files`. Pictures
    in files are read when they are asked for, never all at once.

    Attributes:
        files: Where the pictures are, if they are not in the fields.
    """

    files: ImageFiles | None = None

    def image_bytes(self, split, row) -> bytes:
        """Return one picture as the bytes of its file; painted ones as PNG."""
        columns = self.columns(split)
        if self.files is None:
            return encode_png(columns["image"][row])
        return self.files.read(columns["name"][row])

    def image_stamps(self, split) -> list[str]:
        """Return, for each picture, what changes when its contents do."""
        columns = self.columns(split)
        if self.files is not None:
            return [self.files.stamp(name) for name in columns["name"]]
        return [
            f"{image.shape}-{zlib.crc32(np.ascontiguousarray(image)):08x}"
            for image in columns["image"]
        ]

    def tf_data(self, split) -> tf.data.Dataset:
        """Return one split as a `tf.data.Dataset` of dicts, in file order.

        `captions` is a vector of strings; its length may differ. Pictures in
        files come as `image_bytes`, read one by one.
        """
        columns = self.columns(split)
        captions = columns.pop("captions")
        columns["captions"] = tf.ragged.constant(
            [list(row) for row in captions], dtype=tf.string
        )
        examples = tf.data.Dataset.from_tensor_slices(columns)
        if self.files is None:
            return examples

        def add_bytes(example):
            (data,) = tf.numpy_function(
                lambda name: [self.files.read(name.decode())],
                [example["name"]],
                [tf.string],
            )
            return {**example, "image_bytes": tf.ensure_shape(data, ())}

        return examples.map(add_bytes, num_parallel_calls=tf.data.AUTOTUNE)


def captioned_files(name, licence, captions, files, notes=()):
    """Return the data set of pictures in files.

    Pictures that are not there are left out, with a warning that names them;
    the others are not held up by it.

    Args:
        name: Name of the data set.
        licence: Its terms of use.
        captions: `{split: {name of a picture: [its captions]}}`.
        files: `ImageFiles`.
        notes: What a reader of results should know.
    """
    splits, missing, names = {}, [], {}
    for split, rows in captions.items():
        found = {}
        for picture, said in rows.items():
            place = files.find(picture)
            if place is None:
                missing.append(picture)
            elif names.setdefault(place, picture) != picture:
                raise ValueError(
                    "`captions` must name each picture in one way. Received: "
                    f"{names[place]!r} and {picture!r}, which are both "
                    f"{place.member or place.file}"
                )
            else:
                found[picture] = said
        if found:
            splits[split] = {
                "name": np.array(list(found), dtype=object),
                "captions": caption_column(found.values()),
            }
    where = ", ".join(map(str, files.paths))
    told = ", ".join(missing[:_NAMED]) + (", ..." * (len(missing) > _NAMED))
    if not splits:
        raise ValueError(
            "`images` must hold the pictures that the captions name, like "
            f"{told or 'none: there are no captions'}. Received: {where}, "
            f"with {len(files)} others"
        )
    if missing:
        note = (
            f"{len(missing)} pictures that have captions are not in {where} "
            f"and are left out: {told}"
        )
        gone = [split for split in captions if split not in splits]
        if gone:
            note += f". That is all of {', '.join(gone)}"
        notes = (*notes, note)
        # To the one who called the loader that called this.
        warnings.warn(note, stacklevel=3)
    return CaptionedImages(name, licence, splits, notes=notes, files=files)


def caption_column(captions) -> np.ndarray:
    """Pack lists of strings, of any lengths, as a column of tuples."""
    column = np.empty(len(captions), dtype=object)
    for row, given in enumerate(captions):
        column[row] = tuple(given)
    return column
