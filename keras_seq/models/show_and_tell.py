"""Captions through one vector (Vinyals et al., 2015)."""

import keras
from keras import ops

from keras_seq.layers.lstm import LSTM
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


def _preset(width, dropout=0.3, **more):
    return {
        "embedding_dim": width,
        "hidden_dim": width,
        "dropout": dropout,
        "tie_embeddings": True,
        **more,
    }


SHOW_AND_TELL_PRESETS = {
    "test": _preset(12, hidden_dim=10),
    "tiny": _preset(128),
    "small": _preset(256),
    "paper": _preset(512, tie_embeddings=False),
}


def show_and_tell(vocabulary_size, feature_dim, preset="small", **overrides):
    """Return a `ShowAndTell`, not compiled.

    Args:
        vocabulary_size: How many ids there are.
        feature_dim: Width of the image's features.
        preset: A name in `SHOW_AND_TELL_PRESETS`: "paper" has the paper's
            width, "small" and "tiny" train on a laptop, "test" is for tests.
        **overrides: Settings that replace the preset's, or `dtype` and
            `name`; see `ShowAndTell`.

    Example:
        >>> import numpy as np
        >>> model = show_and_tell(50, feature_dim=8, preset="test")
        >>> features, ids = np.ones((1, 6, 8)), np.array([[2, 8, 5]])
        >>> logits = model({"features": features, "target_ids": ids})
        >>> tuple(logits.shape)
        (1, 3, 50)
    """
    settings = choose_settings(SHOW_AND_TELL_PRESETS, preset, overrides)
    return ShowAndTell(vocabulary_size, feature_dim, **settings)


@keras.saving.register_keras_serializable(package="keras_seq")
class ShowAndTell(ImageCaptioner):
    r"""An LSTM reads the image as its first word, and then goes on writing.

    $$ x_{-1} = W_I \tfrac{1}{N} \textstyle\sum_i a_i + b_I, \quad
       x_t = E_{y_t}, \quad h_t = \mathrm{LSTM}(x_t), \quad
       logits_t = W_o\,h_t. $$

    All that it knows of the image is one vector, the mean of the features
    $a_i$, seen once: the bottleneck that attention opens.

    The layers are named `token_embedding`, `image_embedding`, `decoder` and,
    where states and embeddings differ in width, `readout`.

    Differs from the paper, whose vector comes from its own network's last
    layer.

    Shapes and masking: see `ImageCaptioner`.

    Args:
        vocabulary_size: V.
        feature_dim: D, the width of the features.
        embedding_dim: Width of the embeddings.
        hidden_dim: Width of the state.
        dropout: Share to drop of the embeddings, and before the logits.
        tie_embeddings: Whether embeddings and logits share one table.
        dtype: Dtype or policy of all layers; logits are float32 either way.
        name: Of the model.
        **kwargs: Passed to `keras.Model`.

    Reference: <https://arxiv.org/abs/1411.4555>
    """

    def __init__(
        self,
        vocabulary_size,
        feature_dim,
        embedding_dim,
        hidden_dim,
        dropout=0.3,
        tie_embeddings=True,
        dtype=None,
        name="show_and_tell",
        **kwargs,
    ):
        counts = {
            "vocabulary_size": vocabulary_size,
            "feature_dim": feature_dim,
            "embedding_dim": embedding_dim,
            "hidden_dim": hidden_dim,
        }
        check_settings(counts, {"dropout": dropout})
        policy = policy_of(dtype)

        # === Layers ===
        embedding = word_embedding(
            vocabulary_size, embedding_dim, tie_embeddings, policy
        )
        image_embedding = keras.layers.Dense(
            embedding_dim, dtype=policy, name="image_embedding"
        )
        decoder = LSTM(
            hidden_dim,
            return_sequences=True,
            return_state=True,
            dtype=policy,
            name="decoder",
        )
        readout = None
        if hidden_dim != embedding_dim:
            readout = keras.layers.Dense(
                embedding_dim, dtype=policy, name="readout"
            )

        def dropped(x, name):
            return keras.layers.Dropout(dropout, dtype=policy, name=name)(x)

        # === Functional model ===
        inputs = captioning_inputs(feature_dim, policy)
        image = image_embedding(ops.mean(inputs["features"], axis=1))
        image = dropped(image, "image_dropout")
        _, *state = decoder(ops.expand_dims(image, 1))
        x = dropped(embedding(inputs["target_ids"]), "decoder_dropout")
        x, *_ = decoder(x, initial_state=state)
        logits = _score(dropped(x, "logits_dropout"), readout, embedding)

        # === Config ===
        config = {
            **counts,
            "dropout": dropout,
            "tie_embeddings": tie_embeddings,
            "dtype": policy,
        }
        super().__init__(inputs, logits, config, name=name, **kwargs)
        self.embedding, self.image_embedding = embedding, image_embedding
        self.decoder, self.readout = decoder, readout

    # === Step by step ===

    def start(self, features, max_length=None):
        features = as_features(features, self._config["dtype"])
        image = self.image_embedding(ops.mean(features, axis=1))
        zeros = self.decoder.cell.get_initial_state(ops.shape(image)[0])
        _, (h, c) = self.decoder.cell(image, zeros)
        return {"h": h, "c": c}

    def step(self, token_ids, state):
        x = ops.squeeze(self.embedding(ops.expand_dims(token_ids, 1)), 1)
        x, (h, c) = self.decoder.cell(x, [state["h"], state["c"]])
        return _score(x, self.readout, self.embedding), {"h": h, "c": c}, {}


def _score(x, readout, embedding):
    x = x if readout is None else readout(x)
    return embedding(x, reverse=True)
