"""How much each token counted, out of any model that reads tokens."""

METHODS = ("attention", "transformer", "gradient")


def token_weights(model, method="auto"):
    r"""Return a function from `token_ids` to `(outputs, weights (B, T))`.

    Three answers to "which tokens decided?":

    - `"attention"`: the weights $a_t$ with which attention pooling, that is
      attention with a single query, sums up the tokens; their mean over heads.
    - `"transformer"`: attention rollout (Abnar and Zuidema, 2020). Layer $l$
      passes on half of what it sees and keeps half of what it had,

      $$ \tilde A_l = \tfrac12 \bar A_l + \tfrac12 I, \qquad
         R = \tilde A_L \cdots \tilde A_1, $$

      with $\bar A_l$ the mean over heads. The weights are the mean of the
      rows of $R$ that are tokens; or, if attention pooling follows,
      $\sum_t a_t R_{ts}$.
    - `"gradient"`: gradient times input at the layer `token_embedding`,
      $\sum_d x_{td} \, \partial y_c / \partial x_{td}$ for the predicted class
      $c = \arg\max_j y_j$. Positive speaks for that class, negative against. Of
      a model with one output, $y_1$ is the output and $y_0 = -y_1$.

    The function can be called inside `tf.function`, and so be a signature of a
    SavedModel. (The gradient of a JAX or PyTorch model must be taken outside
    compiled functions.) It has the attribute `method`, the one in use.

    Shapes:
        token_ids `(B, T)` -> outputs of `model`, weights `(B, T)` float32.

    Masking: id 0 is padding and has the weight 0. Rows of the first two
    methods sum to 1, and a row without tokens is 0.

    Args:
        model: A Keras model that takes `token_ids` and nothing else.
        method: One of the above; or `"auto"`, the first of them that the model
            has the layers for.

    Raises:
        ValueError: If the model does not have what `method` looks for.

    Example:
        >>> import keras
        >>> ids = keras.Input((None,), dtype="int32")
        >>> embed = keras.layers.Embedding(7, 3, name="token_embedding")
        >>> x = keras.layers.GlobalAveragePooling1D()(embed(ids))
        >>> model = keras.Model(ids, keras.layers.Dense(2)(x))
        >>> weigh = token_weights(model)
        >>> logits, weights = weigh([[4, 2, 0], [5, 0, 0]])
        >>> weigh.method, tuple(weights.shape), float(weights[1, 2])
        ('gradient', (2, 3), 0.0)

    Reference: <https://arxiv.org/abs/2005.00928>
    """
    if method not in ("auto", *METHODS):
        raise ValueError(
            f"`method` must be 'auto' or one of {METHODS}. Received: {method!r}"
        )
    # Here and not above, so that drawing weights does not load Keras.
    from keras_seq.explain.token_weigher import TokenWeigher

    return TokenWeigher(model, method)
