"""A Transformer that puts a grid of features into words."""

import keras
from keras import ops

from keras_seq.layers.dropout import Dropout
from keras_seq.layers.layer_norm import LayerNorm
from keras_seq.layers.sinusoidal_positions import SinusoidalPositions
from keras_seq.layers.transformer_decoder import TransformerDecoder
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
from keras_seq.models.transformer_steps import TransformerSteps, start_steps


def _preset(width, between, heads, layers, dropout=0.2):
    return {
        "hidden_dim": width,
        "intermediate_dim": between,
        "num_heads": heads,
        "num_layers": layers,
        "dropout": dropout,
        "tie_embeddings": True,
    }


TRANSFORMER_CAPTIONER_PRESETS = {
    "test": _preset(12, 20, heads=3, layers=2),
    "tiny": _preset(128, 256, heads=4, layers=2),
    "small": _preset(256, 512, heads=4, layers=3),
}


def transformer_captioner(
    vocabulary_size, feature_dim, preset="small", **overrides
):
    """Return a `TransformerCaptioner`, not compiled.

    Args:
        vocabulary_size: How many ids there are.
        feature_dim: Width of the image's features.
        preset: A name in `TRANSFORMER_CAPTIONER_PRESETS`: "small" and "tiny"
            train on a laptop, "test" is for tests.
        **overrides: Settings that replace the preset's, or `dtype` and
            `name`; see `TransformerCaptioner`.

    Example:
        >>> import numpy as np
        >>> model = transformer_captioner(50, feature_dim=8, preset="test")
        >>> features, ids = np.ones((1, 6, 8)), np.array([[2, 8, 5]])
        >>> logits = model({"features": features, "target_ids": ids})
        >>> tuple(logits.shape)
        (1, 3, 50)
    """
    settings = choose_settings(TRANSFORMER_CAPTIONER_PRESETS, preset, overrides)
    return TransformerCaptioner(vocabulary_size, feature_dim, **settings)


@keras.saving.register_keras_serializable(package="keras_seq")
class TransformerCaptioner(ImageCaptioner):
    r"""The decoder of the Transformer, with an image for a memory.

    With $a_i$ the features of region $i$, $E$ the table of embeddings and
    $PE$ the sinusoidal positions:

    $$ m_i = \mathrm{norm}(W a_i + b) + PE_i, \quad
       y_t = \sqrt{D}\,E_{target_t} + PE_t, $$
    $$ o = \mathrm{norm}(\mathrm{decoder}_L(\cdots
       \mathrm{decoder}_1(y, m), m)), \quad logits_t = o_t E^\top. $$

    Each block normalizes what enters its sub-layers. The regions were put
    into context by the network that made them, so there is no encoder.

    The layers are named `token_embedding`, `image_embedding`, `image_norm`,
    `decoder_1`, ..., `decoder_norm`; attention goes by
    `decoder_1/cross_attention`.

    Shapes and masking: see `ImageCaptioner`.

    Args:
        vocabulary_size: V.
        feature_dim: Width of the features.
        hidden_dim: D, the width of all layers.
        intermediate_dim: Width of the feed-forward networks.
        num_heads: Heads of each attention; must divide `hidden_dim`.
        num_layers: L.
        dropout: Share to drop of embeddings and of what each sub-layer adds.
        tie_embeddings: Whether embeddings and logits share one table.
        dtype: Dtype or policy of all layers; logits are float32 either way.
        name: Of the model.
        **kwargs: Passed to `keras.Model`.

    Reference: <https://arxiv.org/abs/1706.03762>
    """

    def __init__(
        self,
        vocabulary_size,
        feature_dim,
        hidden_dim,
        intermediate_dim,
        num_heads,
        num_layers,
        dropout=0.2,
        tie_embeddings=True,
        dtype=None,
        name="transformer_captioner",
        **kwargs,
    ):
        counts = {
            "vocabulary_size": vocabulary_size,
            "feature_dim": feature_dim,
            "hidden_dim": hidden_dim,
            "intermediate_dim": intermediate_dim,
            "num_heads": num_heads,
            "num_layers": num_layers,
        }
        check_settings(counts, {"dropout": dropout})
        policy = policy_of(dtype)

        # === Layers ===
        def norm(name):
            return LayerNorm(epsilon=1e-5, dtype=policy, name=name)

        def positions(side):
            return SinusoidalPositions(dtype=policy, name=f"{side}_positions")

        def dropped(x, name):
            return Dropout(dropout, dtype=policy, name=name)(x)

        embedding = word_embedding(
            vocabulary_size, hidden_dim, tie_embeddings, policy
        )
        image = [
            keras.layers.Dense(
                hidden_dim, dtype=policy, name="image_embedding"
            ),
            norm("image_norm"),
            positions("image"),
        ]
        blocks = [
            TransformerDecoder(
                intermediate_dim=intermediate_dim,
                num_heads=num_heads,
                dropout=dropout,
                # Captions are short: one path to trace, in half the time.
                flash_attention=False,
                normalize_first=True,
                dtype=policy,
                name=f"decoder_{n}",
            )
            for n in range(1, num_layers + 1)
        ]
        last_norm = norm("decoder_norm")

        # === Functional model ===
        inputs = captioning_inputs(feature_dim, policy)
        memory = dropped(_see(image, inputs["features"]), "image_dropout")
        x = positions("decoder")(embedding(inputs["target_ids"]))
        x = dropped(x, "decoder_dropout")
        for block in blocks:
            x = block(x, memory)
        logits = embedding(last_norm(x), reverse=True)

        # === Config ===
        config = {
            **counts,
            "dropout": dropout,
            "tie_embeddings": tie_embeddings,
            "dtype": policy,
        }
        super().__init__(inputs, logits, config, name=name, **kwargs)
        self.embedding, self._image = embedding, image
        self._blocks, self._norm = blocks, last_norm

    # === Step by step ===

    def start(self, features, max_length=None):
        features = as_features(features, self._config["dtype"])
        everything = ops.ones(ops.shape(features)[:2], "bool")
        memory = _see(self._image, features)
        return start_steps(self._blocks, memory, everything, max_length)

    def stepper(self):
        return TransformerSteps(self.embedding, self._blocks, self._norm)

    def step(self, token_ids, state):
        return self.stepper()(token_ids, state)


def _see(layers, features):
    for layer in layers:
        features = layer(features)
    return features
