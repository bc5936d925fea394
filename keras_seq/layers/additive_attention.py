"""Additive attention (Bahdanau et al., 2015)."""

import keras

from keras_seq.layers.argument_checks import check_count
from keras_seq.layers.score_attention import ScoreAttention
from keras_seq.ops.scores import additive_scores


@keras.saving.register_keras_serializable(package="keras_seq")
class AdditiveAttention(ScoreAttention):
    r"""Average of `value`, weighted by a one-layer network of query and key.

    This is the alignment model of Bahdanau et al. (2015), section A.1.2:

    $$ e_{ts} = v^\top \tanh(W q_t + U k_s), \quad
       a_{t\cdot} = \mathrm{softmax}(e_{t\cdot}), \quad
       c_t = \textstyle\sum_s a_{ts} v_s. $$

    Differs from `keras.layers.AdditiveAttention`, which has no `W` and `U`.
    Holds `T * S * units` numbers: the products need less.

    Shapes:
        query `(B, T, D)`, value `(B, S, E)`, key `(B, S, K)` (default: value)
        -> context `(B, T, E)` and, on request, weights `(B, T, S)`.

    Masking: see `ScoreAttention`; the query's mask passes through.

    Args:
        units: Width of the hidden layer that compares a query with a key.
        kernel_initializer: Initializer of `W`, `U` and `v`.
        dropout: Share of the weights to drop while training.
        seed: Seed of the dropout.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> from keras import ops
        >>> layer = AdditiveAttention(units=8)
        >>> context, weights = layer(
        ...     ops.ones((2, 3, 4)), ops.ones((2, 5, 6)),
        ...     return_attention_scores=True,
        ... )
        >>> tuple(context.shape), tuple(weights.shape)
        ((2, 3, 6), (2, 3, 5))

    Reference: <https://arxiv.org/abs/1409.0473>
    """

    def __init__(
        self,
        units,
        kernel_initializer="glorot_uniform",
        dropout=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        check_count("units", units)
        self.units = units
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build_weights(self, query_width, key_width):
        shapes = {
            "w": (query_width, self.units),
            "u": (key_width, self.units),
            "v": (self.units, 1),
        }
        for place, (name, shape) in enumerate(shapes.items()):
            weight = self.add_weight(
                name=name, shape=shape, initializer=self._initializer(place)
            )
            setattr(self, name, weight)

    def _initializer(self, place):
        """Return one of its own, which does not repeat another's numbers."""
        config = self.kernel_initializer.get_config()
        if isinstance(config.get("seed"), int):
            config["seed"] += place
        return type(self.kernel_initializer).from_config(config)

    def scores(self, query, key):
        return additive_scores(query, key, self.w, self.u, self.v[:, 0])

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
        }
