"""The function that `keras_seq.explain.token_weights` returns."""

import functools

import keras
from keras import ops

from keras_seq.explain.attention_rollout import attention_rollout
from keras_seq.explain.gradients import gradients
from keras_seq.explain.layer_substitution import substituted
from keras_seq.explain.layer_tree import named_layers
from keras_seq.explain.recording_model import NoAttentionError, RecordingModel

EMBEDDING = "token_embedding"


class TokenWeigher:
    """`token_ids (B, T)` -> `(outputs, weights (B, T))`.

    Made by `keras_seq.explain.token_weights`, where it is described.

    Attributes:
        model: The model that is explained.
        method: How: "attention", "transformer" or "gradient".
    """

    def __init__(self, model, method):
        if not isinstance(model, keras.layers.Layer):
            raise ValueError(
                "`model` must be a Keras model. "
                f"Received: {model!r} (of type {type(model).__name__})"
            )
        self.model = model
        self._recorder = RecordingModel(model)
        attention = _attention_shapes(self._recorder)
        self._pooling = [n for n, shape in attention.items() if _pools(shape)]
        self._stack = [n for n, s in attention.items() if _looks_around(s)]
        self._embedding = next(
            (
                layer
                for path, layer in named_layers(model).items()
                if path.split("/")[-1] == EMBEDDING
            ),
            None,
        )
        offers = {
            "attention": bool(self._pooling),
            "transformer": bool(self._stack),
            "gradient": self._embedding is not None,
        }
        if method == "auto":
            method = next((name for name, has in offers.items() if has), None)
        if not offers.get(method):
            self._raise_that_it_lacks(method, attention)
        self.method = method
        self._weigh = getattr(self, f"_by_{method}")

    def __call__(self, token_ids):
        if not hasattr(token_ids, "dtype"):
            token_ids = ops.convert_to_tensor(token_ids, "int32")
        token_ids = ops.convert_to_tensor(token_ids)
        if len(token_ids.shape) != 2:
            raise ValueError(
                "`token_ids` must have the shape (B, T). "
                f"Received: shape={tuple(token_ids.shape)}"
            )
        outputs, weights = self._weigh(token_ids)
        is_token = ops.not_equal(token_ids, 0)
        weights = ops.cast(weights, "float32")
        return outputs, ops.where(is_token, weights, 0.0)

    @functools.cached_property
    def compiled(self):
        """The same function; on TensorFlow, traced once for all shapes."""
        if keras.backend.backend() != "tensorflow":
            return self
        import tensorflow as tf

        spec = tf.TensorSpec((None, None), tf.int32)
        return tf.function(self, input_signature=[spec])

    def _by_attention(self, token_ids):
        outputs, attention = self._recorder(token_ids)
        return outputs, self._pooled(attention)

    def _by_transformer(self, token_ids):
        outputs, attention = self._recorder(token_ids)
        rollout = attention_rollout([attention[n] for n in self._stack])
        if self._pooling:
            share = self._pooled(attention)  # (B, T)
        else:
            share = ops.cast(ops.not_equal(token_ids, 0), "float32")
            count = ops.sum(share, axis=-1, keepdims=True)
            share = share / ops.maximum(count, 1.0)
        return outputs, ops.matmul(share[:, None, :], rollout)[:, 0]

    def _pooled(self, attention):
        """Return the weights of the last pooling, `(B, T)`."""
        weights = ops.cast(attention[self._pooling[-1]], "float32")
        return ops.mean(weights[:, :, 0], axis=1)

    def _by_gradient(self, token_ids):
        embedded = ops.copy(self._embedding(token_ids))

        def run(embedded):
            with substituted(self._embedding, embedded):
                return self.model(token_ids, training=False)

        if keras.backend.backend() == "tensorflow":
            import tensorflow as tf

            with tf.GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(embedded)
                outputs = run(embedded)
                total = _predicted(outputs)
            slope = tape.gradient(total, embedded)
        else:
            outputs = self.model(token_ids, training=False)
            (slope,) = gradients(lambda x: _predicted(run(x)), [embedded])
        product = ops.cast(embedded, "float32") * ops.cast(slope, "float32")
        return outputs, ops.sum(product, axis=-1)

    def _raise_that_it_lacks(self, method, attention):
        wanted = {
            "attention": "attention pooling (attention with one query, such "
            "as keras_seq.layers.AttentionPooling)",
            "transformer": "self-attention over the tokens (such as "
            "keras_seq.layers.TransformerEncoder)",
            "gradient": f"an embedding layer named '{EMBEDDING}'",
        }
        looked_for = wanted[method] if method else ", ".join(wanted.values())
        asked = f"method='{method}'" if method else "any method"
        names = [layer.name for layer in getattr(self.model, "layers", [])]
        raise ValueError(
            f"Model '{self.model.name}' has nothing to weigh tokens with by "
            f"{asked}, which looks for {looked_for}. Received: a model with "
            f"the attention {attention or 'none'} (name: shape B, H, T, S) "
            f"and the layers {names}"
        )


def _attention_shapes(recorder):
    """Return `{name: (B, H, T, S)}` of the model's attention, None = any."""
    model = recorder.model
    inputs = getattr(model, "inputs", None) or [keras.Input((None,))]
    if len(inputs) != 1:
        raise ValueError(
            "`model` must take `token_ids` and nothing else. "
            f"Received: inputs {[x.name for x in inputs]}"
        )
    shape = (None, *inputs[0].shape[1:])
    token_ids = keras.Input(batch_shape=shape, dtype="int32")
    try:
        _, attention = recorder(token_ids)
    except NoAttentionError:
        return {}
    return {name: tuple(w.shape) for name, w in attention.items()}


def _pools(shape):
    return shape[2] == 1


def _looks_around(shape):
    return shape[2] != 1 and shape[2] == shape[3]


def _predicted(outputs):
    """Return the outputs of the predicted classes, added over the batch."""
    if not hasattr(outputs, "shape") or len(outputs.shape) != 2:
        raise ValueError(
            "The gradient of a predicted class needs a model whose output is "
            f"one tensor (B, classes). Received: {outputs!r}"
        )
    outputs = ops.cast(outputs, "float32")
    if outputs.shape[-1] == 1:
        return ops.sum(ops.abs(outputs))
    # One class each, the first of equals, as `argmax` would predict.
    predicted = ops.argmax(outputs, axis=-1)
    chosen = ops.one_hot(predicted, outputs.shape[-1], dtype="float32")
    return ops.sum(outputs * chosen)
