"""A data set of pictures, each with several captions."""

import dataclasses

import numpy as np
import tensorflow as tf

from keras_seq.data.dataset import Dataset
from keras_seq.data.image_files import ImageFiles
from keras_seq.data.png import encode_png


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


def caption_column(captions) -> np.ndarray:
    """Pack lists of strings, of any lengths, as a column of tuples."""
    column = np.empty(len(captions), dtype=object)
    for row, given in enumerate(captions):
        column[row] = tuple(given)
    return column
