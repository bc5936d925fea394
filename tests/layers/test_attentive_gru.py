"""The decoder of Bahdanau et al. against its equations, and its masks."""

import numpy as np
import pytest
from keras import ops

from keras_seq.layers import AttentiveGRU
from tests.gradients import gradients
from tests.oracles import seq2seq as oracle

B, T, S, D, M, U, A = 2, 5, 7, 3, 13, 11, 17
MEMORY_MASK = np.arange(S) < [[S], [4]]
MASK = np.array([[1, 1, 0, 1, 1], [1, 1, 1, 0, 0]], bool)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def make():
    layer = AttentiveGRU(units=U, attention_units=A)
    layer.build((B, T, D), (B, S, M))
    rng = np.random.default_rng(1)
    layer.set_weights([rng.normal(size=w.shape) * 0.4 for w in layer.weights])
    return layer


def inputs():
    return draw(B, T, D), draw(B, S, M, seed=2), draw(B, U, seed=3)


def named(layer):
    cell = layer.cell
    weights = layer.c, layer.w_a, layer.u_a, layer.v_a
    weights += cell.kernel, cell.recurrent_kernel, cell.bias
    return [ops.convert_to_numpy(w) for w in weights]


@pytest.mark.parametrize("masked", [False, True])
def test_it_matches_the_paper(masked):
    layer = make()
    y, memory, s = inputs()
    masks = {}
    if masked:
        masks = {"sequences_mask": MASK, "memory_mask": MEMORY_MASK}
        y[~MASK] = memory[~MEMORY_MASK] = np.nan  # must not be heard
    got = layer(y, memory, s, return_attention_scores=True, **masks)
    for b in range(B):
        seen = MEMORY_MASK[b] if masked else np.ones(S, bool)
        want = oracle.attentive_gru(
            y[b],
            np.float64(memory[b, seen]),
            np.float64(s[b]),
            named(layer),
            mask=MASK[b] if masked else None,
        )
        for n, (a, w) in enumerate(zip(got, want, strict=True)):
            a = ops.convert_to_numpy(a)[b]
            a = a[:, seen] if n == 2 else a
            np.testing.assert_allclose(a, w, rtol=1e-4, atol=1e-5)
    if masked:
        assert not ops.convert_to_numpy(got[2])[1, :, 4:].any()


def test_without_an_initial_state_it_starts_from_zeros():
    layer, (y, memory, _) = make(), inputs()
    states, _ = layer(y, memory)
    want, _ = layer(y, memory, np.zeros((B, U), "float32"))
    np.testing.assert_array_equal(
        ops.convert_to_numpy(states), ops.convert_to_numpy(want)
    )


def test_steps_equal_the_whole():
    layer, (y, memory, s) = make(), inputs()
    whole = layer(
        y, memory, s, memory_mask=MEMORY_MASK, return_attention_scores=True
    )
    state = layer.start(memory, MEMORY_MASK, s)
    for t in range(T):
        output, context, state, weights = layer.step(y[:, t], state)
        for got, want in zip((output, context, weights), whole, strict=True):
            np.testing.assert_allclose(
                ops.convert_to_numpy(got),
                ops.convert_to_numpy(want)[:, t],
                atol=1e-5,
            )


def test_a_row_that_sees_nothing_is_finite_and_so_are_its_gradients():
    layer, (y, memory, s) = make(), inputs()
    nothing = np.zeros((B, S), bool)

    def run(y, memory, s):
        states, contexts = layer(y, memory, s, memory_mask=nothing)
        return ops.sum(states**2) + ops.sum(contexts**2)

    assert np.isfinite(ops.convert_to_numpy(run(y, memory, s)))
    d_y, d_memory, d_s = gradients(run, y, memory, s)
    assert np.isfinite(d_y).all() and np.isfinite(d_s).all()
    assert d_y.any() and d_s.any() and not d_memory.any()


def test_gradients_match_finite_differences():
    layer, (y, memory, s) = make(), inputs()
    upstream = [draw(B, T, U, seed=4), draw(B, T, M, seed=5)]

    def run(y, memory, s):
        states, contexts = layer(
            y, memory, s, sequences_mask=MASK, memory_mask=MEMORY_MASK
        )
        heard = [ops.convert_to_tensor(x) for x in upstream]
        return ops.sum(states * heard[0]) + ops.sum(contexts * heard[1])

    def exactly(y, memory, s):
        total = 0.0
        for b in range(B):
            seen = MEMORY_MASK[b]
            states, contexts, _ = oracle.attentive_gru(
                y[b], memory[b, seen], s[b], named(layer), mask=MASK[b]
            )
            total += (states * upstream[0][b]).sum()
            total += (contexts * upstream[1][b]).sum()
        return total

    found = gradients(run, y, memory, s)
    rng = np.random.default_rng(6)
    for place, gradient in enumerate(found):
        way = rng.normal(size=gradient.shape)
        arrays = [np.float64(x) for x in (y, memory, s)]
        ahead, back = list(arrays), list(arrays)
        ahead[place] = arrays[place] + 1e-5 * way
        back[place] = arrays[place] - 1e-5 * way
        want = (exactly(*ahead) - exactly(*back)) / 2e-5
        np.testing.assert_allclose((gradient * way).sum(), want, rtol=1e-3)


def test_bad_inputs_are_named():
    with pytest.raises(ValueError, match="`attention_units`.*Received"):
        AttentiveGRU(units=3, attention_units=0)
    with pytest.raises(ValueError, match="`memory`.*Received: shape"):
        make_unbuilt = AttentiveGRU(units=3, attention_units=2)
        make_unbuilt(draw(B, T, D), draw(B, M))
    with pytest.raises(ValueError, match="`memory_mask`.*Received"):
        make()(*inputs(), memory_mask=np.ones((B, S + 1), bool))
