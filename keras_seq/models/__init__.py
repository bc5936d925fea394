"""Layers wired into models; presets are plain dicts."""

from keras_seq import _startup as _startup
from keras_seq.models.encoder_decoder import EncoderDecoder as EncoderDecoder
from keras_seq.models.rnn_search import (
    RNN_SEARCH_PRESETS as RNN_SEARCH_PRESETS,
)
from keras_seq.models.rnn_search import RNNSearch as RNNSearch
from keras_seq.models.rnn_search import rnn_search as rnn_search
from keras_seq.models.seq2seq import SEQ2SEQ_PRESETS as SEQ2SEQ_PRESETS
from keras_seq.models.seq2seq import Seq2Seq as Seq2Seq
from keras_seq.models.seq2seq import seq2seq as seq2seq
from keras_seq.models.text_classifier import (
    TEXT_CLASSIFIER_PRESETS as TEXT_CLASSIFIER_PRESETS,
)
from keras_seq.models.text_classifier import text_classifier as text_classifier
from keras_seq.models.transformer import (
    TRANSFORMER_PRESETS as TRANSFORMER_PRESETS,
)
from keras_seq.models.transformer import Transformer as Transformer
from keras_seq.models.transformer import transformer as transformer
