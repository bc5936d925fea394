"""An LSTM that looks at one place before each step (Xu et al., 2015)."""

import keras
from keras import ops

from keras_seq.layers.attention_recording import record_choices
from keras_seq.layers.attentive_lstm import AttentiveLSTM
from keras_seq.ops.attentive_recurrence import attentive_lstm
from keras_seq.ops.hard_attention import draw_one, likeliest_one

OUTSIDE_TRAINING = ("likeliest", "expected")


@keras.saving.register_keras_serializable(package="keras_seq")
class HardAttentiveLSTM(AttentiveLSTM):
    r"""`AttentiveLSTM` that looks at one place at a time, drawn by chance.

    Section 4.1 of Xu et al. (2015): in training a place is drawn,

    $$ s_t \sim \mathrm{Multinoulli}(\alpha_t), \qquad
       z_t = \beta_t\,a_{s_t}, $$

    but for a share of the rows (`expected_share`, in the paper half) the
    expected value $\sum_i \alpha_{ti} a_i$ takes its place, which makes
    learning calmer. Outside of training nothing is drawn, so that answers are
    the same each time: the likeliest place is looked at, or, with
    `outside_training="expected"`, the expected value is seen.

    No gradient passes through a drawn place to $\alpha$. It comes with the
    loss: `training.HardAttentionObjective` scores the draws, which
    `models.draw_locations` gets out of a model.

    Differs from the paper, which has no $\beta_t$ here. What is looked at
    outside of training it does not say; the code of its authors takes the
    expected value unless told to take the likeliest place.

    Shapes, masking and weights: see `AttentiveLSTM`.

    Args:
        units: Width `U` of the states.
        attention_units: Width `A` of the layer that compares a state with the
            memory.
        expected_share: Share of the rows, in training, that see the expected
            value; drawn anew at each call.
        penalty: As in `AttentiveLSTM`.
        outside_training: "likeliest" or "expected".
        kernel_initializer: As in `AttentiveLSTM`.
        recurrent_initializer: As in `AttentiveLSTM`.
        bias_initializer: As in `AttentiveLSTM`.
        seed: Seed of the draws.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> layer = HardAttentiveLSTM(units=4, attention_units=3)
        >>> states, contexts = layer(ops.ones((2, 3, 8)), ops.ones((2, 5, 6)))
        >>> tuple(states.shape), tuple(contexts.shape)
        ((2, 3, 4), (2, 3, 6))

    Reference: <https://arxiv.org/abs/1502.03044>
    """

    def __init__(
        self,
        units,
        attention_units,
        expected_share=0.5,
        penalty=0.0,
        outside_training="likeliest",
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        seed=None,
        **kwargs,
    ):
        super().__init__(
            units,
            attention_units,
            penalty,
            kernel_initializer,
            recurrent_initializer,
            bias_initializer,
            **kwargs,
        )
        if not 0 <= expected_share <= 1:
            raise ValueError(
                "`expected_share` must be between 0 and 1. "
                f"Received: expected_share={expected_share}"
            )
        if outside_training not in OUTSIDE_TRAINING:
            raise ValueError(
                f"`outside_training` must be one of {OUTSIDE_TRAINING}. "
                f"Received: outside_training={outside_training!r}"
            )
        self.expected_share = expected_share
        self.outside_training = outside_training
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)

    def recur(self, x, kept, mask, training):
        choose = lambda weights, luck: self.choose(weights)  # noqa: E731
        if training:
            rows = ops.shape(x)[1]
            # Drawn before the loop, so that each step is a plain function.
            luck = self._draw((ops.shape(x)[0], rows, 1))
            x = ops.concatenate([ops.cast(x, "float32"), luck], axis=-1)
            expected = self._draw((rows, 1)) < self.expected_share

            def choose(weights, luck):
                return ops.where(expected, weights, draw_one(weights, luck))

        h, weights, choices, gates = attentive_lstm(
            x,
            [kept["state"], kept["cell"]],
            (kept["keys"], kept["values"], kept["mask"]),
            self._step_weights(),
            mask,
            choose,
        )
        record_choices(weights, choices)
        return h, weights, choices, gates

    def choose(self, weights):
        if self.outside_training == "expected":
            return weights
        return likeliest_one(weights)

    def _draw(self, shape):
        return keras.random.uniform(
            shape, dtype="float32", seed=self.seed_generator
        )

    def get_config(self):
        return {
            **super().get_config(),
            "expected_share": self.expected_share,
            "outside_training": self.outside_training,
            "seed": self.seed,
        }
