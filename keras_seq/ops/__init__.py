"""The equations: pure functions of tensors, without weights."""

from keras_seq import _startup as _startup
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
