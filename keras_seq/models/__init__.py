"""Layers wired into models; presets are plain dicts."""

from keras_seq import _startup as _startup
from keras_seq.models.encoder_decoder import EncoderDecoder as EncoderDecoder
from keras_seq.models.image_captioner import ImageCaptioner as ImageCaptioner
from keras_seq.models.image_captioner import draw_locations as draw_locations
from keras_seq.models.rnn_search import (
    RNN_SEARCH_PRESETS as RNN_SEARCH_PRESETS,
)
from keras_seq.models.rnn_search import RNNSearch as RNNSearch
from keras_seq.models.rnn_search import rnn_search as rnn_search
from keras_seq.models.seq2seq import SEQ2SEQ_PRESETS as SEQ2SEQ_PRESETS
from keras_seq.models.seq2seq import Seq2Seq as Seq2Seq
from keras_seq.models.seq2seq import seq2seq as seq2seq
from keras_seq.models.show_and_tell import (
    SHOW_AND_TELL_PRESETS as SHOW_AND_TELL_PRESETS,
)
from keras_seq.models.show_and_tell import ShowAndTell as ShowAndTell
from keras_seq.models.show_and_tell import show_and_tell as show_and_tell
from keras_seq.models.show_attend_tell import (
    SHOW_ATTEND_TELL_PRESETS as SHOW_ATTEND_TELL_PRESETS,
)
from keras_seq.models.show_attend_tell import ShowAttendTell as ShowAttendTell
from keras_seq.models.show_attend_tell import (
    show_attend_tell as show_attend_tell,
)
from keras_seq.models.text_classifier import (
    TEXT_CLASSIFIER_PRESETS as TEXT_CLASSIFIER_PRESETS,
)
from keras_seq.models.text_classifier import text_classifier as text_classifier
from keras_seq.models.transformer import (
    TRANSFORMER_PRESETS as TRANSFORMER_PRESETS,
)
from keras_seq.models.transformer import Transformer as Transformer
from keras_seq.models.transformer import transformer as transformer
from keras_seq.models.transformer_captioner import (
    TRANSFORMER_CAPTIONER_PRESETS as TRANSFORMER_CAPTIONER_PRESETS,
)
from keras_seq.models.transformer_captioner import (
    TransformerCaptioner as TransformerCaptioner,
)
from keras_seq.models.transformer_captioner import (
    transformer_captioner as transformer_captioner,
)
