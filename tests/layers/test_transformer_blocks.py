"""Encoder and decoder blocks: the paper, KerasHub, and step against whole."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.layers import (
    MultiHeadAttention,
    TokenEmbedding,
    TransformerDecoder,
    TransformerEncoder,
)
from tests.gradients import gradients
from tests.oracles import transformer as oracle

# Distinct primes, but the width, which the heads must divide.
B, T, S, H, D, E, F = 2, 5, 7, 3, 42, 11, 13
EPSILON = 1e-3
SETTINGS = dict(
    intermediate_dim=F, num_heads=H, layer_norm_epsilon=EPSILON, dropout=0.1
)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def scatter_weights(layer, seed=1):
    """Give every weight, biases and gains too, a number of its own."""
    rng = np.random.default_rng(seed)
    layer.set_weights([rng.normal(size=w.shape) * 0.2 for w in layer.weights])
    return layer.get_weights()


def to_numpy(x):
    return ops.convert_to_numpy(x)


pre_and_post = pytest.mark.parametrize("pre_norm", [False, True])
turned_or_not = pytest.mark.parametrize("rotary", [False, 100.0])


@pre_and_post
@turned_or_not
def test_encoder_matches_the_paper(pre_norm, rotary):
    x = normal(B, T, D)
    padding = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], bool)
    pairs = np.random.default_rng(2).random((B, T, T)) < 0.7
    layer = TransformerEncoder(
        **SETTINGS, normalize_first=pre_norm, rotary=rotary
    )
    layer.build(x.shape)
    weights = scatter_weights(layer)
    got, scores = layer(
        x,
        padding_mask=padding,
        attention_mask=pairs,
        return_attention_scores=True,
    )
    visible = pairs & padding[:, None]
    want, want_scores = oracle.encoder(
        x, weights, visible, pre_norm, EPSILON, rotary or None
    )
    np.testing.assert_allclose(to_numpy(got), want, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(to_numpy(scores), want_scores, atol=1e-5)
    without = layer(x, padding_mask=padding, attention_mask=pairs)
    np.testing.assert_allclose(to_numpy(without), to_numpy(got), atol=1e-5)


@pre_and_post
@turned_or_not
def test_decoder_matches_the_paper(pre_norm, rotary):
    x, memory = normal(B, T, D), normal(B, S, E, seed=3)
    padding = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]], bool)
    memory_padding = np.ones((B, S), bool)
    memory_padding[0, 4:] = False
    pairs = np.random.default_rng(2).random((B, T, S)) < 0.8
    layer = TransformerDecoder(
        **SETTINGS, normalize_first=pre_norm, rotary=rotary
    )
    layer.build(x.shape, memory.shape)
    weights = scatter_weights(layer)
    got, scores = layer(
        x,
        memory,
        decoder_padding_mask=padding,
        encoder_padding_mask=memory_padding,
        encoder_attention_mask=pairs,
        return_attention_scores=True,
    )
    visible = padding[:, None] & np.tril(np.ones((T, T), bool))
    memory_visible = pairs & memory_padding[:, None]
    want, want_scores = oracle.decoder(
        x,
        memory,
        weights,
        visible,
        memory_visible,
        pre_norm,
        EPSILON,
        rotary or None,
    )
    np.testing.assert_allclose(to_numpy(got), want, rtol=1e-4, atol=1e-4)
    assert scores.keys() == want_scores.keys()
    for name, a in want_scores.items():
        np.testing.assert_allclose(to_numpy(scores[name]), a, atol=1e-5)


@pre_and_post
@pytest.mark.parametrize("max_length", [None, T + 2])
@pytest.mark.parametrize("with_memory", [True, False])
@turned_or_not
def test_step_by_step_equals_all_at_once(
    pre_norm, max_length, with_memory, rotary
):
    x, memory = ops.convert_to_tensor(normal(B, T, D)), None
    memory_mask = None
    layer = TransformerDecoder(
        **SETTINGS, normalize_first=pre_norm, rotary=rotary
    )
    if with_memory:
        memory = ops.convert_to_tensor(normal(B, S, E, seed=3))
        memory_mask = np.ones((B, S), bool)
        memory_mask[1, 3:] = False
        memory_mask = ops.convert_to_tensor(memory_mask)
    layer.build(x.shape, memory.shape if with_memory else None)
    scatter_weights(layer)
    whole, scores = layer(
        x,
        memory,
        encoder_padding_mask=memory_mask,
        return_attention_scores=True,
    )
    state = layer.start(
        memory, memory_mask, batch_size=B, max_length=max_length
    )
    start = 0
    for stop in (1, 2, 4, T):  # one step at a time, and two
        output, state, attention = layer.step(x[:, start:stop], state)
        assert all(value.shape[0] == B for value in state.values())
        np.testing.assert_allclose(
            to_numpy(output), to_numpy(whole[:, start:stop]), atol=1e-5
        )
        for name, weights in attention.items():
            want = to_numpy(scores[name])[:, :, start:stop]
            got = to_numpy(weights)[..., : want.shape[-1]]
            np.testing.assert_allclose(
                got, want[..., : got.shape[-1]], atol=1e-5
            )
        start = stop


def test_a_padded_step_is_never_looked_at():
    x = ops.convert_to_tensor(normal(B, T, D))
    layer = TransformerDecoder(**SETTINGS)
    layer.build(x.shape)
    scatter_weights(layer)
    real = ops.convert_to_tensor([[False], [True]])
    state = layer.start(batch_size=B)
    _, state, _ = layer.step(x[:, :1], state, decoder_padding_mask=real)
    output, _, attention = layer.step(x[:, 1:2], state)
    weights = to_numpy(attention["self_attention"])
    assert not weights[0, :, 0, 0].any() and weights[1, :, 0, 0].all()
    alone = layer(x[:1, 1:2])
    np.testing.assert_allclose(to_numpy(output)[:1], to_numpy(alone), atol=1e-5)


@pre_and_post
def test_takes_over_from_keras_hub(pre_norm):
    keras_hub = pytest.importorskip("keras_hub")
    x, memory = normal(B, T, D), normal(B, S, D, seed=3)
    padding = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], bool)
    memory_padding = np.ones((B, S), bool)
    memory_padding[0, 4:] = False

    def model(blocks):
        source = keras.Input((None, D))
        target = keras.Input((None, D))
        source_mask = keras.Input((None,), dtype="bool")
        target_mask = keras.Input((None,), dtype="bool")
        settings = dict(SETTINGS, normalize_first=pre_norm, activation="gelu")
        encoded = blocks.TransformerEncoder(**settings)(
            source, padding_mask=source_mask
        )
        decoded = blocks.TransformerDecoder(**settings)(
            target,
            encoded,
            decoder_padding_mask=target_mask,
            encoder_padding_mask=source_mask,
        )
        return keras.Model(
            [source, source_mask, target, target_mask],
            blocks.TransformerDecoder(**settings)(decoded),
        )

    from keras_seq import layers

    theirs, ours = model(keras_hub.layers), model(layers)
    scatter_weights(theirs)
    ours.set_weights(theirs.get_weights())
    inputs = [memory, memory_padding, x, padding]
    np.testing.assert_allclose(
        to_numpy(ours(inputs)), to_numpy(theirs(inputs)), rtol=1e-5, atol=1e-5
    )


def test_masks_travel_through_the_blocks_by_themselves():
    embedding = TokenEmbedding(17, D)
    ids = np.array([[3, 4, 5, 0, 0], [1, 2, 3, 4, 5]])
    encoder, decoder = (
        TransformerEncoder(**SETTINGS),
        TransformerDecoder(**SETTINGS),
    )
    encoded = encoder(embedding(ids))
    decoded, scores = decoder(
        embedding(ids[:, :3]), encoded, return_attention_scores=True
    )
    np.testing.assert_array_equal(to_numpy(encoded._keras_mask), ids != 0)
    np.testing.assert_array_equal(
        to_numpy(decoded._keras_mask), ids[:, :3] != 0
    )
    assert not to_numpy(scores["cross_attention"])[0, :, :, 3:].any()
    alone = encoder(embedding(ids[:1, :3]))
    np.testing.assert_allclose(
        to_numpy(encoded)[:1, :3], to_numpy(alone), atol=1e-5
    )


def test_nan_in_padding_reaches_no_visible_step():
    x = normal(B, T, D)
    padding = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], bool)
    layer = TransformerEncoder(**SETTINGS)
    clean = to_numpy(layer(x, padding_mask=padding))
    x[~padding] = np.nan
    got = to_numpy(layer(x, padding_mask=padding))
    np.testing.assert_allclose(got[padding], clean[padding], atol=1e-6)


def test_the_future_cannot_be_heard():
    x = normal(B, T, D)
    layer = TransformerDecoder(**SETTINGS)
    before = to_numpy(layer(x))
    x[:, 3] += 1e3
    after = to_numpy(layer(x))
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert (before[:, 3:] != after[:, 3:]).any()


def test_a_sentence_of_padding_is_finite_and_so_is_its_gradient():
    x = normal(B, T, D)
    nothing = ops.convert_to_tensor(np.zeros((B, T), bool))
    layer = TransformerEncoder(**SETTINGS)
    layer(x)
    (grad,) = gradients(lambda x: layer(x, padding_mask=nothing) ** 2, x)
    assert np.isfinite(grad).all()
    assert np.isfinite(to_numpy(layer(x, padding_mask=nothing))).all()


def test_dropout_works_in_training_only():
    x = normal(B, T, D)
    layer = TransformerEncoder(**{**SETTINGS, "dropout": 0.5})
    quiet = to_numpy(layer(x))
    assert (to_numpy(layer(x, training=True)) != quiet).any()
    np.testing.assert_array_equal(to_numpy(layer(x, training=False)), quiet)


@pytest.mark.parametrize("Block", [TransformerEncoder, TransformerDecoder])
def test_bad_settings_name_the_argument(Block):
    with pytest.raises(ValueError, match="num_heads.*Received: num_heads=0"):
        Block(intermediate_dim=F, num_heads=0)
    with pytest.raises(ValueError, match="intermediate_dim.*Received"):
        Block(intermediate_dim=-1, num_heads=H)
    with pytest.raises(ValueError, match="num_heads.*divide.*Received"):
        Block(intermediate_dim=F, num_heads=4)(normal(B, T, D))
    with pytest.raises(ValueError, match="even.*num_heads=6, width=42"):
        Block(intermediate_dim=F, num_heads=6, rotary=True)(normal(B, T, D))
    with pytest.raises(ValueError, match="Received: shape"):
        Block(intermediate_dim=F, num_heads=H)(normal(B, D))


def test_encoder_sequence_cannot_come_and_go():
    x, memory = normal(B, T, D), normal(B, S, D)
    alone, both = (TransformerDecoder(**SETTINGS) for _ in range(2))
    alone(x), both(x, memory)
    with pytest.raises(ValueError, match="encoder_sequence.*without"):
        alone(x, memory)
    with pytest.raises(ValueError, match="encoder_sequence.*with cross"):
        both(x)
    with pytest.raises(ValueError, match="batch_size"):
        alone.start()


def test_blocks_are_made_of_our_attention():
    layer = TransformerDecoder(**SETTINGS)
    layer.build((B, T, D), (B, S, E))
    assert isinstance(layer.cross_attention, MultiHeadAttention)
