"""Captions that say where they look (Xu et al., 2015)."""

import functools

import keras
from keras import ops

from keras_seq.layers.attentive_lstm import AttentiveLSTM
from keras_seq.layers.hard_attentive_lstm import HardAttentiveLSTM
from keras_seq.models.encoder_decoder import (
    check_settings,
    choose_settings,
    policy_of,
)
from keras_seq.models.image_captioner import (
    ImageCaptioner,
    as_features,
    captioning_inputs,
    word_embedding,
)

ATTENTIONS = ("soft", "hard")


def _preset(width, dropout=0.3, **more):
    return {
        "embedding_dim": width,
        "hidden_dim": width,
        "attention_dim": width,
        "attention": "soft",
        "outside_training": "likeliest",
        "penalty": 0.0,
        "dropout": dropout,
        "tie_embeddings": True,
        **more,
    }


SHOW_ATTEND_TELL_PRESETS = {
    "test": _preset(12, hidden_dim=10, attention_dim=7),
    "tiny": _preset(128),
    "small": _preset(256),
    "paper": _preset(512, hidden_dim=1000, penalty=1.0, tie_embeddings=False),
}


def show_attend_tell(vocabulary_size, feature_dim, preset="small", **overrides):
    """Return a `ShowAttendTell`, not compiled.

    Args:
        vocabulary_size: How many ids there are.
        feature_dim: Width of the image's features.
        preset: A name in `SHOW_ATTEND_TELL_PRESETS`: "paper" is about what
            the paper had, "small" and "tiny" train on a laptop, "test" is for
            tests.
        **overrides: Settings that replace the preset's, or `dtype` and
            `name`; see `ShowAttendTell`.

    Example:
        >>> import numpy as np
        >>> model = show_attend_tell(50, feature_dim=8, preset="test")
        >>> features, ids = np.ones((1, 6, 8)), np.array([[2, 8, 5]])
        >>> logits = model({"features": features, "target_ids": ids})
        >>> tuple(logits.shape)
        (1, 3, 50)
    """
    settings = choose_settings(SHOW_ATTEND_TELL_PRESETS, preset, overrides)
    return ShowAttendTell(vocabulary_size, feature_dim, **settings)


