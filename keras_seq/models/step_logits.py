"""Logits of a step's few rows, by the product that is fastest at them."""

import keras
from keras import ops


class StepLogits:
    """What `embedding(x, reverse=True)` gives for vectors `(R, D)`.

    A tied table is `(V, D)`, and most kernels for products would have it
    `(D, V)`: left to them, they turn it round in every step, which for a few
    rows takes as long as the product. Here it is done once for all steps. Of
    one row the product reads the table as it is.

    Args:
        embedding: A `TokenEmbedding`.
    """

    def __init__(self, embedding):
        self.embedding = embedding
        self.columns = None
        if embedding.tie_weights and _is_tensorflow_graph():
            table = ops.cast(embedding.embeddings, embedding.reverse_dtype)
            self.columns = ops.transpose(table)

    def __call__(self, x):
        if self.columns is None:
            return self.embedding(x, reverse=True)

        def of_one():
            return self.embedding(x, reverse=True)

        def of_many():
            rows = ops.cast(x, self.columns.dtype)
            return ops.cast(ops.matmul(rows, self.columns), "float32")

        # Known while tracing or not; XLA always knows, and drops the other.
        return ops.cond(ops.equal(ops.shape(x)[0], 1), of_one, of_many)


def _is_tensorflow_graph():
    if keras.backend.backend() != "tensorflow":
        return False
    import tensorflow as tf

    return not tf.executing_eagerly()
