"""Batches to learn captions from: pictures, each with some of its captions."""

import numpy as np
import tensorflow as tf

from keras_seq.data import Batches


class CaptionBatches:
    """Batches of `({"images", "target_ids"}, labels)`, for `training.fit`.

    A picture is looked at once for all its captions in the batch. Batches
    have captions of like length; which rows make a step is a function of the
    seed, the epoch and the step, so that a run can be resumed.

    Shapes:
        images `(B, ...)`, target_ids `(B, K, T)`, which begin with the start
        token, labels `(B * K, T)`, which end with the end token. A picture
        that has fewer captions than the others has rows of padding.

    Args:
        images: `(n, ...)` array, or one on disk: pixels or features.
        captions: For each picture a list of rows of ids, without start or
            end. Pictures without any are left out.
        start_id: The token that captions begin with.
        end_id: The token that they end with.
        batch_size: Captions of a batch.
        captions_per_image: K.
        word_dropout: Share of the words read (not of those to be said) that
            are replaced by `unknown_id`, drawn anew each time.
        unknown_id: See above.
        mirrored: Like `images`, seen in a mirror: one or the other is taken,
            by chance, each time.
        may_mirror: For each picture, whether its captions bear that.
        shuffle: As in `data.Batches`, and so is the seed.
        seed: See above.
    """

    def __init__(
        self,
        images,
        captions,
        *,
        start_id,
        end_id,
        batch_size=64,
        captions_per_image=1,
        word_dropout=0.0,
        unknown_id=1,
        mirrored=None,
        may_mirror=None,
        shuffle=True,
        seed=0,
    ):
        if len(images) != len(captions):
            raise ValueError(
                "`images` and `captions` must be of the same pictures. "
                f"Received: {len(images)} and {len(captions)}"
            )
        self.images, self.mirrored = images, mirrored
        self.may_mirror = may_mirror
        self.captions_per_image = captions_per_image
        self.word_dropout, self.unknown_id = word_dropout, unknown_id
        self.seed, self.shuffle = seed, shuffle
        self.ends = [start_id], [end_id]
        groups = [
            (picture, rows[at : at + captions_per_image])
            for picture, given in enumerate(captions)
            for rows in [sorted(given, key=len)]
            for at in range(0, len(rows), captions_per_image)
        ]
        self._pictures = np.array([picture for picture, _ in groups], int)
        self._captions = [rows for _, rows in groups]
        longest = [rows[-1] for rows in self._captions]
        self._order = Batches(
            [np.append(row, end_id) for row in longest],
            batch_size=max(1, batch_size // captions_per_image),
            shuffle=shuffle,
            seed=seed,
        )

    def steps(self, epoch: int = 0) -> int:
        """How many batches an epoch has."""
        return self._order.steps(epoch)

    def arrays(self, epoch: int = 0, start_step: int = 0):
        """Yield the batches of an epoch as NumPy arrays."""
        for step, rows in enumerate(self._order.plan(epoch)):
            if step >= start_step:
                rng = np.random.default_rng([self.seed, epoch, step])
                yield self._batch(rows, rng)

    def epoch(self, epoch: int = 0, start_step: int = 0) -> tf.data.Dataset:
        """Return the batches of one epoch, from `start_step` on."""
        images = tf.TensorSpec((None, *self.images.shape[1:]), self._dtype)
        K = self.captions_per_image
        signature = (
            {
                "images": images,
                "target_ids": tf.TensorSpec((None, K, None), tf.int32),
            },
            tf.TensorSpec((None, None), tf.int32),
        )
        return tf.data.Dataset.from_generator(
            lambda: self.arrays(epoch, start_step), output_signature=signature
        )

    @property
    def _dtype(self):
        return tf.as_dtype(self.images.dtype)

    def _batch(self, rows, rng):
        (start,), (end,) = self.ends
        K = self.captions_per_image
        groups = [self._captions[row] for row in rows]
        length = max(len(group[-1]) for group in groups) + 1
        target_ids = np.zeros((len(rows), K, length), "int32")
        labels = np.zeros((len(rows), K, length), "int32")
        for n, group in enumerate(groups):
            for k, caption in enumerate(group):
                target_ids[n, k, 0] = start
                target_ids[n, k, 1 : 1 + len(caption)] = caption
                labels[n, k, : len(caption)] = caption
                labels[n, k, len(caption)] = end
        if self.word_dropout:
            lost = rng.random(target_ids.shape) < self.word_dropout
            lost &= (target_ids != 0) & (target_ids != start)
            target_ids[lost] = self.unknown_id
        return (
            {"images": self._take(rows, rng), "target_ids": target_ids},
            labels.reshape(-1, length),
        )

    def _take(self, rows, rng):
        pictures = self._pictures[rows]
        found = np.asarray(self.images[pictures])
        if self.mirrored is not None:
            turned = rng.random(len(rows)) < 0.5
            turned &= self.may_mirror[pictures]
            found[turned] = self.mirrored[pictures[turned]]
        return found