@keras.saving.register_keras_serializable(package="keras_seq")
class ShowAttendTell(ImageCaptioner):
    r"""An LSTM that looks at the image before each word.

    With $a_i$ the features of region $i$, and $y_t$ the vector of the token
    that step $t$ reads:

    $$ h_0 = \tanh(W_h \bar a + b_h), \quad c_0 = \tanh(W_c \bar a + b_c),
       \quad \bar a = \tfrac{1}{N} \textstyle\sum_i a_i, $$
    $$ (h_t, z_t) = \mathrm{AttentiveLSTM}(y_t, a; h_{t-1}, c_{t-1}), \quad
       logits_t = L_o (y_t + L_h h_t + L_z z_t). $$

    With `attention="hard"` the decoder is a `HardAttentiveLSTM`; train it with
    `training.HardAttentionObjective`.

    The layers are named `token_embedding` ($E$ and $L_o$), `initial_h`,
    `initial_c`, `decoder`, `output_h` ($L_h$) and `output_z` ($L_z$).
    Attention goes by `decoder`.

    Differs from the paper: the logits may share the table of the embeddings,
    and the penalty is averaged over images while the cross-entropy is
    averaged over tokens, so that $\lambda$ weighs more than there by about
    the length of a caption.

    Shapes and masking: see `ImageCaptioner`.

    Args:
        vocabulary_size: V.
        feature_dim: D, the width of the features.
        embedding_dim: Width of the embeddings, and of the output layer.
        hidden_dim: Width of the state.
        attention_dim: Width of the layer that compares a state with a region.
        attention: "soft" or "hard".
        outside_training: What hard attention sees then, "likeliest" or
            "expected"; see `HardAttentiveLSTM`. Soft attention has no choice.
        penalty: $\lambda$ of the doubly stochastic penalty, a loss that is
            added; see `AttentiveLSTM`.
        dropout: Share to drop of the embeddings, and before the logits.
        tie_embeddings: Whether embeddings and logits share one table.
        dtype: Dtype or policy of all layers; logits are float32 either way.
        name: Of the model.
        **kwargs: Passed to `keras.Model`.

    Reference: <https://arxiv.org/abs/1502.03044>
    """

    def __init__(
        self,
        vocabulary_size,
        feature_dim,
        embedding_dim,
        hidden_dim,
        attention_dim,
        attention="soft",
        outside_training="likeliest",
        penalty=0.0,
        dropout=0.3,
        tie_embeddings=True,
        dtype=None,
        name="show_attend_tell",
        **kwargs,
    ):
        counts = {
            "vocabulary_size": vocabulary_size,
            "feature_dim": feature_dim,
            "embedding_dim": embedding_dim,
            "hidden_dim": hidden_dim,
            "attention_dim": attention_dim,
        }
        check_settings(counts, {"dropout": dropout})
        if attention not in ATTENTIONS:
            raise ValueError(
                f"`attention` must be one of {ATTENTIONS}. "
                f"Received: attention={attention!r}"
            )
        policy = policy_of(dtype)

        # === Layers ===
        def dense(width, name, **options):
            return keras.layers.Dense(width, dtype=policy, name=name, **options)

        def dropped(x, name):
            return keras.layers.Dropout(dropout, dtype=policy, name=name)(x)

        embedding = word_embedding(
            vocabulary_size, embedding_dim, tie_embeddings, policy
        )
        initial = [
            dense(hidden_dim, f"initial_{letter}", activation="tanh")
            for letter in "hc"
        ]
        Decoder = AttentiveLSTM
        if attention == "hard":
            Decoder = functools.partial(
                HardAttentiveLSTM, outside_training=outside_training
            )
        decoder = Decoder(
            hidden_dim,
            attention_dim,
            penalty=penalty,
            dtype=policy,
            name="decoder",
        )
        output_h = dense(embedding_dim, "output_h", use_bias=False)
        output_z = dense(embedding_dim, "output_z")

        # === Functional model ===
        inputs = captioning_inputs(feature_dim, policy)
        mean = ops.mean(inputs["features"], axis=1)
        y = dropped(embedding(inputs["target_ids"]), "decoder_dropout")
        states, contexts = decoder(
            y,
            inputs["features"],
            initial_state=[layer(mean) for layer in initial],
        )
        read = keras.layers.Add(dtype=policy, name="output")(
            [y, output_h(states), output_z(contexts)]
        )
        logits = embedding(dropped(read, "output_dropout"), reverse=True)

        # === Config ===
        config = {
            **counts,
            "attention": attention,
            "outside_training": outside_training,
            "penalty": penalty,
            "dropout": dropout,
            "tie_embeddings": tie_embeddings,
            "dtype": policy,
        }
        super().__init__(inputs, logits, config, name=name, **kwargs)
        self.embedding, self.decoder = embedding, decoder
        self.initial_h, self.initial_c = initial
        self.output_h, self.output_z = output_h, output_z

    # === Step by step ===

    def start(self, features, max_length=None):
        features = as_features(features, self._config["dtype"])
        mean = ops.mean(features, axis=1)
        return self.decoder.start(
            features,
            initial_state=[self.initial_h(mean), self.initial_c(mean)],
        )

    def step(self, token_ids, state):
        y = ops.squeeze(self.embedding(ops.expand_dims(token_ids, 1)), 1)
        h, z, state, weights = self.decoder.step(y, state)
        read = y + self.output_h(h) + self.output_z(z)
        logits = self.embedding(read, reverse=True)
        return logits, state, {"decoder": ops.expand_dims(weights, (1, 2))}
