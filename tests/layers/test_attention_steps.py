"""Step by step gives what one call on the whole sequence gives."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.layers import MultiHeadAttention

B, S, D = 2, 7, 11
OPTIONS = {
    "plain": {"num_heads": 3, "key_dim": 5},
    "rotary": {"num_heads": 3, "key_dim": 4, "rotary": True},
    "grouped": {
        "num_heads": 4,
        "key_dim": 5,
        "value_dim": 3,
        "num_key_value_heads": 2,
        "use_gate": True,
    },
    "window": {"num_heads": 3, "key_dim": 5, "sliding_window": 3},
    "all": {
        "num_heads": 4,
        "key_dim": 6,
        "num_key_value_heads": 2,
        "rotary": 100,
        "sliding_window": 4,
        "output_shape": 13,
    },
}
ROOMS = {"growing": None, "exact": S, "roomy": S + 3}


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def numpy(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def make(options="plain", **more):
    layer = MultiHeadAttention(
        **OPTIONS[options], bias_initializer="random_normal", **more
    )
    layer.build((B, S, D), (B, S, D))
    return layer


def by_steps(layer, x, sizes, room=None, mask=None):
    """Outputs and weights of all steps, `sizes` of them at a time."""
    x = ops.convert_to_tensor(x)
    cache, at, outputs, all_weights = layer.empty_cache(B, room), 0, [], []
    for size in sizes:
        step_mask = None
        if mask is not None:
            step_mask = ops.convert_to_tensor(mask[:, at : at + size])
        output, cache, weights = layer.step(
            x[:, at : at + size], cache, query_mask=step_mask
        )
        at += size
        outputs.append(numpy(output))
        weights = numpy(weights)
        assert not weights[..., at:].any()  # room that is still empty
        missing = max(S - weights.shape[-1], 0)
        weights = np.pad(weights, [(0, 0)] * 3 + [(0, missing)])
        all_weights.append(weights[..., :S])
    return np.concatenate(outputs, 1), np.concatenate(all_weights, 2)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("sizes", [(1,) * S, (4, 1, 2)])
def test_steps_equal_the_whole(options, room, sizes):
    layer, x = make(options), draw(B, S, D)
    got = by_steps(layer, x, sizes, ROOMS[room])
    want = layer(x, x, use_causal_mask=True, return_attention_scores=True)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, numpy(b), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", ["plain", "all"])
@pytest.mark.parametrize("room", ["growing", "roomy"])
@pytest.mark.parametrize("sizes", [(1,) * S, (4, 1, 2)])
def test_padded_steps_are_not_seen(options, room, sizes):
    layer, x = make(options), draw(B, S, D)
    mask = np.array([[0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 0, 1, 1, 0]], bool)
    want = layer(
        x,
        x,
        query_mask=mask,
        value_mask=mask,
        use_causal_mask=True,
        return_attention_scores=True,
    )
    loud = np.where(mask[..., None], x, np.nan)
    for steps in (x, loud):
        got = by_steps(layer, steps, sizes, ROOMS[room], mask)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, numpy(b), rtol=1e-4, atol=1e-5)


def test_rows_of_a_cache_can_be_reordered():
    layer, x = make("rotary"), draw(B, S, D)
    order = np.array([1, 0, 1], "int32")
    for room in (None, S):
        cache = layer.empty_cache(B, room)
        for t in range(S - 1):
            _, cache, _ = layer.step(x[:, t : t + 1], cache)
        cache = {name: ops.take(v, order, axis=0) for name, v in cache.items()}
        got, _, _ = layer.step(x[order, -1:], cache)
        want = numpy(layer(x, x, use_causal_mask=True))[order, -1:]
        np.testing.assert_allclose(numpy(got), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("room", ["growing", "exact"])
def test_steps_in_half_precision_keep_their_dtype(policy, room):
    full, x = make(), draw(B, S, D)
    half = make(dtype=policy)
    half.set_weights(full.get_weights())
    cache = half.empty_cache(B, ROOMS[room])
    dtypes = {name: v.dtype for name, v in cache.items()}
    output, cache, weights = half.step(ops.convert_to_tensor(x), cache)
    assert {name: v.dtype for name, v in cache.items()} == dtypes
    for tensor in (output, weights):
        dtype = keras.backend.standardize_dtype(tensor.dtype)
        assert dtype == half.compute_dtype
    want = numpy(full(x, x, use_causal_mask=True))
    np.testing.assert_allclose(numpy(output), want, atol=4e-2)


def test_step_refuses_bad_masks_by_name():
    layer, x = make(), draw(B, S, D)
    for mask in (np.ones((B, S + 1), bool), np.ones((B, S), "float32")):
        with pytest.raises(ValueError, match="`query_mask`.*Received: "):
            layer.step(x, layer.empty_cache(B), query_mask=mask)


# --- a memory, projected once -----------------------------------------------


@pytest.mark.parametrize("options", ["plain", "grouped"])
def test_a_memory_is_attended_as_in_a_call(options):
    layer = make(options)
    query, value, key = draw(B, 3, D), draw(B, S, D, seed=1), draw(B, S, D)
    mask = np.arange(S) < [[4], [S]]
    loud = np.where(mask[..., None], value, np.nan)
    for memory, arguments in (
        (layer.memory(value), {}),
        (layer.memory(value, key), {"key": key}),
        (layer.memory(loud, value_mask=mask), {"value_mask": mask}),
        (
            layer.memory(loud, key, value_mask=mask),
            {"key": key, "value_mask": mask},
        ),
    ):
        want = layer(query, value, **arguments, return_attention_scores=True)
        got = layer.attend_memory(query, memory)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(numpy(a), numpy(b), atol=1e-5)


def test_a_memory_knows_no_places():
    for options in ("rotary", "window"):
        with pytest.raises(ValueError, match="`memory`.*Received: rotary="):
            make(options).memory(draw(B, S, D))


def test_a_memory_refuses_bad_masks_by_name():
    with pytest.raises(ValueError, match="`value_mask`.*Received: shape="):
        make().memory(draw(B, S, D), value_mask=np.ones((B, 3), bool))


# --- in a loop --------------------------------------------------------------


@pytest.mark.tensorflow
@pytest.mark.parametrize("jit", [False, True])
def test_a_loop_of_steps_in_one_graph(jit):
    import tensorflow as tf

    layer, x = make("rotary"), draw(B, S, D)

    @tf.function(jit_compile=jit)
    def decode(x):
        def body(t, cache, outputs):
            step = tf.gather(x, t[None], axis=1)
            output, cache, _ = layer.step(step, cache)
            return t + 1, cache, outputs.write(t, output[:, 0])

        _, _, outputs = tf.while_loop(
            lambda t, *_: t < S,
            body,
            (
                tf.constant(0),
                layer.empty_cache(B, max_length=S),
                tf.TensorArray(tf.float32, S, element_shape=(B, D)),
            ),
        )
        return tf.transpose(outputs.stack(), (1, 0, 2))

    np.testing.assert_allclose(
        decode(tf.convert_to_tensor(x)),
        layer(x, x, use_causal_mask=True),
        rtol=1e-4,
        atol=1e-5,
    )


@pytest.mark.tensorflow
def test_a_growing_cache_in_a_graph_of_unknown_batch():
    import tensorflow as tf

    layer, x = make("all"), draw(B, S, D)

    @tf.function(input_signature=[tf.TensorSpec((None, None, D))])
    def decode(x):
        cache = layer.empty_cache(tf.shape(x)[0])
        outputs = tf.zeros((tf.shape(x)[0], 0, 13))
        for t in tf.range(tf.shape(x)[1]):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[
                    (outputs, tf.TensorShape((None, None, 13))),
                    (
                        cache,
                        {
                            "key": tf.TensorShape((None, None, 2, 6)),
                            "value": tf.TensorShape((None, None, 2, 6)),
                            "mask": tf.TensorShape((None, None)),
                        },
                    ),
                ]
            )
            output, cache, _ = layer.step(x[:, t : t + 1], cache)
            outputs = tf.concat([outputs, output], axis=1)
        return outputs

    for length in (S, 3):
        np.testing.assert_allclose(
            decode(x[:, :length]),
            layer(x[:, :length], x[:, :length], use_causal_mask=True),
            rtol=1e-4,
            atol=1e-5,
        )


@pytest.mark.tensorflow
def test_steps_of_unknown_number_find_room():
    import tensorflow as tf

    layer, x = make("rotary"), draw(B, S, D)

    @tf.function(input_signature=[tf.TensorSpec((None, None, D))])
    def prefill(x):
        cache = layer.empty_cache(tf.shape(x)[0], max_length=S)
        _, cache, _ = layer.step(x[:, :4], cache)
        return layer.step(x[:, 4:], cache)[0]

    np.testing.assert_allclose(
        prefill(x),
        layer(x, x, use_causal_mask=True)[:, 4:],
        rtol=1e-4,
        atol=1e-5,
    )
