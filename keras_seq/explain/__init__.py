"""Attention out of any model: found, traced, and drawn."""

from keras_seq import _startup as _startup
