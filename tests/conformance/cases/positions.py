"""Cases of the layers that embed tokens, tell positions, and feed forward."""

from keras_seq import layers
from tests.conformance.case import Case

CASES = {
    "FeedForward": Case(
        make=lambda: layers.FeedForward(
            intermediate_dim=11,
            activation="gelu",
            dropout=0.3,
            kernel_initializer="glorot_normal",
            bias_initializer="random_normal",
        ),
        shapes=[(2, 3, 7)],
    ),
    "LearnedPositions": Case(
        make=lambda: layers.LearnedPositions(
            sequence_length=13, initializer="random_normal"
        ),
        shapes=[(2, 3, 7)],
    ),
    # The bias is the same for the whole batch: (1, H, T, S). The laws of
    # sequences that do apply to it stand in its own test.
    "RelativePositionBias": Case(
        make=lambda: layers.RelativePositionBias(
            num_heads=11,
            num_buckets=10,
            max_distance=17,
            bidirectional=False,
            initializer="random_normal",
        ),
        shapes=[(2, 3, 7), (2, 5, 7)],
        has_sequence=False,
    ),
    "RotaryPositions": Case(
        make=lambda: layers.RotaryPositions(
            max_wavelength=500, scaling_factor=3.0
        ),
        shapes=[(2, 3, 5, 14)],
    ),
    "SinusoidalPositions": Case(
        make=lambda: layers.SinusoidalPositions(
            max_wavelength=500, layout="concatenated"
        ),
        shapes=[(2, 3, 7)],
    ),
    "TokenEmbedding": Case(
        make=lambda: layers.TokenEmbedding(
            vocabulary_size=13,
            hidden_dim=7,
            mask_zero=False,
            scale=False,
            tie_weights=False,
            embeddings_initializer="random_normal",
            reverse_dtype="float16",
        ),
        shapes=[(2, 3)],
        dtypes=("int32",),
        high=13,
        call=lambda layer, token_ids: layer(layer(token_ids), reverse=True),
    ),
}
