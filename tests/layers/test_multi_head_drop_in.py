"""MultiHeadAttention takes over from Keras's by changing one import."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.layers import MultiHeadAttention

B, T, S, D = 2, 3, 5, 7
BASE = {"num_heads": 3, "key_dim": 5}
CONSTRUCTIONS = {
    "plain": {},
    "value_dim": {"value_dim": 2},
    "no_bias": {"use_bias": False},
    "output_shape": {"output_shape": 11},
    "output_of_two_axes": {"output_shape": (2, 11)},
    "gate": {"use_gate": True, "value_dim": 2},
    "window": {"sliding_window": 2},
    "dropout": {"dropout": 0.3},
    "one_axis": {"attention_axes": 1},
}
CALLS = ["plain", "causal", "pairs", "scores", "key", "self", "all"]
OF_RANK_4 = {
    "both": {},
    "second": {"attention_axes": (1,)},
    "third": {"attention_axes": (2,)},
    "from_the_end": {"attention_axes": (-2,)},
    "both_named": {"attention_axes": (1, 2)},
    "the_other_way": {"attention_axes": [2, 1]},
    "gate": {"use_gate": True, "value_dim": 2, "output_shape": (2, 11)},
}


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def pair(shapes, **options):
    """Keras's layer and ours, built alike, with Keras's weights."""
    options = {"bias_initializer": "random_normal", **BASE, **options}
    theirs = keras.layers.MultiHeadAttention(**options, name="attention")
    ours = MultiHeadAttention(**options, name="attention")
    for layer in (theirs, ours):
        layer.build(*shapes)
    ours.set_weights(theirs.get_weights())
    return theirs, ours


def assert_same(theirs, ours):
    theirs, ours = keras.tree.flatten(theirs), keras.tree.flatten(ours)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(
            ops.convert_to_numpy(a), ops.convert_to_numpy(b), atol=1e-5
        )


def old_outputs(theirs, inputs, arguments):
    """What Keras's layer answers, also where its quick path cannot.

    On JAX that path refuses values that are not as wide as the keys; the one
    which is taken for scores does not, and computes the same.
    """
    refused = theirs.value_dim != theirs.key_dim
    if keras.backend.backend() == "jax" and refused:
        asked = arguments.get("return_attention_scores", False)
        arguments = {**arguments, "return_attention_scores": True}
        outputs = theirs(*inputs, **arguments)
        return outputs if asked else outputs[0]
    return theirs(*inputs, **arguments)


def call_arguments(call, heads=3):
    """Inputs and arguments of one way to call a layer.

    Causal and windows with `T == S` only: Keras aligns them top-left.
    """
    x, y = draw(B, S, D), draw(B, S, D, seed=1)
    pairs = np.random.default_rng(2).random((B, S, S)) < 0.7
    pairs[..., 0] = True  # no blind rows, which Keras treats in two ways
    return {
        "plain": ([x, y], {}),
        "causal": ([x, y], {"use_causal_mask": True}),
        "pairs": ([x, y], {"attention_mask": pairs}),
        "scores": ([x, y], {"return_attention_scores": True}),
        "key": ([x, y, draw(B, S, D, seed=3)], {}),
        "self": ([x, x], {"value_mask": np.arange(S) < [[4], [S]]}),
        "all": (
            [x, y, draw(B, S, D, seed=3)],
            {
                "attention_mask": pairs[:, None].repeat(heads, 1),
                "use_causal_mask": True,
                "return_attention_scores": True,
                "training": False,
            },
        ),
    }[call]


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_the_old_weights_give_the_old_outputs(construction):
    shapes = [(B, S, D)] * 3
    theirs, ours = pair(shapes, **CONSTRUCTIONS[construction])
    for call in CALLS:
        inputs, arguments = call_arguments(call)
        inputs = [ops.convert_to_tensor(x) for x in inputs]
        want = old_outputs(theirs, inputs, arguments)
        assert_same(want, ours(*inputs, **arguments))


def test_cross_attention_of_other_lengths_and_widths():
    theirs, ours = pair([(B, T, D), (B, S, 11), (B, S, 13)])
    inputs = draw(B, T, D), draw(B, S, 11), draw(B, S, 13)
    pairs = np.random.default_rng(2).random((B, T, S)) < 0.7
    for arguments in (
        {},
        {"attention_mask": pairs | ~pairs.any(-1)[..., None]},
    ):
        arguments = {**arguments, "return_attention_scores": True}
        assert_same(theirs(*inputs, **arguments), ours(*inputs, **arguments))


@pytest.mark.parametrize("construction", OF_RANK_4)
@pytest.mark.parametrize("scores", [False, True])
def test_attention_over_chosen_axes(construction, scores):
    options = OF_RANK_4[construction]
    steps = [2] if options.get("attention_axes") in [(2,), (-2,)] else [1, 2]
    query, value = draw(B, 2, T, D), draw(B, 2, T, D, seed=1)
    if steps == [2]:
        value = draw(B, 2, S, D, seed=1)
    theirs, ours = pair([query.shape, value.shape], **options)
    want, got = (
        layer(query, value, return_attention_scores=scores)
        for layer in (theirs, ours)
    )
    assert_same(want, got)
    assert [x.shape for x in keras.tree.flatten(got)] == [
        x.shape for x in keras.tree.flatten(want)
    ]


@pytest.mark.parametrize(
    "axes, mask",
    [
        ((2,), (B, 2, T, S)),
        ((2,), (B, T, S)),
        ((2,), (T, S)),
        ((1, 2), (B, 2, T, 2, S)),
        ((1,), (B, T, 2, 2)),
    ],
)
def test_masks_over_chosen_axes(axes, mask):
    query, value = draw(B, 2, T, D), draw(B, 2, S, D, seed=1)
    value = value[:, :, :T] if axes == (1,) else value
    theirs, ours = pair([query.shape, value.shape], attention_axes=axes)
    mask = np.random.default_rng(2).random(mask) < 0.8
    mask[..., 0] = True
    arguments = {"attention_mask": mask, "return_attention_scores": True}
    assert_same(
        theirs(query, value, **arguments), ours(query, value, **arguments)
    )


def test_weights_have_the_old_paths_and_order():
    for options in ({}, {"use_gate": True}, {"use_bias": False}):
        theirs, ours = pair([(B, T, D), (B, S, D)], **options)
        assert [w.path for w in ours.weights] == [
            w.path for w in theirs.weights
        ]
        assert [w.shape for w in ours.weights] == [
            w.shape for w in theirs.weights
        ]


def test_the_old_config_makes_the_new_layer():
    theirs = keras.layers.MultiHeadAttention(
        3, 5, value_dim=2, dropout=0.1, output_shape=11, use_gate=True, seed=3
    )
    config = theirs.get_config()
    new = MultiHeadAttention.from_config(config).get_config()
    assert {name: new[name] for name in config} == config


def test_an_activity_regularizer_adds_the_old_loss():
    x, y = draw(B, S, D), draw(B, S, D, seed=1)
    for options in ({}, {"use_gate": True}, {"sliding_window": 2}):
        theirs, ours = pair(
            [x.shape, y.shape], activity_regularizer="l2", **options
        )
        theirs(x, y)
        ours(x, y)
        assert len(ours.losses) == len(theirs.losses) >= 4
        np.testing.assert_allclose(
            float(sum(ours.losses)), float(sum(theirs.losses)), rtol=1e-5
        )


def token_model(attention, **options):
    """A small model as people write them, by the layer that it is given."""
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(11, D, mask_zero=True)(ids)
    attended = attention(num_heads=3, key_dim=5, **options)(
        x, x, use_causal_mask=True
    )
    x = keras.layers.LayerNormalization()(keras.layers.Add()([x, attended]))
    x = keras.layers.GlobalAveragePooling1D()(x)
    model = keras.Model(ids, keras.layers.Dense(2)(x))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.1), loss)
    return model


IDS = np.array([[4, 9, 1, 0, 0], [3, 1, 2, 8, 5]], "int32")


def test_a_model_runs_and_trains_unchanged():
    theirs = token_model(keras.layers.MultiHeadAttention)
    ours = token_model(MultiHeadAttention)
    ours.set_weights(theirs.get_weights())
    assert_same(theirs(IDS), ours(IDS))
    assert_same(theirs.predict(IDS, verbose=0), ours.predict(IDS, verbose=0))
    labels = np.array([0, 1])
    for model in (theirs, ours):
        model.fit(IDS, labels, epochs=1, shuffle=False, verbose=0)
    for a, b in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


@pytest.mark.parametrize(
    "options", [{}, {"use_gate": True}, {"dropout": 0.1, "use_bias": False}]
)
def test_weight_files_carry_over_both_ways(options, tmp_path):
    theirs = token_model(keras.layers.MultiHeadAttention, **options)
    ours = token_model(MultiHeadAttention, **options)
    theirs.save_weights(tmp_path / "old.weights.h5")
    ours.load_weights(tmp_path / "old.weights.h5")
    assert_same(theirs(IDS), ours(IDS))
    fresh = token_model(keras.layers.MultiHeadAttention, **options)
    ours.save_weights(tmp_path / "new.weights.h5")
    fresh.load_weights(tmp_path / "new.weights.h5")
    assert_same(fresh(IDS), ours(IDS))
