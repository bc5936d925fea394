"""A text as the set of its short phrases (Wang and Manning, 2012)."""

import keras
import numpy as np
from keras import ops

from keras_seq.layers.argument_checks import check_count, check_dropout
from keras_seq.layers.ngram_counts import count_ngrams
from keras_seq.ops.ngrams import ngram_keys, present_entries
from keras_seq.ops.portable import is_portable
from keras_seq.ops.shapes import check_shape

# Stands in `keys` where no n-gram does, behind all that are.
NO_KEY = np.iinfo("int32").max


@keras.saving.register_keras_serializable(package="keras_seq")
class NgramBag(keras.layers.Layer):
    r"""Sum over the known n-grams of a text, each counted once.

    With $G$ the set of the runs of 1 to `max_ngram` tokens in a row that the
    layer knows,

    $$ z = \sum_{g \in G} w_g r_g, $$

    where $r_g$ is fixed and says what counting tells of an n-gram: its
    log-count ratio, one number per class (Wang and Manning, 2012, section
    2.1). $w_g$ is learned and says how much to believe it. The n-grams and
    their ratios are found by counting (`learn_counts`), not by gradients;
    before that the layer knows none and gives zeros.

    Differs from the paper: $w$ is learned by any loss and beside other
    layers, and not by a support vector machine.

    Shapes:
        token_ids `(B, T)`, 0 is padding -> `(B, units)`.

    Args:
        units: Width of the output, the number of classes.
        num_ngrams: How many n-grams there is room for.
        max_ngram: Tokens in the longest n-gram.
        initial_strength: What every $w_g$ starts with.
        dropout: Share of the n-grams to drop while training.
        silence: Share of the texts for which the layer gives zeros while
            training. Counts fit the texts they were counted in so well that
            a layer beside this one would be left with nothing to learn.
        seed: Seed of both.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> layer = NgramBag(units=2, num_ngrams=100, max_ngram=2)
        >>> rows, labels = [[5, 6], [5, 7], [8, 6], [8, 7]], [1, 1, 0, 0]
        >>> layer.learn_counts(rows, labels)
        >>> z = layer(ops.convert_to_tensor([[9, 5, 0], [8, 9, 0]]))
        >>> ops.argmax(z, axis=-1).numpy().tolist()
        [1, 0]

    Reference: <https://aclanthology.org/P12-2018>
    """

    def __init__(
        self,
        units,
        num_ngrams,
        max_ngram=3,
        initial_strength=0.1,
        dropout=0.0,
        silence=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_count("units", units)
        check_count("num_ngrams", num_ngrams)
        check_count("max_ngram", max_ngram)
        check_dropout(dropout)
        self.units = units
        self.num_ngrams = num_ngrams
        self.max_ngram = max_ngram
        self.initial_strength = initial_strength
        if not 0 <= silence < 1:
            raise ValueError(
                f"`silence` must be in [0, 1). Received: silence={silence}"
            )
        self.dropout = dropout
        self.silence = silence
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.presence_dropout = keras.layers.Dropout(
            dropout, seed=seed, dtype="float32"
        )

    def build(self, token_ids_shape=None):
        self.keys = self.add_weight(
            name="keys",
            shape=(self.num_ngrams,),
            initializer=keras.initializers.Constant(int(NO_KEY)),
            dtype="int32",
            trainable=False,
        )
        self.ratios = self.add_weight(
            name="ratios",
            shape=(self.num_ngrams, self.units),
            initializer="zeros",
            trainable=False,
            autocast=False,
        )
        self.strengths = self.add_weight(
            name="strengths",
            shape=(self.num_ngrams,),
            initializer=keras.initializers.Constant(self.initial_strength),
            autocast=False,
        )

    def call(self, token_ids, training=None):
        batch = ops.shape(token_ids)[0]
        keys = self.find_keys(token_ids)
        if is_portable():
            return self._sum_over_all(keys)
        keys = ops.sort(keys, axis=1)  # equal ones side by side
        before = ops.pad(keys, [[0, 0], [1, 0]])[:, :-1]
        # 0 is no n-gram; in a row it stands beside the 0 of the pad, or of
        # another run that there is none of.
        is_new = ops.logical_and(keys != before, keys != 0)
        place = ops.searchsorted(
            ops.convert_to_tensor(self.keys), ops.reshape(keys, (-1,))
        )
        place = ops.minimum(ops.cast(place, "int32"), self.num_ngrams - 1)
        place = ops.reshape(place, ops.shape(keys))
        is_known = ops.take(self.keys, place, axis=0) == keys
        present = ops.cast(ops.logical_and(is_new, is_known), "float32")
        present = self.presence_dropout(present, training=training)
        believed = present * ops.take(self.strengths, place, axis=0)
        ratios = ops.take(self.ratios, place, axis=0)  # (B, T * N, units)
        z = ops.matmul(ops.expand_dims(believed, 1), ratios)
        z = ops.squeeze(z, axis=1)
        if training and self.silence:
            drawn = keras.random.uniform((batch, 1), seed=self.seed_generator)
            z = ops.where(drawn < self.silence, 0.0, z)
        return ops.cast(z, self.compute_dtype)

    def _sum_over_all(self, keys):
        """Return what `call` does, by a product with all that is known."""
        present = present_entries(keys, ops.convert_to_tensor(self.keys))
        weights = ops.expand_dims(self.strengths, 1) * self.ratios
        return ops.cast(ops.matmul(present, weights), self.compute_dtype)

    def find_keys(self, token_ids):
        """Return the keys of the n-grams of each text, 0 where there is none.

        Shapes:
            token_ids `(B, T)` -> int32 `(B, T * max_ngram)`.
        """
        keys = ngram_keys(token_ids, self.max_ngram)  # (B, T, N)
        batch, length = ops.shape(token_ids)
        return ops.reshape(keys, (batch, length * self.max_ngram))

    def learn_counts(self, rows, labels, min_count=1, smoothing=1.0):
        r"""Find the n-grams of labelled texts, and their log-count ratios.

        $$ r_{gc} = \log \frac{p_c(g)}{p_{\bar c}(g)}, \qquad
           p_c(g) = \frac{\alpha + n_c(g)}{\sum_h \alpha + n_c(h)}, $$

        where $n_c(g)$ counts the texts of class $c$ with $g$ in them and
        $\bar c$ is all other classes. For two classes a ratio is halved, so
        that the difference of the outputs is the paper's.

        Args:
            rows: Sequences of token ids, without padding.
            labels: The class of each.
            min_count: An n-gram in fewer texts is not kept. If there is no
                room for all others, the most frequent are.
            smoothing: $\alpha$.
        """
        labels = np.asarray(labels)
        if labels.size and not 0 <= labels.min() <= labels.max() < self.units:
            raise ValueError(
                f"`labels` must lie between 0 and {self.units - 1}. Received: "
                f"values from {labels.min()} to {labels.max()}"
            )
        if not self.built:
            self.build()
            self.built = True
        found, by_class = count_ngrams(rows, labels, self.find_keys, self.units)
        texts = by_class.sum(axis=1)
        order = np.argsort(-texts, kind="stable")[: self.num_ngrams]
        kept = np.sort(order[texts[order] >= min_count])
        found, by_class = found[kept], by_class[kept] + smoothing
        others = by_class.sum(axis=1, keepdims=True) - by_class
        ratios = np.log(by_class / by_class.sum(axis=0))
        ratios -= np.log(others / others.sum(axis=0))
        if self.units == 2:
            ratios /= 2
        keys = np.full(self.num_ngrams, NO_KEY, "int32")
        table = np.zeros((self.num_ngrams, self.units), "float32")
        keys[: len(found)], table[: len(found)] = found, ratios
        self.keys.assign(keys)
        self.ratios.assign(table)

    def compute_output_shape(self, token_ids_shape):
        return (token_ids_shape[0], self.units)

    def compute_output_spec(self, token_ids, training=None):
        check_shape("token_ids", token_ids.shape, ("B", "T"))
        return keras.KerasTensor(
            self.compute_output_shape(token_ids.shape),
            dtype=self.compute_dtype,
        )

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "num_ngrams": self.num_ngrams,
            "max_ngram": self.max_ngram,
            "initial_strength": self.initial_strength,
            "dropout": self.dropout,
            "silence": self.silence,
            "seed": self.seed,
        }
