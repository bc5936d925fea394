"""Between one wide vector, `(B, T, H*D)`, and one per head, `(B, H, T, D)`."""

from keras import ops


def split_heads(x, num_heads):
    """`(B, T, H*D)` -> `(B, H, T, D)`."""
    batch, length = ops.shape(x)[:2]
    width = x.shape[-1] // num_heads
    x = ops.reshape(x, (batch, length, num_heads, width))
    return ops.transpose(x, (0, 2, 1, 3))


def merge_heads(x):
    """`(B, H, T, D)` -> `(B, T, H*D)`."""
    batch, heads, length, width = ops.shape(x)
    x = ops.transpose(x, (0, 2, 1, 3))
    return ops.reshape(x, (batch, length, heads * width))


def repeat_heads(x, num_heads):
    """Let groups of queries share keys: `(B, G, S, D)` -> `(B, H, S, D)`."""
    groups = x.shape[1]
    return x if groups == num_heads else ops.repeat(x, num_heads // groups, 1)
