"""Sentiment and its siblings: data, model, training and export, joined."""

from keras_seq import _startup as _startup
from keras_seq.tasks import sentiment as sentiment
