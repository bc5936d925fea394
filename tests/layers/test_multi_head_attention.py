"""MultiHeadAttention against the papers, option by option."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.layers import MultiHeadAttention
from keras_seq.layers.attention_recording import recording
from keras_seq.ops import alibi_bias
from tests.gradients import gradients
from tests.oracles import attention as oracle

# Every axis a different prime, but for heads that must come in groups.
B, T, S, D, K, E = 2, 3, 5, 7, 11, 13
OPTIONS = {
    "plain": {"num_heads": 3, "key_dim": 5},
    "value_dim": {"num_heads": 3, "key_dim": 5, "value_dim": 2},
    "no_bias": {"num_heads": 3, "key_dim": 5, "use_bias": False},
    "output_shape": {"num_heads": 3, "key_dim": 5, "output_shape": (2, 11)},
    "gate": {"num_heads": 3, "key_dim": 5, "value_dim": 2, "use_gate": True},
    "grouped": {"num_heads": 4, "key_dim": 5, "num_key_value_heads": 2},
    "one_key_head": {"num_heads": 3, "key_dim": 5, "num_key_value_heads": 1},
    "rotary": {"num_heads": 3, "key_dim": 4, "rotary": True},
    "short_waves": {"num_heads": 3, "key_dim": 4, "rotary": 50},
    "window": {"num_heads": 3, "key_dim": 5, "sliding_window": 2},
    "dense": {"num_heads": 3, "key_dim": 5, "flash_attention": False},
    "all": {
        "num_heads": 4,
        "key_dim": 6,
        "value_dim": 3,
        "output_shape": 11,
        "use_gate": True,
        "num_key_value_heads": 2,
        "rotary": 100,
        "sliding_window": 3,
    },
}


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def numpy(x):
    return ops.convert_to_numpy(x)


def make(*shapes, **options):
    layer = MultiHeadAttention(bias_initializer="random_normal", **options)
    layer.build(*shapes)
    return layer


def projections(layer):
    """The layer's weights, as the oracle takes them."""
    found = {
        "query": layer.query_dense,
        "key": layer.key_dense,
        "value": layer.value_dense,
        "output": layer.output_dense,
    }
    if layer.use_gate:
        found["gate"] = layer._gate_dense
    return {
        name: (
            numpy(dense.kernel),
            np.zeros(dense.kernel.shape[{"output": 2}.get(name, 1) :])
            if dense.bias is None
            else numpy(dense.bias),
        )
        for name, dense in found.items()
    }


def by_the_paper(layer, query, value, key=None, bias=None, **masks):
    key = value if key is None else key
    seen = oracle.sight(
        B,
        query.shape[1],
        value.shape[1],
        layer.num_heads,
        window=layer.sliding_window,
        **masks,
    )
    rotary = {True: 10_000, False: None}.get(layer.rotary, layer.rotary)
    return oracle.multi_head_attention(
        query, value, key, projections(layer), seen, bias, rotary
    )


