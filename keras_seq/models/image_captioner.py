"""What the models that put an image into words have in common."""

import keras
from keras import ops

from keras_seq.layers.attention_recording import recording_choices
from keras_seq.layers.token_embedding import TokenEmbedding
from keras_seq.models.encoder_decoder import EncoderDecoder


class ImageCaptioner(EncoderDecoder):
    """Base of `ShowAndTell`, `ShowAttendTell` and `TransformerCaptioner`.

    An `EncoderDecoder` whose source is an image, as a grid of features that
    some network made of it: one to many.

        state = model.start(features)
        logits, state, attention = model.step(token_ids, state)

    Shapes:
        `{"features": (B, N, D) float, "target_ids": (B, T) int32}`, where N
        is the number of regions, row by row, 0 is padding of the target, and
        targets begin with the start token -> logits `(B, T, V)` float32.
        Attention is `(B, H, T, N)`.

    Masking: id 0 of the target is padding. All regions are looked at.
    """

    def start(self, features, max_length=None):
        """Look at the image; return the state before the first token.

        Args:
            features: `(B, N, D)`.
            max_length: As in `EncoderDecoder.start`.

        Returns:
            A flat dict of tensors with the batch on axis 0.
        """
        raise NotImplementedError


def captioning_inputs(feature_dim, policy):
    """Return `{"features": ..., "target_ids": ...}`, to wire layers on."""
    return {
        "features": keras.Input(
            (None, feature_dim), dtype=policy.compute_dtype, name="features"
        ),
        "target_ids": keras.Input((None,), dtype="int32", name="target_ids"),
    }


def as_features(features, policy):
    """Return features as a tensor of the dtype to compute with."""
    return ops.cast(ops.convert_to_tensor(features), policy.compute_dtype)


def word_embedding(vocabulary_size, width, tied, policy):
    """Return the layer that embeds tokens, and makes the logits."""
    return TokenEmbedding(
        vocabulary_size,
        width,
        tie_weights=tied,
        dtype=policy,
        name="token_embedding",
    )


def draw_locations(model, inputs, training=True):
    """Call a model with hard attention; say where it looked, too.

    Args:
        model: A model with one `HardAttentiveLSTM`, at any depth.
        inputs: What it takes.
        training: Whether to draw; otherwise the likeliest places are taken.

    Returns:
        `(logits (B, T, V), weights (B, T, N), choices (B, T, N))`; a choice
        is the drawn place, or the weights where the expected value was taken.

    Example:
        >>> from keras_seq.models import show_attend_tell
        >>> model = show_attend_tell(9, 4, "test", attention="hard")
        >>> ids = ops.ones((2, 3), "int32")
        >>> logits, weights, choices = draw_locations(
        ...     model, {"features": ops.ones((2, 5, 4)), "target_ids": ids}
        ... )
        >>> tuple(weights.shape), tuple(choices.shape)
        ((2, 3, 5), (2, 3, 5))
    """
    with recording_choices() as found:
        logits = model(inputs, training=training)
    if len(found) != 1:
        raise ValueError(
            "`model` must have one layer with hard attention. "
            f"Received: {model.name!r}, which has {len(found)}"
        )
    return (logits, *found[0])
