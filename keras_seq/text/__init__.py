"""Text to token ids and back, in graph."""

from keras_seq import _startup as _startup
from keras_seq.text.normalization import normalize as normalize
from keras_seq.text.subword_tokenizer import (
    SubwordTokenizer as SubwordTokenizer,
)
from keras_seq.text.tokenizer import Tokenizer as Tokenizer
from keras_seq.text.tokenizer import TokenSpans as TokenSpans
from keras_seq.text.word_tokenizer import WordTokenizer as WordTokenizer
