"""Decoding in a graph of TensorFlow: traced once, compiled, saved."""

import keras
import numpy as np
import pytest

from keras_seq.decoding import beam_search, greedy, sample
from tests.decoding.toy import D, Recurrent, numbers
from tests.decoding.transformer_toy import D as WIDTH
from tests.decoding.transformer_toy import Stack

if keras.backend.backend() != "tensorflow":
    pytest.skip("TensorFlow only", allow_module_level=True)

import tensorflow as tf

pytestmark = pytest.mark.tensorflow
LIMIT = 7
WAYS = {
    "greedy": (greedy, {}),
    "beam": (beam_search, {"beam_size": 3, "n_best": 2}),
    "sample": (sample, {"seed": 0, "top_p": 0.9}),
}
every_way = pytest.mark.parametrize("way", WAYS)


def same(got, want):
    got, want = numbers(got), numbers(want)
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_allclose(got[1], want[1], rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(got[2], want[2])


@every_way
def test_one_trace_serves_all_lengths_and_batch_sizes(way):
    stack, (decode, options) = Stack(), WAYS[way]
    traces = []

    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None, WIDTH)),
            tf.TensorSpec((None,), "int32"),
        ]
    )
    def run(memory, limits):
        traces.append(1)
        return stack.run(decode, memory, limits, **options)

    for batch_size, limit in [(1, 4), (2, 19), (0, 0), (3, 0), (5, 5)]:
        memory = stack.memory(batch_size)
        got = run(memory, np.full((batch_size,), limit, "int32"))
        assert got.token_ids.shape[0] == batch_size
        assert got.token_ids.shape[-1] == limit
    assert len(traces) == 1
    same(got, stack.run(decode, memory, limit, **options))


@every_way
def test_compiled_is_not_compiled(way):
    stack, (decode, options) = Stack(), WAYS[way]

    @tf.function(jit_compile=True)
    def run(memory, limits):
        return stack.run(
            lambda *args, **options: decode(
                *args[:-1], limits, room=LIMIT, **options
            ),
            memory,
            LIMIT,
            "fixed",
            **options,
        )

    memory, limits = stack.memory(3), np.int32([7, 3, 5])
    got = run(memory, limits)
    if way == "sample":  # XLA draws other numbers from the same seed
        assert numbers(got)[2].max() <= LIMIT
        same(run(memory, limits), got)
    else:
        same(got, stack.run(decode, memory, limits, **options))


@every_way
def test_a_function_that_decodes_can_be_saved(way, tmp_path):
    stack, (decode, options) = Stack(), WAYS[way]
    module = tf.Module()
    module.stack = stack.layer.weights + [stack.embedding]

    @tf.function(input_signature=[tf.TensorSpec((None, None, WIDTH))])
    def run(memory):
        return stack.run(decode, memory, LIMIT, **options)._asdict()

    module.run = run
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for batch_size in (1, 4):
        memory = stack.memory(batch_size)
        got = loaded.run(tf.constant(memory))
        want = stack.run(decode, memory, LIMIT, **options)
        same([got[k] for k in want._fields], want)


def loop_of(decode, **options):
    """Return the inputs and the body's operations of the only loop."""
    toy = Recurrent()

    @tf.function(input_signature=[tf.TensorSpec((None, D))])
    def run(sources):
        return toy.run(decode, sources, LIMIT, **options)

    graph = run.get_concrete_function().graph
    (loop,) = [n for n in graph.get_operations() if "While" in n.type]
    body = graph._get_function(loop.get_attr("body").name).graph
    kinds = [n.type for n in body.get_operations()]
    return loop, kinds


def test_what_never_changes_is_not_reordered():
    """The toy's step gathers once; beams: final, tokens, histories, and h."""
    _, kinds = loop_of(beam_search, length_penalty=0.0)
    step_gathers = 1
    assert kinds.count("GatherV2") == step_gathers + 4


@pytest.mark.parametrize(
    "decode, limit", [(greedy, 17), (beam_search, 40)], ids=["greedy", "beam"]
)
def test_a_turn_of_the_loop_is_few_operations(decode, limit):
    """At batch 1 their number is the cost, more than their size."""
    _, kinds = loop_of(decode)
    toy = Recurrent()
    free = {"Placeholder", "Const", "Identity", "NoOp"}

    @tf.function
    def step(token_ids, state):
        return toy.step(token_ids, state)[:2]

    state = toy.start(toy.sources(2))
    graph = step.get_concrete_function(tf.constant([1, 1]), state).graph
    own = [n.type for n in graph.get_operations()]
    number = sum(k not in free for k in kinds)
    assert number - sum(k not in free for k in own) <= limit
