"""Attention weights out of any model, without rewiring it."""


def attention_model(model):
    """Return a model that gives `(outputs, {layer name: weights})`.

    It shares the weights of `model`, gives the same outputs, and leaves
    `model` as it is. It finds the attention of

    - every layer of keras_seq,
    - every other layer that has a call argument `return_attention_scores`
      (`keras.layers.MultiHeadAttention`, `Attention`, `AdditiveAttention`, and
      what is built from them, such as KerasHub's blocks),

    wherever it stands: in functional, sequential and subclassed models, in
    models inside models, in your own blocks. It works eagerly, in
    `model.predict`, and inside `tf.function` or `jax.jit`.

    Names are the path of layer names to the attention,
    `decoder_1/self_attention`. In your own blocks, a layer that you did not
    name goes by the attribute that holds it. A layer that is called twice
    gives `look` and `look:2`, in the order of the calls.

    Shapes:
        weights `(B, H, T, S)`; attention without heads has `H = 1`.

    Args:
        model: A Keras model or layer. It need not be built.

    Returns:
        A `keras.Model`, to be called as `model` is. It runs in inference mode
        unless called with `training=True`.

    Raises:
        ValueError: When called, if no attention runs in `model`, or if it
            runs inside a recurrent layer's loop, which it cannot leave.

    Example:
        >>> import keras
        >>> look = keras.layers.Attention(name="look")
        >>> source, target = keras.Input((5, 7)), keras.Input((3, 7))
        >>> model = keras.Model([source, target], look([target, source]))
        >>> inputs = [keras.ops.ones((2, 5, 7)), keras.ops.ones((2, 3, 7))]
        >>> outputs, weights = attention_model(model)(inputs)
        >>> {name: tuple(w.shape) for name, w in weights.items()}
        {'look': (2, 1, 3, 5)}
    """
    # Here and not above, so that drawing attention does not load Keras.
    from keras_seq.explain.recording_model import RecordingModel

    return RecordingModel(model)
