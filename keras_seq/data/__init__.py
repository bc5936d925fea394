"""Data sets, built in and real, and the batches made of them."""

from keras_seq import _startup as _startup
