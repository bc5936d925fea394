"""The switch for mixed precision."""

import contextlib

import keras


@contextlib.contextmanager
def precision(policy: str):
    """Let layers made inside the block compute in another precision.

    `"mixed_bfloat16"` and `"mixed_float16"` keep the weights in float32 and
    multiply in half the bits; `training.fit` then scales the loss for
    float16 as Keras does. The policy outside the block is as it was.

    Args:
        policy: Name of a `keras.DTypePolicy`.

    Example:
        >>> with precision("mixed_bfloat16"):
        ...     layer = keras.layers.Dense(3)
        >>> layer.compute_dtype, layer.variable_dtype
        ('bfloat16', 'float32')
        >>> keras.layers.Dense(3).compute_dtype
        'float32'
    """
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


def with_loss_scaling(optimizer, model):
    """Wrap `optimizer` if a layer of `model` computes in float16."""
    policies = {layer.dtype_policy.name for layer in [model, *model.layers]}
    if "mixed_float16" not in policies:
        return optimizer
    if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        return optimizer
    return keras.optimizers.LossScaleOptimizer(optimizer)
