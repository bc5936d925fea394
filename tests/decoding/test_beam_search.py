"""Beam search beside brute force, a beam of lists, and greedy decoding."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq.decoding import beam_search, greedy
from tests.decoding.toy import (
    END,
    START,
    Recurrent,
    V,
    chain,
    numbers,
    sequences,
)
from tests.oracles import decoding as oracle

B = 3


def every_sequence(toy, source, limit):
    model = toy.model(source)
    return oracle.all_sequences(model, V, END, limit, banned=[START])


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_a_wide_beam_finds_what_brute_force_finds(alpha):
    limit, toy = 4, Recurrent(7)
    sources = toy.sources(11)
    options = {"beam_size": 31, "length_penalty": alpha}
    got = toy.run(beam_search, sources, limit, n_best=31, **options)
    best = toy.run(beam_search, sources, limit, **options)
    for b, source in enumerate(sources):
        every = every_sequence(toy, source, limit)
        want = oracle.best_sequences(every, END, alpha)
        assert len(want) == 31  # 2 inner tokens: 1 + 2 + 4 + 8 end, 16 are cut
        assert sequences(got)[b] == [tokens for tokens, _ in want]
        scores = [score for _, score in want]
        np.testing.assert_allclose(numbers(got)[1][b], scores, rtol=1e-4)
        assert sequences(best)[b] == [want[0][0]]


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_a_narrow_beam_is_that_of_plain_lists(size, alpha):
    """Which never end early, and copy whole hypotheses about."""
    limit, toy = 7, Recurrent(5, sharpness=1.0)
    sources, n_best = toy.sources(13), min(size, 2)
    got = toy.run(
        beam_search,
        sources,
        limit,
        beam_size=size,
        n_best=n_best,
        length_penalty=alpha,
    )
    for b, source in enumerate(sources):
        model = toy.model(source)
        want = oracle.beam(model, END, limit, size, alpha, banned=[START])
        want = want[:n_best]
        assert sequences(got)[b] == [tokens for tokens, _ in want]
        scores = [score for _, score in want]
        np.testing.assert_allclose(numbers(got)[1][b], scores, rtol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_beam_of_one_is_greedy(seed):
    toy = Recurrent(seed, sharpness=0.7)
    sources = toy.sources(17)
    token_ids, scores, lengths = numbers(toy.run(greedy, sources, 7))
    got = toy.run(beam_search, sources, 7, beam_size=1, length_penalty=0.6)
    np.testing.assert_array_equal(numbers(got)[0][:, 0], token_ids)
    np.testing.assert_array_equal(numbers(got)[2][:, 0], lengths)
    scores = scores / oracle.length_divisor(lengths, 0.6)
    np.testing.assert_allclose(numbers(got)[1][:, 0], scores, rtol=1e-5)
    assert len(set(lengths.tolist())) > 1


def test_a_batch_is_its_rows_one_by_one():
    toy, limits = Recurrent(3, sharpness=1.0), np.int32([7, 5, 2, 0, 3])
    sources = toy.sources(len(limits))
    options = {"beam_size": 3, "n_best": 2}
    got = numbers(toy.run(beam_search, sources, limits, room=7, **options))
    for b in range(len(limits)):
        row = slice(b, b + 1)
        alone = toy.run(beam_search, sources[row], limits[row], **options)
        token_ids, scores, lengths = numbers(alone)
        np.testing.assert_array_equal(got[0][row, :, : limits[b]], token_ids)
        assert not got[0][row, :, limits[b] :].any()
        np.testing.assert_allclose(got[1][row], scores, rtol=1e-5)
        np.testing.assert_array_equal(got[2][row], lengths)


def test_coverage_is_weighed_as_brute_force_weighs_it():
    limit, beta, toy = 4, 0.7, Recurrent(7)
    sources = toy.sources(B)
    options = {"beam_size": 31, "coverage_penalty": beta}
    got = toy.run(beam_search, sources, limit, n_best=31, **options)
    plain = toy.run(beam_search, sources, limit, beam_size=31, n_best=31)
    assert sequences(got) != sequences(plain)
    for b, source in enumerate(sources):

        def penalty(tokens, source=source):
            attention = toy.attention_of(source, tokens)
            return oracle.coverage_penalty(attention, beta)

        every = every_sequence(toy, source, limit)
        want = oracle.best_sequences(every, END, 0.6, penalty)
        assert sequences(got)[b] == [tokens for tokens, _ in want]
        scores = [score for _, score in want]
        np.testing.assert_allclose(numbers(got)[1][b], scores, rtol=1e-4)


def test_padding_of_the_source_is_nothing_to_cover():
    toy = Recurrent(7)
    sources = toy.sources(B)

    def padded_step(token_ids, state):
        logits, state, attention = toy.step(token_ids, state)
        pad = [(0, 0), (0, 0), (0, 0), (0, 3)]
        return logits, state, {"look": ops.pad(attention["look"], pad)}

    rest = (toy.start(sources), [START] * B, END, 5)
    want = beam_search(toy.step, *rest, coverage_penalty=0.5)
    got = beam_search(padded_step, *rest, coverage_penalty=0.5)
    np.testing.assert_allclose(numbers(got)[1], numbers(want)[1], rtol=1e-6)


def test_a_finished_hypothesis_is_not_scored_again():
    """Nor later, when others have grown longer."""
    p = np.zeros((V, V))
    p[START, [END, 3]] = 0.3, 0.7
    p[3, [END, 3]] = 0.6, 0.4
    for limit in (2, 6):
        got = beam_search(
            chain(p), {}, [START], END, limit, beam_size=2, n_best=2
        )
        scores = dict(zip(sequences(got)[0], numbers(got)[1][0], strict=True))
        want = np.log(0.7 * 0.6) / oracle.length_divisor(2, 0.6)
        np.testing.assert_allclose(scores[3, END], want, rtol=1e-5)
        np.testing.assert_allclose(scores[END,], np.log(0.3), rtol=1e-5)


def test_what_ended_comes_before_what_was_cut():
    """A loop that gains by each turn it takes must not win by being long."""
    p = np.zeros((V, V))
    p[START, [END, 3]] = 0.1, 0.9
    p[3, [END, 3]] = 0.001, 0.999
    got = beam_search(chain(p), {}, [START], END, 5, beam_size=2, n_best=2)
    assert sequences(got)[0] == [(END,), (3, 3, 3, 3, 3)]


@pytest.mark.parametrize("n_best", [1, 2])
def test_the_search_ends_when_nothing_can_win_any_more(n_best):
    if keras.backend.backend() == "jax":
        pytest.skip("the loop is compiled: its turns cannot be counted")
    p = np.full((V, V), 1e-6)
    p[START, [END, 3, 4]] = 0.9, 0.09, 0.01
    p[3, END] = p[4, END] = 1
    step, calls = chain(p), []

    def counted(token_ids, state):
        calls.append(1)
        return step(token_ids, state)

    got = beam_search(counted, {}, [START], END, 50, n_best=n_best)
    assert sequences(got)[0] == [(END,), (3, END)][:n_best]
    assert len(calls) == 1 + n_best  # the first is the look at the step


def test_a_long_sequence_may_still_overtake():
    """So the search must not end when the first hypothesis does."""
    p = np.zeros((V, V))
    p[START, [END, 3]] = 0.52, 0.48
    p[3, 4] = p[4, END] = 1
    got = beam_search(
        chain(p), {}, [START], END, 9, beam_size=2, length_penalty=1.0
    )
    assert sequences(got)[0] == [(3, 4, END)]


def test_padding_and_start_are_never_written():
    p = np.zeros((V, V))
    p[:] = 0.4, 0.4, 0.01, 0.1, 0.09
    got = beam_search(chain(p), {}, [START], END, 3, beam_size=50, n_best=50)
    written = {token for row in sequences(got)[0] for token in row}
    assert written == {END, 3, 4}


def test_other_ids_can_be_banned():
    p = np.full((V, V), 1 / V)
    options = {"beam_size": 50, "n_best": 50, "banned_ids": (3,)}
    got = beam_search(chain(p), {}, [START], END, 3, **options)
    written = {token for row in sequences(got)[0] for token in row}
    assert written == {START, END, 4}


def test_a_start_that_is_also_the_end_may_end():
    p = np.full((V, V), 1 / V)
    p[:, END] = 0.9
    got = beam_search(chain(p), {}, [END], END, 3)
    assert sequences(got)[0] == [(END,)]


def test_no_sequence_is_found_twice_and_the_best_come_first():
    toy = Recurrent(2, sharpness=0.5)
    got = toy.run(beam_search, toy.sources(B), 6, beam_size=7, n_best=7)
    for row, scores in zip(sequences(got), numbers(got)[1], strict=True):
        assert len(set(row)) == len(row)
        ended = [END in tokens for tokens in row]
        assert ended == sorted(ended, reverse=True)
        for group in (True, False):
            same = scores[np.equal(ended, group)]
            assert (np.diff(same) <= 0).all()


def test_where_there_are_too_few_sequences_the_rest_is_empty():
    toy = Recurrent(0)
    got = toy.run(beam_search, toy.sources(B), 1, beam_size=50, n_best=7)
    token_ids, scores, lengths = numbers(got)
    assert lengths.tolist() == [[1, 1, 1, 0, 0, 0, 0]] * B
    assert np.isneginf(scores[:, 3:]).all() and np.isfinite(scores[:, :3]).all()
    assert not token_ids[:, 3:].any()


def test_nothing_may_be_written_where_the_limit_is_zero():
    toy = Recurrent(0)
    got = toy.run(beam_search, toy.sources(B), 0, n_best=2)
    token_ids, scores, lengths = numbers(got)
    assert token_ids.shape == (B, 2, 0)
    assert scores[:, 0].tolist() == [0.0] * B
    assert not lengths.any()


def test_a_batch_may_be_empty():
    toy = Recurrent(0)
    got = toy.run(beam_search, toy.sources(0), 5, n_best=2)
    assert [x.shape for x in numbers(got)] == [(0, 2, 5), (0, 2), (0, 2)]


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_a_row_without_numbers_is_empty_and_harms_no_other(bad):
    toy, sources = Recurrent(3), Recurrent(3).sources(B)

    def broken(token_ids, state):
        logits, state, attention = toy.step(token_ids, state)
        return ops.where(state["bad"], bad, logits), state, attention

    state = toy.start(sources) | {
        "bad": ops.convert_to_tensor([[True], [False], [False]])
    }
    got = beam_search(broken, state, [START] * B, END, 5)
    want = toy.run(beam_search, sources, 5)
    assert sequences(got)[0] == [()]
    assert np.isneginf(numbers(got)[1][0]).all()
    assert sequences(got)[1:] == sequences(want)[1:]


@pytest.mark.parametrize(
    "name, options",
    [
        ("beam_size", {"beam_size": 0}),
        ("n_best", {"beam_size": 2, "n_best": 3}),
        ("n_best", {"n_best": 0}),
        ("length_penalty", {"length_penalty": -0.1}),
        ("coverage_penalty", {"coverage_penalty": -0.1}),
        ("max_length", {"max_length": -1}),
        ("max_length", {"max_length": np.zeros((2, 2))}),
        ("end_id", {"end_id": V}),
        ("end_id", {"end_id": 0}),
        ("banned_ids", {"banned_ids": [END]}),
    ],
)
def test_what_cannot_be_is_refused_by_name(name, options):
    step = chain(np.full((V, V), 1 / V))
    options = {"end_id": END, "max_length": 3, **options}
    with pytest.raises(ValueError, match=f"`{name}`.*Received: "):
        beam_search(step, {}, [START], **options)


def test_coverage_without_attention_is_refused():
    step = chain(np.full((V, V), 1 / V))
    with pytest.raises(ValueError, match="coverage_penalty.*Received"):
        beam_search(step, {}, [START], END, 3, coverage_penalty=0.1)
