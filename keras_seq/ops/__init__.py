"""The equations: pure functions of tensors, without weights."""

from keras_seq import _startup as _startup
from keras_seq.ops.attention import attend as attend
from keras_seq.ops.masks import causal_mask as causal_mask
from keras_seq.ops.masks import local_mask as local_mask
from keras_seq.ops.masks import masked_softmax as masked_softmax
from keras_seq.ops.masks import merge_masks as merge_masks
from keras_seq.ops.masks import padding_mask as padding_mask
from keras_seq.ops.ngrams import ngram_keys as ngram_keys
from keras_seq.ops.position_bias import alibi_bias as alibi_bias
from keras_seq.ops.position_bias import alibi_slopes as alibi_slopes
from keras_seq.ops.position_bias import (
    relative_position_bucket as relative_position_bucket,
)
from keras_seq.ops.positions import binary_encoding as binary_encoding
from keras_seq.ops.positions import linear_encoding as linear_encoding
from keras_seq.ops.positions import normalized_encoding as normalized_encoding
from keras_seq.ops.positions import sinusoidal_encoding as sinusoidal_encoding
from keras_seq.ops.recurrence import recur as recur
from keras_seq.ops.rnn_cells import gru_step as gru_step
from keras_seq.ops.rnn_cells import lstm_step as lstm_step
from keras_seq.ops.rnn_cells import rnn_step as rnn_step
from keras_seq.ops.rotary import rotate as rotate
from keras_seq.ops.scores import additive_scores as additive_scores
from keras_seq.ops.scores import bilinear_scores as bilinear_scores
from keras_seq.ops.scores import cosine_scores as cosine_scores
from keras_seq.ops.scores import dot_scores as dot_scores
from keras_seq.ops.scores import scaled_dot_scores as scaled_dot_scores
