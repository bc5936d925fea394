"""Read and set the mask that Keras attaches to a tensor.

Keras has no public function for it, and where it keeps a mask depends on the
backend. It does hand masks to layers, and takes them from layers, so two
layers that do nothing else are the public way in.
"""

import keras
from keras import ops


class _MaskReader(keras.layers.Layer):
    def call(self, inputs, mask=None):
        return mask

    def compute_mask(self, inputs, mask=None):
        return None


class _MaskSetter(keras.layers.Layer):
    def call(self, inputs, mask=None):
        return inputs

    def compute_mask(self, inputs, mask=None):
        return mask


_reader = _MaskReader(name="mask_reader", autocast=False)
_setter = _MaskSetter(name="mask_setter", autocast=False)


def mask_of(tensor):
    """Return the mask on `tensor`, or None.

    >>> ids = ops.convert_to_tensor([[7, 7, 0]])
    >>> mask_of(keras.layers.Embedding(9, 2, mask_zero=True)(ids)) is None
    False
    >>> mask_of(ids) is None
    True
    """
    return _reader(tensor) if ops.is_tensor(tensor) else None


def masked_copy(tensor, mask):
    """Return a copy of `tensor` that carries `mask`, if there is one.

    >>> bare = ops.ones((1, 3, 2))
    >>> mask = ops.convert_to_tensor([[True, True, False]])
    >>> copy = masked_copy(bare, mask)
    >>> mask_of(copy) is None, mask_of(bare) is None
    (False, True)
    """
    if not ops.is_tensor(tensor):
        return tensor
    tensor = ops.copy(tensor)
    return tensor if mask is None else _setter(tensor, mask=mask)
