"""Sampling beside the distributions it should follow."""

import keras
import numpy as np
import pytest

from keras_seq.decoding import sample
from tests.decoding.toy import END, START, Recurrent, chain, numbers, sequences
from tests.oracles import decoding as oracle

V, DRAWS = 7, 20_000
P = np.array([0.0, 0.0, 0.1, 0.4, 0.05, 0.15, 0.3])


def drawn(p=P, **options):
    """Return how often each token was drawn as the first of a sequence."""
    step = chain(np.tile(p, (V, 1)))
    got = sample(step, {}, [START] * DRAWS, END, 1, seed=3, **options)
    return numbers(got)[0][:, 0]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.5},
        {"temperature": 2.0},
        {"top_k": 3},
        {"top_p": 0.69},  # 0.4 + 0.3 reaches it
        {"top_p": 0.71},
        {"top_p": 1.0},
        {"top_k": 4, "top_p": 0.6, "temperature": 1.5},
        {"top_k": 99},
    ],
)
def test_tokens_come_as_often_as_they_should(options):
    with np.errstate(divide="ignore"):
        want = oracle.kept_probabilities(np.log(P), **options)
    counts = np.bincount(drawn(**options), minlength=V)
    possible = want > 0
    assert not counts[~possible].any()
    expected = DRAWS * want[possible]
    chi_square = ((counts[possible] - expected) ** 2 / expected).sum()
    # 4 degrees of freedom at most: 23.5 is exceeded once in 10,000.
    assert chi_square < 23.5


def test_the_likeliest_alone_is_left_of_a_tiny_share():
    assert set(drawn(top_p=1e-6)) == {3}
    assert set(drawn(top_k=1)) == {3}


def test_the_probability_of_what_is_banned_goes_to_the_others():
    p = np.array([0.5, 0.3, 0.1, 0.1, 0.0, 0.0, 0.0])
    share = (drawn(p) == 3).mean()
    assert abs(share - 0.5) < 0.02


def test_steps_are_drawn_apart():
    step = chain(np.tile([0, 0, 0, 0.5, 0.5, 0, 0], (V, 1)))
    got = sample(step, {}, [START] * 1000, END, 4, seed=0)
    kinds = set(sequences(got))
    assert len(kinds) == 16


def test_the_same_seed_gives_the_same_sequences():
    toy = Recurrent(0, sharpness=0.3)
    sources = toy.sources(31)
    one, two, other = (
        sequences(toy.run(sample, sources, 5, seed=seed)) for seed in (1, 1, 2)
    )
    assert one == two != other


def test_without_a_seed_each_call_is_another():
    toy = Recurrent(0, sharpness=0.3)
    sources = toy.sources(31)
    one, two = (sequences(toy.run(sample, sources, 5)) for _ in range(2))
    assert one != two
    seed = keras.random.SeedGenerator(5)
    one, two = (
        sequences(toy.run(sample, sources, 5, seed=seed)) for _ in range(2)
    )
    assert one != two


@pytest.mark.parametrize("options", [{}, {"top_k": 2, "temperature": 0.7}])
def test_scores_are_the_models_own(options):
    toy = Recurrent(1, sharpness=0.5)
    sources = toy.sources(7)
    got = toy.run(sample, sources, 5, seed=0, **options)
    for b, tokens in enumerate(sequences(got)):
        model = toy.model(sources[b])
        want = sum(model(tokens[:n])[v] for n, v in enumerate(tokens))
        np.testing.assert_allclose(numbers(got)[1][b], want, rtol=1e-4)
        assert tokens[-1] == END or len(tokens) == 5


def test_nothing_is_written_without_room_or_rows():
    toy = Recurrent(0)
    got = numbers(toy.run(sample, toy.sources(3), 0))
    assert [x.shape for x in got] == [(3, 0), (3,), (3,)]
    got = numbers(toy.run(sample, toy.sources(0), 5, top_p=0.5))
    assert [x.shape for x in got] == [(0, 5), (0,), (0,)]


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_a_row_without_numbers_stops(bad):
    def step(token_ids, state):
        return keras.ops.full((2, V), bad), state, {}

    got = sample(step, {}, [START] * 2, END, 5, top_p=0.5, seed=0)
    assert sequences(got) == [(), ()]


@pytest.mark.parametrize(
    "name, options",
    [
        ("temperature", {"temperature": 0}),
        ("temperature", {"temperature": -1.0}),
        ("top_k", {"top_k": 0}),
        ("top_p", {"top_p": 0.0}),
        ("top_p", {"top_p": 1.1}),
    ],
)
def test_what_cannot_be_is_refused_by_name(name, options):
    with pytest.raises(ValueError, match=f"`{name}`.*Received: "):
        drawn(**options)


def test_a_temperature_of_zero_is_sent_to_greedy():
    with pytest.raises(ValueError, match="greedy"):
        drawn(temperature=0.0)
