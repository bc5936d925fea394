"""The equations with weights: Keras layers, one class per file."""

from keras_seq import _startup as _startup
