"""AttentionPooling and SequencePooling against loops, and empty rows."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_seq.layers import AttentionPooling, SequencePooling, TokenEmbedding
from keras_seq.layers.attention_recording import recording
from tests.gradients import gradients, weight_gradients
from tests.oracles import pooling as oracle

B, T, D, K, U = 3, 5, 7, 13, 11
MODES = ("mean", "max", "sum")


def draw(seed=0):
    rng = np.random.default_rng(seed)
    # All negative in places, so that a zero cannot pass for a maximum.
    inputs = rng.normal(loc=-1.0, size=(B, T, D)).astype("float32")
    mask = rng.random((B, T)) < 0.6
    mask[-1] = False
    return inputs, mask


def numpy(*tensors):
    return [ops.convert_to_numpy(x) for x in tensors]


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    has_key=st.booleans(),
    scale=st.sampled_from([1.0, 0.3]),
)
def test_attention_pooling_matches_the_paper(seed, has_key, scale):
    inputs, mask = draw(seed)
    rng = np.random.default_rng(seed)
    key = rng.normal(size=(B, T, K)).astype("float32") if has_key else None
    layer = AttentionPooling(U, score_scale=scale)
    layer.build(inputs.shape, key.shape if has_key else None)
    layer.set_weights([rng.normal(size=w.shape) for w in layer.weights])
    w, b, v = layer.get_weights()
    width = K if has_key else D
    assert (w.shape, b.shape, v.shape) == ((width, U), (U,), (U, 1))
    got = numpy(*layer(inputs, key, mask=mask, return_attention_scores=True))
    judged = key if has_key else inputs
    want = oracle.attention_pooling(inputs, judged, mask, w, b, v, scale)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**31), mode=st.sampled_from(MODES))
def test_sequence_pooling_matches_one_row_at_a_time(seed, mode):
    inputs, mask = draw(seed)
    (got,) = numpy(SequencePooling(mode)(inputs, mask=mask))
    want = oracle.sequence_pooling(inputs, mask, mode)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    (got,) = numpy(SequencePooling(mode)(inputs))
    want = oracle.sequence_pooling(inputs, np.ones((B, T), bool), mode)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def every_pooling():
    yield AttentionPooling(U)
    yield from (SequencePooling(mode) for mode in MODES)


@pytest.mark.parametrize("layer", list(every_pooling()), ids=lambda x: x.name)
def test_what_stands_in_padding_is_never_heard(layer):
    inputs, mask = draw()
    loud = np.where(mask[..., None], inputs, np.nan).astype("float32")
    np.testing.assert_array_equal(
        *numpy(layer(inputs, mask=mask), layer(loud, mask=mask))
    )


@pytest.mark.parametrize("layer", list(every_pooling()), ids=lambda x: x.name)
def test_a_blind_row_is_zero_and_its_gradient_finite(layer):
    inputs, mask = draw()
    (pooled,) = numpy(layer(inputs, mask=mask))
    assert not pooled[-1].any() and pooled[:-1].any()
    (gradient,) = gradients(lambda x: layer(x, mask=mask) ** 2, inputs)
    assert np.isfinite(gradient).all()
    assert not gradient[-1].any()


@pytest.mark.parametrize("layer", list(every_pooling()), ids=lambda x: x.name)
def test_the_mask_arrives_by_itself_and_ends_here(layer):
    embedding = TokenEmbedding(10, D)
    short = np.array([[4, 9], [3, 1]])
    padded = np.array([[4, 9, 0, 0, 0], [3, 1, 0, 0, 0]])
    outputs = [layer(embedding(ids)) for ids in (short, padded)]
    np.testing.assert_allclose(*numpy(*outputs), rtol=1e-5, atol=1e-6)
    symbolic = keras.Input((None,), dtype="int32")
    pooled = layer(embedding(symbolic))
    assert getattr(pooled, "_keras_mask", None) is None


def test_the_mask_arrives_by_itself_beside_a_key():
    embedding, layer = TokenEmbedding(10, D), AttentionPooling(U)
    key = np.random.default_rng(1).normal(size=(2, 5, K)).astype("float32")
    ids = np.array([[4, 9, 0, 0, 0], [3, 1, 0, 0, 0]])
    loud = key.copy()
    loud[:, 2:] = np.nan
    outputs = [layer(embedding(ids), k) for k in (key, loud)]
    np.testing.assert_array_equal(*numpy(*outputs))
    assert np.isfinite(numpy(outputs[0])[0]).all()


@pytest.mark.parametrize("has_key", [False, True])
def test_what_stands_in_padding_reaches_no_gradient(has_key):
    inputs, mask = draw()
    loud = np.where(mask[..., None], inputs, np.nan).astype("float32")
    layer = AttentionPooling(U)
    layer.build(inputs.shape, inputs.shape)
    key = loud if has_key else None
    found = weight_gradients(
        layer, lambda x: layer(x, key, mask=mask) ** 2, loud
    )
    for gradient in found:
        assert np.isfinite(gradient).all()
    assert found[0].any()


def test_recorded_weights_are_those_that_were_used():
    inputs, mask = draw()
    layer = AttentionPooling(U, name="attention_pooling")
    with recording() as found:
        _, weights = layer(inputs, mask=mask, return_attention_scores=True)
    assert list(found) == ["attention_pooling"]
    np.testing.assert_array_equal(
        *numpy(found["attention_pooling"][:, 0, 0], weights)
    )


def test_dropout_acts_in_training_alone():
    inputs, mask = draw()
    layer = AttentionPooling(U, dropout=0.5, seed=1)
    quiet, also = numpy(layer(inputs, mask=mask), layer(inputs, mask=mask))
    (noisy,) = numpy(layer(inputs, mask=mask, training=True))
    np.testing.assert_array_equal(quiet, also)
    assert (noisy != quiet).any()


def test_a_seeded_initializer_serves_both_kernels():
    layer = AttentionPooling(D, keras.initializers.RandomNormal(seed=3))
    layer.build((B, T, 1))
    w, _, v = layer.get_weights()
    assert w.shape == (1, D) and v.shape == (D, 1)


def test_long_float16_rows_do_not_overflow():
    layer = SequencePooling("mean", dtype="float16")
    (pooled,) = numpy(layer(np.full((1, 3000, 1), 100.0, "float16")))
    np.testing.assert_allclose(pooled, [[100.0]])


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="`units`.*Received: units=0"):
        AttentionPooling(0)
    with pytest.raises(ValueError, match="`score_scale`.*Received: 0"):
        AttentionPooling(3, score_scale=0)
    with pytest.raises(ValueError, match="`mode`.*Received: mode='median'"):
        SequencePooling("median")
    with pytest.raises(ValueError, match="`inputs`.*Received"):
        SequencePooling()(np.ones((2, 3)))
    with pytest.raises(ValueError, match="`mask`.*Received"):
        AttentionPooling(3)(np.ones((2, 3, 5)), mask=np.ones((2, 4), bool))
