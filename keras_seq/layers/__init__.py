"""The equations with weights: Keras layers, one class per file."""

from keras_seq import _startup as _startup
from keras_seq.layers.feed_forward import FeedForward as FeedForward
from keras_seq.layers.learned_positions import (
    LearnedPositions as LearnedPositions,
)
from keras_seq.layers.relative_position_bias import (
    RelativePositionBias as RelativePositionBias,
)
from keras_seq.layers.rotary_positions import RotaryPositions as RotaryPositions
from keras_seq.layers.sinusoidal_positions import (
    SinusoidalPositions as SinusoidalPositions,
)
from keras_seq.layers.token_embedding import TokenEmbedding as TokenEmbedding
