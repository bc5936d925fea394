"""Decoding with a cache, growing or fixed, beside decoding with none."""

import keras
import numpy as np
import pytest

from keras_seq.decoding import beam_search, greedy, sample
from keras_seq.decoding.loop import probe
from tests.decoding.toy import START, numbers
from tests.decoding.transformer_toy import Stack

B, LIMIT = 3, 7
WAYS = {
    "greedy": (greedy, {}),
    "beam": (beam_search, {"beam_size": 3, "n_best": 3}),
    "sample": (sample, {"seed": 0, "top_k": 5}),
}


@pytest.mark.parametrize("cache", ["growing", "fixed"])
@pytest.mark.parametrize("way", WAYS)
def test_cached_is_uncached(way, cache):
    if cache == "growing" and keras.backend.backend() == "jax":
        pytest.skip("JAX compiles each length of a cache that grows")
    stack, (decode, options) = Stack(), WAYS[way]
    memory = stack.memory(B)
    want = numbers(stack.run(decode, memory, LIMIT, "none", **options))
    got = numbers(stack.run(decode, memory, LIMIT, cache, **options))
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_allclose(got[1], want[1], atol=1e-4)
    assert len(np.unique(got[0])) >= 3  # not one token over and over


def test_a_cache_may_grow_on_every_backend():
    stack = Stack()
    memory = stack.memory(1)
    want = numbers(stack.run(greedy, memory, 2, "none"))
    got = numbers(stack.run(greedy, memory, 2, "growing"))
    np.testing.assert_array_equal(got[0], want[0])


def test_a_look_at_the_step_finds_what_never_changes():
    stack = Stack()
    state = stack.layer.start(stack.memory(B), max_length=LIMIT)
    start_ids = keras.ops.full((B,), START, "int32")
    seen = probe(stack.step, start_ids, state)
    assert seen.constants == {
        f"cross_attention_{name}" for name in ("key", "value", "mask")
    }
    assert seen.vocabulary_size == 11
