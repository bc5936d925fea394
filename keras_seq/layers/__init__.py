"""The equations with weights: Keras layers, one class per file."""

from keras_seq import _startup as _startup
from keras_seq.layers.additive_attention import (
    AdditiveAttention as AdditiveAttention,
)
from keras_seq.layers.attention_pooling import (
    AttentionPooling as AttentionPooling,
)
from keras_seq.layers.attentive_gru import AttentiveGRU as AttentiveGRU
from keras_seq.layers.attentive_lstm import AttentiveLSTM as AttentiveLSTM
from keras_seq.layers.bidirectional import Bidirectional as Bidirectional
from keras_seq.layers.bilinear_attention import (
    BilinearAttention as BilinearAttention,
)
from keras_seq.layers.cosine_attention import CosineAttention as CosineAttention
from keras_seq.layers.dot_product_attention import (
    DotProductAttention as DotProductAttention,
)
from keras_seq.layers.feed_forward import FeedForward as FeedForward
from keras_seq.layers.gru import GRU as GRU
from keras_seq.layers.gru_cell import GRUCell as GRUCell
from keras_seq.layers.hard_attentive_lstm import (
    HardAttentiveLSTM as HardAttentiveLSTM,
)
from keras_seq.layers.learned_positions import (
    LearnedPositions as LearnedPositions,
)
from keras_seq.layers.local_attention import LocalAttention as LocalAttention
from keras_seq.layers.lstm import LSTM as LSTM
from keras_seq.layers.lstm_cell import LSTMCell as LSTMCell
from keras_seq.layers.maxout import Maxout as Maxout
from keras_seq.layers.multi_head_attention import (
    MultiHeadAttention as MultiHeadAttention,
)
from keras_seq.layers.ngram_bag import NgramBag as NgramBag
from keras_seq.layers.relative_position_bias import (
    RelativePositionBias as RelativePositionBias,
)
from keras_seq.layers.rnn_cell import RNNCell as RNNCell
from keras_seq.layers.rotary_positions import RotaryPositions as RotaryPositions
from keras_seq.layers.sequence_pooling import SequencePooling as SequencePooling
from keras_seq.layers.simple_rnn import SimpleRNN as SimpleRNN
from keras_seq.layers.sinusoidal_positions import (
    SinusoidalPositions as SinusoidalPositions,
)
from keras_seq.layers.spelling_bag import SpellingBag as SpellingBag
from keras_seq.layers.token_embedding import TokenEmbedding as TokenEmbedding
from keras_seq.layers.transformer_decoder import (
    TransformerDecoder as TransformerDecoder,
)
from keras_seq.layers.transformer_encoder import (
    TransformerEncoder as TransformerEncoder,
)
