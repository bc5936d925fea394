"""Beam search beside brute force, a beam of lists, and greedy decoding."""

import numpy as np
import pytest

from keras_seq.decoding import beam_search
from tests.decoding.toy import END, START, Recurrent, V, numbers, rows_of
from tests.decoding.toy import start_ids as starts
from tests.oracles import decoding as oracle

B = 3


def search(toy, sources, max_length, **options):
    return beam_search(
        toy.step,
        toy.start(sources),
        starts(len(sources)),
        END,
        max_length,
        **options,
    )


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_finds_what_brute_force_finds(alpha, seed):
    limit, toy = 4, Recurrent(seed)
    sources = toy.sources(B, seed)
    got = search(
        toy, sources, limit, beam_size=31, n_best=31, length_penalty=alpha
    )
    for b, source in enumerate(sources):
        every = oracle.all_sequences(
            toy.model(source), V, END, limit, banned=[START]
        )
        want = oracle.best_sequences(every, END, alpha)
        assert len(want) == 31  # 2 inner tokens: 1 + 2 + 4 + 8 end, 16 are cut
        assert rows_of(got)[b] == [tokens for tokens, _ in want]
        np.testing.assert_allclose(
            numbers(got.scores)[b], [s for _, s in want], rtol=1e-4
        )


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_a_narrow_beam_is_that_of_plain_lists(size, alpha):
    limit, toy = 7, Recurrent(5, sharpness=1.0)
    sources = toy.sources(11)
    got = search(toy, sources, limit, beam_size=size, length_penalty=alpha)
    for b, source in enumerate(sources):
        want = oracle.beam(
            toy.model(source), END, limit, size, alpha, banned=[START]
        )
        tokens, score = want[0]
        assert rows_of(got)[b] == [tokens]
        np.testing.assert_allclose(numbers(got.scores)[b, 0], score, rtol=1e-4)
