"""TokenEmbedding: scaled once on the way in, tied on the way out."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.layers import TokenEmbedding
from tests.gradients import gradients
from tests.mask_probe import MaskProbe, mask_after

B, T, V, D = 2, 3, 11, 7
IDS = np.array([[4, 9, 0], [3, 3, 10]])


def make(**kwargs):
    layer = TokenEmbedding(V, D, **kwargs)
    layer.build((B, T))
    return layer


def vectors(width=D):
    rng = np.random.default_rng(0)
    return rng.normal(size=(B, T, width)).astype("float32")


def numpy(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def test_vectors_are_rows_of_the_table_times_the_root_of_the_width():
    layer = make()
    (table,) = layer.get_weights()
    np.testing.assert_allclose(
        numpy(layer(IDS)), table[IDS] * np.sqrt(7), rtol=1e-6
    )
    plain = make(scale=False)
    plain.set_weights([table])
    np.testing.assert_array_equal(numpy(plain(IDS)), table[IDS])


def test_the_scale_of_width_512_is_22_627_and_is_applied_once():
    layer = TokenEmbedding(5, 512, embeddings_initializer="ones")
    np.testing.assert_allclose(numpy(layer(IDS % 5)), 22.627417, rtol=1e-6)


def test_logits_are_products_with_the_same_table_and_not_scaled():
    layer = make()
    (table,) = layer.get_weights()
    got = numpy(layer(vectors(), reverse=True))
    want = vectors().astype("float64") @ table.T
    assert got.shape == (B, T, V)
    np.testing.assert_allclose(got, want, atol=1e-5)


def test_untied_logits_have_a_table_of_their_own():
    layer = make(tie_weights=False)
    table, reverse = layer.get_weights()
    assert reverse.shape == (D, V)
    assert np.abs(reverse.ravel() - table.ravel()).min() > 0
    got = numpy(layer(vectors(), reverse=True))
    np.testing.assert_allclose(got, vectors() @ reverse, atol=1e-5)


def test_vectors_and_logits_start_near_unit_variance():
    layer = TokenEmbedding(997, 64)
    x = numpy(layer(np.arange(997)[None]))
    logits = numpy(layer(np.random.normal(size=(1, 97, 64)), reverse=True))
    assert 0.9 < x.std() < 1.1 and 0.9 < logits.std() < 1.1


def test_takes_over_the_weights_of_keras():
    theirs = keras.layers.ReversibleEmbedding(V, D, tie_weights=False)
    theirs.build()
    ours = make(tie_weights=False, scale=False)
    ours.set_weights(theirs.get_weights())
    np.testing.assert_array_equal(numpy(ours(IDS)), numpy(theirs(IDS)))
    np.testing.assert_allclose(
        numpy(ours(vectors(), reverse=True)),
        numpy(theirs(vectors(), reverse=True)),
        atol=1e-6,
    )


def test_gradients_reach_the_table_from_both_uses():
    layer = make()
    (table,) = layer.get_weights()
    x = vectors()

    def way_in(table):
        return layer.stateless_call([table], [], IDS)[0]

    def way_out(table, x=x):
        return layer.stateless_call([table], [], x, reverse=True)[0]

    def both(table):
        return way_out(table, way_in(table))

    (of_in,) = gradients(way_in, table)
    count = np.bincount(IDS.ravel(), minlength=V)
    np.testing.assert_allclose(of_in, count[:, None] * np.full(D, 7**0.5), 1e-5)
    (of_out,) = gradients(way_out, table)
    np.testing.assert_allclose(
        of_out, np.tile(x.sum((0, 1)), (V, 1)), atol=1e-4
    )
    # d sum_tv (x_t . E_v): through E_v, and through x_t = 7^.5 E_id.
    (joint,) = gradients(both, table)
    embedded = table[IDS] * 7**0.5
    want = embedded.sum((0, 1)) + count[:, None] * 7**0.5 * table.sum(0)
    np.testing.assert_allclose(joint, want, atol=1e-4)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_logits_are_float32_and_not_rounded_under_any_policy(policy):
    full, half = make(), make(dtype=policy)
    half.set_weights(full.get_weights())
    x = ops.cast(vectors(), half.compute_dtype)
    logits = half(x, reverse=True)
    assert keras.backend.standardize_dtype(logits.dtype) == "float32"
    want = full(ops.cast(x, "float32"), reverse=True)
    np.testing.assert_allclose(numpy(logits), numpy(want), rtol=1e-5, atol=1e-6)
    symbolic = half(keras.Input((T, D)), reverse=True)
    assert keras.backend.standardize_dtype(symbolic.dtype) == "float32"


def test_vectors_are_rounded_once_after_the_scale():
    full, half = make(), make(dtype="mixed_bfloat16")
    half.set_weights(full.get_weights())
    got = half(IDS)
    assert keras.backend.standardize_dtype(got.dtype) == "bfloat16"
    want = ops.cast(full(IDS), "bfloat16")
    np.testing.assert_array_equal(numpy(got), numpy(want))


def test_reverse_dtype_rounds_the_logits():
    exact, rough = make(), make(reverse_dtype="float16")
    rough.set_weights(exact.get_weights())
    got = rough(vectors(), reverse=True)
    assert keras.backend.standardize_dtype(got.dtype) == "float32"
    error = np.abs(numpy(got) - numpy(exact(vectors(), reverse=True))).max()
    assert 1e-6 < error < 1e-2


def test_makes_a_mask_and_passes_it_to_the_logits():
    want = (IDS != 0).astype(int).tolist()
    layer = make()
    assert mask_after(layer, token_ids=IDS) == want
    inputs = keras.Input((None,), dtype="int32")
    logits = layer(layer(inputs), reverse=True)
    model = keras.Model(inputs, MaskProbe()(logits))
    assert ops.convert_to_numpy(model(IDS)).tolist() == want
    unmasked = make(mask_zero=False)
    assert mask_after(unmasked, token_ids=IDS) == [[-1] * T] * B


@pytest.mark.parametrize("bad", [-1, V, 10**6])
def test_ids_outside_the_vocabulary_raise(bad):
    with pytest.raises(ValueError, match=f"`inputs`.*0 and 10.*{bad}"):
        make()(np.array([[0, bad]]))


def test_vectors_without_reverse_and_ids_with_it_raise():
    for inputs in (vectors(), keras.Input((T,)), keras.Input((T, D))):
        with pytest.raises(ValueError, match="`reverse=True`.*Received"):
            make()(inputs)
    ids = np.ones((B, D), "int32")
    with pytest.raises(ValueError, match="`inputs`.*dtype=.*int32"):
        make()(ids, reverse=True)


def test_wrong_width_raises():
    for inputs in (vectors(D + 1), keras.Input((T, D + 1))):
        with pytest.raises(ValueError, match="`hidden_dim`.*Received.*8"):
            make()(inputs, reverse=True)


@pytest.mark.parametrize("name", ["vocabulary_size", "hidden_dim"])
def test_sizes_must_be_positive(name):
    sizes = {"vocabulary_size": V, "hidden_dim": D, name: 0}
    with pytest.raises(ValueError, match=f"`{name}`.*Received: 0"):
        TokenEmbedding(**sizes)
