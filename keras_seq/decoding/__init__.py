"""Writing a sequence token by token: greedy, beam search, sampling.

Each drives any `step(token_ids, state) -> (logits, state, attention)` and knows
no model.
"""

from keras_seq import _startup as _startup
from keras_seq.decoding.beams import beam_search as beam_search
from keras_seq.decoding.decoded import Decoded as Decoded
from keras_seq.decoding.greedy_path import greedy as greedy
from keras_seq.decoding.sampled_path import sample as sample
