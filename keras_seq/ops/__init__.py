"""The equations: pure functions of tensors, without weights."""

from keras_seq import _startup as _startup
