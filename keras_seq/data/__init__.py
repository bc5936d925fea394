"""Data sets, built in and real, and the batches made of them."""

from keras_seq import _startup as _startup
from keras_seq.data.dataset import Dataset as Dataset
from keras_seq.data.reviews import Rationale as Rationale
from keras_seq.data.reviews import Review as Review
from keras_seq.data.reviews import load_biased_reviews as load_biased_reviews
from keras_seq.data.reviews import load_reviews as load_reviews
from keras_seq.data.reviews import write_reviews as write_reviews
