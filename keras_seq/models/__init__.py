"""Layers wired into models; presets are plain dicts."""

from keras_seq import _startup as _startup
from keras_seq.models.encoder_decoder import EncoderDecoder as EncoderDecoder
from keras_seq.models.text_classifier import (
    TEXT_CLASSIFIER_PRESETS as TEXT_CLASSIFIER_PRESETS,
)
from keras_seq.models.text_classifier import text_classifier as text_classifier
from keras_seq.models.transformer import (
    TRANSFORMER_PRESETS as TRANSFORMER_PRESETS,
)
from keras_seq.models.transformer import Transformer as Transformer
from keras_seq.models.transformer import transformer as transformer
