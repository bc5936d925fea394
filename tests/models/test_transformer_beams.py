"""Hypotheses that share their keys, beside hypotheses with copies of them."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.decoding import beam_search
from keras_seq.models import transformer
from keras_seq.models.transformer import POSITIONS

V, START, END, LIMIT = 37, 2, 3, 9
SOURCE = np.array([[7, 3, 11, 9, 0], [5, 0, 0, 0, 0], [8, 9, 30, 31, 32]])


@pytest.fixture(scope="module", params=POSITIONS)
def model(request):
    # Tied, a random model writes one token over and over.
    model = transformer(
        V, "test", tie_embeddings=False, positions=request.param
    )
    rng = np.random.default_rng(5)  # the same weights by every backend
    for weight in model.weights:
        if len(weight.shape) > 1:  # far from even, or all beams are alike
            scale = 1.2 / weight.shape[0] ** 0.5
            weight.assign(rng.normal(0.0, scale, weight.shape))
    return model


def search(model, step, room, primed, **options):
    state = model.start(ops.convert_to_tensor(SOURCE), max_length=room)
    for token in primed:
        ids = ops.full((len(SOURCE),), token, "int32")
        _, state, _ = model.step(ids, state)
    found = beam_search(
        step,
        state,
        ops.full((len(SOURCE),), START, "int32"),
        END,
        LIMIT,
        beam_size=4,
        n_best=3,
        **options,
    )
    return [ops.convert_to_numpy(x) for x in found]


@pytest.mark.parametrize("coverage_penalty", [0.0, 0.4])
@pytest.mark.parametrize("primed", [(), (START, 17, 21)])
@pytest.mark.parametrize("room", [None, LIMIT + 3])
def test_shared_keys_give_what_copies_give(
    model, room, primed, coverage_penalty
):
    if room is None and keras.backend.backend() == "jax":
        pytest.skip("JAX compiles each length of a cache that grows")
    shared = model.stepper()
    copied = lambda ids, state: shared(ids, state)  # noqa: E731
    got, want = (
        search(model, step, room, primed, coverage_penalty=coverage_penalty)
        for step in (shared, copied)
    )
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_allclose(got[1], want[1], rtol=1e-5)
    assert any(len(set(row)) > 1 for row in got[0][:, :, 1])  # they differ


def test_hypotheses_share_what_was_made_of_the_source(model):
    steps = model.stepper().for_beams(4)
    start = model.start(ops.convert_to_tensor(SOURCE), max_length=LIMIT)
    state = steps.spread(start)
    for name, x in start.items():
        if "cross" in name or name == "source_bias":
            assert state[name] is x
    _, after, _ = steps(ops.full((4 * len(SOURCE),), START, "int32"), state)
    parents = ops.convert_to_tensor([0, 0, 1, 2, 4, 4, 4, 5, 9, 8, 8, 11])
    moved = steps.reorder(state, after, parents)
    assert {k for k in moved if moved[k] is not after[k]} == {"lineage"}


@pytest.mark.parametrize("beam_size", [1, 2])
def test_a_step_without_room_is_refused(model, beam_size):
    step = model.stepper().for_beams(beam_size)
    state = model.start(ops.convert_to_tensor(SOURCE), max_length=2)
    state = step.spread(state)
    ids = ops.full((beam_size * len(SOURCE),), START, "int32")
    for _ in range(2):
        _, state, _ = step(ids, state)
    with pytest.raises(ValueError, match="`max_length`.*max_length=2, step 3"):
        step(ids, state)


@pytest.mark.tensorflow
@pytest.mark.parametrize("positions", POSITIONS)
def test_a_graph_gives_the_same_for_one_row_and_for_many(positions):
    import tensorflow as tf

    # Tied: one row has a product of its own.
    model = transformer(V, "test", positions=positions)

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)])
    def run(source):
        starts = tf.fill(tf.shape(source)[:1], START)
        state = model.start(source)
        step = model.stepper()
        return beam_search(step, state, starts, END, LIMIT, beam_size=1)

    together = run(SOURCE)
    for row in range(len(SOURCE)):
        alone = run(SOURCE[row : row + 1])
        np.testing.assert_array_equal(
            alone.token_ids[0], together.token_ids[row]
        )
        np.testing.assert_allclose(
            alone.scores[0], together.scores[row], rtol=1e-5
        )
