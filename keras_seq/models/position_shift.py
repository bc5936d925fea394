"""Places that do not always begin at 0 (Kiyono et al., 2021)."""

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="keras_seq")
class PositionShift(keras.layers.Layer):
    r"""The places of the tokens of two sequences, both from one random start.

    $$ pos_t = k + t, \quad k \sim \mathrm{uniform}\{0, \ldots, K\}
       \text{ in training, else } k = 0. $$

    A model that meets its positions at any of many starts can learn only from
    how far apart they are, and knows places past the end of its longest
    sequence.

    Differs from drawing a start for each sequence: both sequences of a pair
    have the same, so that where a target stands says something about which
    source token it is for.

    Shapes:
        `(B, S)` and `(B, T)` token ids -> positions `(B, S)` and `(B, T)`,
        int32.

    Args:
        max_shift: K.
        seed: Of the random starts.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> ids = ops.ones((1, 3), "int32"), ops.ones((1, 2), "int32")
        >>> [x.numpy().tolist() for x in PositionShift(5)(*ids)]
        [[[0, 1, 2]], [[0, 1]]]

    Reference: <https://arxiv.org/abs/2109.05644>
    """

    def __init__(self, max_shift, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.max_shift = max_shift
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.built = True

    def call(self, source_ids, target_ids, training=None):
        start = ops.zeros((ops.shape(source_ids)[0], 1), "int32")
        if training:
            start = keras.random.randint(
                ops.shape(start),
                0,
                self.max_shift + 1,
                seed=self.seed_generator,
            )
        return tuple(
            start + ops.arange(ops.shape(ids)[1], dtype="int32")
            for ids in (source_ids, target_ids)
        )

    def compute_output_spec(self, source_ids, target_ids, training=None):
        return tuple(
            keras.KerasTensor(ids.shape, dtype="int32")
            for ids in (source_ids, target_ids)
        )

    def get_config(self):
        return {
            **super().get_config(),
            "max_shift": self.max_shift,
            "seed": self.seed,
        }