def check(layer, query, value, key=None, bias=None, **masks):
    """Output and scores against the paper, on both roads."""
    names = {"causal": "use_causal_mask", "key_mask": "value_mask"}
    arguments = {names.get(k, k): v for k, v in masks.items()}
    if bias is not None:
        arguments["bias"] = ops.convert_to_tensor(bias)
    inputs = [ops.convert_to_tensor(x) for x in (query, value)]
    inputs += [] if key is None else [ops.convert_to_tensor(key)]
    want = by_the_paper(layer, query, value, key, bias, **masks)
    got = layer(*inputs, **arguments, return_attention_scores=True)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(numpy(a), b, rtol=1e-4, atol=1e-5)
    alone = layer(*inputs, **arguments)
    np.testing.assert_allclose(numpy(alone), want[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", OPTIONS)
def test_matches_the_paper(options):
    layer = make((B, T, D), (B, S, E), (B, S, K), **OPTIONS[options])
    inputs = draw(B, T, D), draw(B, S, E, seed=1), draw(B, S, K, seed=2)
    rng = np.random.default_rng(3)
    masks = {
        "query_mask": rng.random((B, T)) < 0.7,
        "key_mask": rng.random((B, S)) < 0.7,
        "attention_mask": rng.random((B, layer.num_heads, T, S)) < 0.7,
    }
    check(layer, *inputs)
    check(layer, *inputs, causal=True)
    check(layer, *inputs, **masks, causal=True)


@pytest.mark.parametrize("options", ["plain", "rotary", "window", "all"])
def test_self_attention_matches_the_paper(options):
    layer = make((B, S, D), (B, S, D), **OPTIONS[options])
    x = draw(B, S, D)
    check(layer, x, x)
    check(layer, x, x, causal=True, key_mask=np.arange(S) < [[3], [S]])


def test_more_queries_than_keys_match_the_paper():
    layer = make((B, S, D), (B, T, D), num_heads=3, key_dim=5)
    query, value = draw(B, S, D), draw(B, T, D, seed=1)
    check(layer, query, value)
    check(layer, query, value, causal=True)  # the first two see nothing


def test_a_blind_row_is_the_bias_of_the_output():
    layer = make((B, T, D), (B, S, D), num_heads=3, key_dim=5)
    mask = np.ones((B, T, S), bool)
    mask[0, 1] = False
    for scores in (False, True):
        output = layer(
            draw(B, T, D),
            draw(B, S, D),
            attention_mask=mask,
            return_attention_scores=scores,
        )
        output = numpy(output[0] if scores else output)
        bias = numpy(layer.output_dense.bias)
        np.testing.assert_array_equal(output[0, 1], bias)
        assert np.abs(output[0, 0] - bias).max() > 1e-3


# --- what Keras does not have -----------------------------------------------


def test_grouped_heads_are_full_heads_with_keys_and_values_repeated():
    x = draw(B, S, D)
    grouped = make(x.shape, x.shape, **OPTIONS["grouped"])
    full = make(x.shape, x.shape, num_heads=4, key_dim=5)
    weights = [
        np.repeat(w, 2, axis=-2) if w.shape[-2:] == (2, 5) else w
        for w in grouped.get_weights()
    ]
    full.set_weights(weights)
    np.testing.assert_allclose(
        numpy(grouped(x, x)), numpy(full(x, x)), rtol=1e-5, atol=1e-6
    )


def test_rotary_scores_know_distances_only():
    layer = make((B, S, D), (B, S, D), num_heads=3, key_dim=4, rotary=True)
    x = draw(B, S, D)
    _, here = layer(x, x, return_attention_scores=True)
    # The same steps behind two others, which are hidden: all stand later.
    later = np.concatenate([draw(B, 2, D, seed=1), x], axis=1)
    mask = np.arange(S + 2) >= np.full((B, 1), 2)
    _, there = layer(
        later, later, value_mask=mask, return_attention_scores=True
    )
    np.testing.assert_allclose(
        numpy(there)[:, :, 2:, 2:], numpy(here), rtol=1e-4, atol=1e-5
    )
    # And they do know them: a step between two others moves the weights.
    order = [0, 2, 1, 3, 4]
    _, moved = layer(x[:, order], x[:, order], return_attention_scores=True)
    moved = numpy(moved)[:, :, order][..., order]
    assert np.abs(moved - numpy(here)).max() > 1e-3


@pytest.mark.parametrize("t, s", [(T, S), (S, S)])
def test_alibi_is_added_to_the_scores(t, s):
    layer = make((B, t, D), (B, s, D), num_heads=3, key_dim=5)
    bias = numpy(alibi_bias(3, t, s))
    bias = np.repeat(bias, B, axis=0)
    query, value = draw(B, t, D), draw(B, s, D, seed=1)
    check(layer, query, value, bias=bias)
    check(layer, query, value, bias=bias, causal=True)


def test_a_bias_is_broadcast_over_batch_and_heads():
    layer = make((B, T, D), (B, S, D), num_heads=3, key_dim=5)
    query, value = draw(B, T, D), draw(B, S, D, seed=1)
    bias = draw(1, 1, T, S, seed=2)
    whole = np.broadcast_to(bias, (B, 3, T, S))
    np.testing.assert_allclose(
        numpy(layer(query, value, bias=bias)),
        by_the_paper(layer, query, value, bias=whole)[0],
        rtol=1e-4,
        atol=1e-5,
    )
    for wrong in ((T, S), (B, 2, T, S), (B, 3, S, T)):
        with pytest.raises(ValueError, match="`bias`.*Received: shape="):
            layer(query, value, bias=draw(*wrong))


def test_a_bias_learns():
    layer = make((B, T, D), (B, S, D), num_heads=3, key_dim=5)
    query, value = draw(B, T, D), draw(B, S, D, seed=1)
    (gradient,) = gradients(
        lambda bias: layer(query, value, bias=bias) ** 2, draw(1, 3, T, S)
    )
    assert np.abs(gradient).max() > 1e-4
    # A row of weights does not move when all its scores do.
    np.testing.assert_allclose(gradient.sum(-1), 0, atol=1e-5)


# --- settings of the projections --------------------------------------------


def test_lora_is_heard():
    x = draw(B, S, D)
    layer = make(x.shape, x.shape, num_heads=3, key_dim=5)
    before = numpy(layer(x, x))
    layer.query_dense.enable_lora(2)
    np.testing.assert_allclose(numpy(layer(x, x)), before, atol=1e-6)
    for weight in layer.query_dense.trainable_weights:
        weight.assign(draw(*weight.shape, seed=1))
    check(layer, x, x)
    assert np.abs(numpy(layer(x, x)) - before).max() > 1e-3


def test_regularizers_and_constraints_reach_every_projection():
    x = draw(B, S, D)
    layer = make(
        x.shape,
        x.shape,
        num_heads=3,
        key_dim=5,
        kernel_regularizer="l2",
        bias_regularizer="l1",
        kernel_constraint="non_neg",
    )
    weights = [w.astype("float64") for w in layer.get_weights()]
    kernels, biases = weights[::2], weights[1::2]
    want = 0.01 * sum((k**2).sum() for k in kernels)
    want += 0.01 * sum(np.abs(b).sum() for b in biases)
    np.testing.assert_allclose(float(sum(layer.losses)), want, rtol=1e-5)
    constrained = [w for w in layer.trainable_weights if w.constraint]
    assert len(constrained) == len(kernels) == 4


def test_a_layer_knows_its_heads_as_keras_does():
    layer = MultiHeadAttention(3, 5, value_dim=2, dropout=0.1)
    assert (layer.num_heads, layer.key_dim, layer.value_dim) == (3, 5, 2)
    assert layer.dropout == 0.1 and layer.use_bias is True


def test_a_layer_that_is_called_twice_is_recorded_twice():
    x = draw(B, S, D)
    layer = make(x.shape, x.shape, num_heads=3, key_dim=5, name="look")
    with recording() as found:
        layer(x, x)
        layer(x[:, :T], x)
    shapes = [tuple(w.shape) for w in found.values()]
    assert shapes == [(B, 3, S, S), (B, 3, T, S)]
    with recording() as found:
        pass
    assert not found


# --- bad input --------------------------------------------------------------


@pytest.mark.parametrize(
    "options, name",
    [
        ({"num_heads": 0}, "num_heads"),
        ({"num_heads": 2.0}, "num_heads"),
        ({"num_heads": True}, "num_heads"),
        ({"key_dim": -1}, "key_dim"),
        ({"value_dim": 0}, "value_dim"),
        ({"sliding_window": 0}, "sliding_window"),
        ({"sliding_window": 1.5}, "sliding_window"),
        ({"num_key_value_heads": 2}, "num_key_value_heads"),
        ({"num_key_value_heads": 0}, "num_key_value_heads"),
        ({"dropout": 1.0}, "dropout"),
        ({"rotary": True}, "key_dim"),
    ],
)
def test_constructor_refuses_by_name(options, name):
    options = {"num_heads": 3, "key_dim": 5, **options}
    with pytest.raises(ValueError, match=f"`{name}`.*Received: "):
        MultiHeadAttention(**options)


@pytest.mark.parametrize(
    "shapes, message",
    [
        ([(B, D), (B, S, D)], "`query` must have shape"),
        ([(B, T, D), (B, D)], "`value` must have shape"),
        (
            [(B, T, D), (B, S, D), (B, T, D)],
            "`value` and `key` must have the same steps",
        ),
        ([(B, 2, T, D), (B, T, D)], "`query` and `value` must have the same"),
        ([(B, 2, T, D), (B, 3, T, D)], "not attended over"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(shapes, message):
    layer = MultiHeadAttention(3, 5, attention_axes=(-2,))
    with pytest.raises(ValueError, match=f"{message}.*Received: "):
        layer(*(draw(*shape) for shape in shapes))


def test_attention_axes_must_exist():
    layer = MultiHeadAttention(3, 5, attention_axes=(2,))
    with pytest.raises(ValueError, match="`attention_axes`.*Received: "):
        layer(draw(B, T, D), draw(B, T, D))


# --- chosen axes ------------------------------------------------------------


@pytest.mark.parametrize("known", [True, False])
def test_masks_follow_the_chosen_axes(known):
    # Attention over the third axis alone: every row of the second by itself.
    rows = 2
    layer = MultiHeadAttention(3, 5, attention_axes=(2,))
    ids = np.array([[[3, 1, 0], [4, 0, 0]], [[5, 9, 2], [6, 5, 0]]], "int32")
    inputs = keras.Input((rows if known else None, T if known else None))
    embedded = keras.layers.Embedding(10, D, mask_zero=True)(inputs)
    model = keras.Model(inputs, layer(embedded, embedded))
    got = numpy(model(ids))
    flat = numpy(embedded_of(model, ids)).reshape(B * rows, T, D)
    mask = (ids != 0).reshape(B * rows, T)
    alone = MultiHeadAttention(3, 5)
    alone.build(flat.shape, flat.shape)
    alone.set_weights(layer.get_weights())
    want = alone(flat, flat, query_mask=mask, value_mask=mask)
    np.testing.assert_allclose(
        got.reshape(B * rows, T, D), numpy(want), rtol=1e-5, atol=1e-6
    )
    for name in ("query_mask", "value_mask"):
        x = draw(B, rows, T, D)
        with pytest.raises(ValueError, match=f"`{name}`.*Received: shape="):
            layer(x, x, **{name: np.ones((B, T), bool)})
    with pytest.raises(ValueError, match="`attention_mask`.*Received: shape="):
        layer(x, x, attention_mask=np.ones((B, rows, T, S), bool))


def embedded_of(model, ids):
    (embedding,) = (
        layer
        for layer in model.layers
        if isinstance(layer, keras.layers.Embedding)
    )
    return embedding(ids)
