"""Attention by cosine similarity (Graves et al., 2014)."""

import keras
from keras import ops

from keras_seq.layers.score_attention import ScoreAttention
from keras_seq.ops.scores import unit_vectors


@keras.saving.register_keras_serializable(package="keras_seq")
class CosineAttention(ScoreAttention):
    r"""Average of `value`, weighted by the angle between query and key.

    This is the content addressing of the Neural Turing Machine, section 3.3.1,
    with key strength $\beta$:

    $$ e_{ts} = \beta \frac{q_t^\top k_s}{\|q_t\| \, \|k_s\|}, \quad
       a_{t\cdot} = \mathrm{softmax}(e_{t\cdot}), \quad
       c_t = \textstyle\sum_s a_{ts} v_s. $$

    Scores lie in $[-\beta, \beta]$, so with $\beta = 1$ no key can get more
    than $e^2$ times the weight of another, however good the match.

    Shapes:
        query `(B, T, D)`, value `(B, S, E)`, key `(B, S, D)` (default: value)
        -> context `(B, T, E)` and, on request, weights `(B, T, S)`.

    Masking: see `ScoreAttention`; the query's mask passes through.

    Args:
        strength: The key strength $\beta$.
        dropout: Share of the weights to drop while training.
        seed: Seed of the dropout.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> from keras import ops
        >>> layer = CosineAttention(strength=5.0)
        >>> tuple(layer(ops.ones((2, 3, 4)), ops.ones((2, 5, 4))).shape)
        (2, 3, 4)

    Reference: <https://arxiv.org/abs/1410.5401>
    """

    def __init__(self, strength=1.0, dropout=0.0, seed=None, **kwargs):
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        self.strength = strength

    def factors(self, query, key):
        query = unit_vectors(query)
        query = query * ops.cast(self.strength, query.dtype)
        return query, unit_vectors(key)

    def get_config(self):
        return {**super().get_config(), "strength": self.strength}
