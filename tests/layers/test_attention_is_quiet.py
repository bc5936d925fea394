"""Attention leaves nothing on the user's screen: no warning, no remark."""

import subprocess
import sys

import pytest

# A process of its own: TensorFlow makes each of its remarks only once.
SCRIPT = """
import numpy as np
from keras_seq import layers

x, y = np.ones((2, 7, 8), "float32"), np.ones((2, 11, 8), "float32")
x_mask, y_mask = np.arange(7) < [[5], [7]], np.arange(11) < [[9], [11]]
pairs = np.ones((2, 7, 11), bool)
heads = dict(num_heads=2, key_dim=4, rotary=True)
for layer in (
    layers.DotProductAttention(),
    layers.CosineAttention(),
    layers.BilinearAttention(),
    layers.AdditiveAttention(5),
    layers.MultiHeadAttention(**heads),
    layers.MultiHeadAttention(**heads, sliding_window=3),
    layers.LocalAttention(**heads, window=3),
):
    local = isinstance(layer, layers.LocalAttention)
    value, mask = (x, x_mask) if local else (y, y_mask)
    for scores in (False, True):
        for causal in (False, True):
            options = dict(
                return_attention_scores=scores, use_causal_mask=causal
            )
            layer(x, value, query_mask=x_mask, value_mask=mask, **options)
            seen = pairs[..., : value.shape[1]]
            layer(x, value, attention_mask=seen, **options)
layer = layers.MultiHeadAttention(2, 4)
layer(x, x)
for room in (None, 9):
    for steps in (1, 3):
        cache = layer.empty_cache(2, room)
        for _ in range(2):
            _, cache, _ = layer.step(
                x[:, :steps], cache, query_mask=x_mask[:, :steps]
            )
layer.attend_memory(x, layer.memory(y, value_mask=y_mask))
grid = np.ones((2, 3, 5, 8), "float32")
layer = layers.MultiHeadAttention(2, 4, attention_axes=(1,))
grid_mask = np.ones((2, 3, 5), bool)
layer(grid, grid, query_mask=grid_mask, value_mask=grid_mask)
layer(grid, grid, attention_mask=np.ones((2, 5, 3, 3), bool))
"""


@pytest.mark.tensorflow
def test_eager_calls_and_steps_say_nothing():
    ran = subprocess.run(
        [sys.executable, "-W", "default::UserWarning", "-c", SCRIPT],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
