"""Batches: every row once, little padding, and an order that can be resumed."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_seq.data import Batches, encode_texts
from keras_seq.text import WordTokenizer

N = 331  # rows


def rows(seed=0, n=N, longest=29):
    """Sequences whose first token is the number of their row."""
    rng = np.random.default_rng(seed)
    return [
        np.concatenate([[i + 1], rng.integers(1, 9, rng.integers(0, longest))])
        for i in range(n)
    ]


def numbers(batches, epoch=0, start_step=0):
    """Which rows came in which batch, read from the batches themselves."""
    return [
        (ids[:, 0] - 1).tolist() for ids, _ in batches.arrays(epoch, start_step)
    ]


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 60),
    batch_size=st.one_of(st.none(), st.integers(1, 20)),
    tokens=st.integers(1, 90),
    shuffle=st.booleans(),
    multiple=st.sampled_from([1, 4, 8]),
    epoch=st.integers(0, 3),
)
def test_every_row_comes_once_whole_and_with_its_label(
    n, batch_size, tokens, shuffle, multiple, epoch
):
    sequences = rows(n=n)
    batches = Batches(
        (sequences, np.arange(n)),
        batch_size=batch_size,
        tokens_per_batch=None if batch_size else tokens,
        shuffle=shuffle,
        length_multiple=multiple,
    )
    seen = []
    for ids, labels in batches.arrays(epoch):
        assert ids.shape[1] % multiple == 0 and ids.dtype == "int32"
        longest = max(len(sequences[i]) for i in labels)
        assert ids.shape[1] == -(-longest // multiple) * multiple
        if batch_size:
            assert len(ids) <= batch_size
        else:
            assert ids.size <= tokens or len(ids) == 1
        for row, i in zip(ids, labels, strict=True):
            np.testing.assert_array_equal(
                row[: len(sequences[i])], sequences[i]
            )
            assert not row[len(sequences[i]) :].any()
        seen += labels.tolist()
    assert sorted(seen) == list(range(n))
    assert batches.steps(epoch) == len(batches.plan(epoch))


def test_epochs_differ_and_repeat_with_the_seed():
    def make(seed):
        return Batches((rows(), np.zeros(N)), batch_size=7, seed=seed)

    first, again, other = make(1), make(1), make(2)
    assert numbers(first, 0) == numbers(again, 0)
    assert numbers(first, 0) != numbers(first, 1)
    assert numbers(first, 0) != numbers(other, 0)
    assert numbers(again, 1) == numbers(first, 1)  # not by what came before
    together = {frozenset(batch) for batch in numbers(first, 0)}
    assert len(together & {frozenset(b) for b in numbers(first, 1)}) < 5


def test_short_and_long_batches_come_mixed():
    widths = [ids.shape[1] for ids, _ in make_pair().arrays(0)]
    assert widths != sorted(widths)
    assert abs(np.corrcoef(np.arange(len(widths)), widths)[0, 1]) < 0.5


def make_pair(**kwargs):
    kwargs = kwargs or {"batch_size": 7}
    return Batches((rows(), np.zeros(N)), **kwargs)


@pytest.mark.parametrize("how", [{"batch_size": 7}, {"tokens_per_batch": 90}])
def test_resuming_mid_epoch_gives_the_batches_that_were_left(how):
    batches = make_pair(**how)
    whole = numbers(batches, epoch=3)
    assert numbers(batches, epoch=3, start_step=5) == whole[5:]
    resumed = [
        (ids[:, 0].numpy() - 1).tolist()
        for ids, _ in batches.stream(3, start_step=5).take(len(whole) - 3)
    ]
    assert resumed == whole[5:] + numbers(batches, epoch=4)[:2]


def test_an_epoch_can_have_the_rows_in_another_form():
    columns = ([[1], [2], [3], [4], [5]], [1, 2, 3, 4, 5])

    def resample(epoch):
        return [[n] * (n + epoch) for n in columns[1]], columns[1]

    batches = Batches(columns, batch_size=2, seed=3, resample=resample)
    for epoch in (0, 2):
        found = [
            (row[row > 0].tolist(), int(label))
            for ids, labels in batches.arrays(epoch)
            for row, label in zip(ids, labels, strict=True)
        ]
        planned = [n + 1 for rows in batches.plan(epoch) for n in rows]
        assert found == [([n] * (n + epoch), n) for n in planned]
    resumed = [ids.tolist() for ids, _ in batches.arrays(2, start_step=1)]
    assert resumed == [ids.tolist() for ids, _ in batches.arrays(2)][1:]


def test_tf_data_equals_the_arrays():
    batches = make_pair()
    for (ids, labels), (want_ids, want_labels) in zip(
        batches.epoch(2), batches.arrays(2), strict=True
    ):
        np.testing.assert_array_equal(ids, want_ids)
        np.testing.assert_array_equal(labels, want_labels)
    dataset = batches.epoch(0)
    assert dataset.element_spec == (
        tf.TensorSpec((None, None), tf.int32),
        tf.TensorSpec((None,), tf.float32),
    )
    assert dataset.options().autotune.enabled is False


def test_unshuffled_rows_come_from_short_to_long_the_same_each_time():
    batches = make_pair(batch_size=7, shuffle=False)
    lengths = [len(row) for row in rows()]
    order = list(itertools.chain(*numbers(batches)))
    assert [lengths[i] for i in order] == sorted(lengths)
    assert numbers(batches, 5) == numbers(batches)
    assert order == np.concatenate(batches.plan()).tolist()


def test_there_is_little_padding():
    sequences = rows(n=4000)
    plain = np.mean([len(row) for row in sequences])
    naive = 1 - plain / 29
    assert naive > 0.4
    for how in ({"batch_size": 16}, {"tokens_per_batch": 512}):
        batches = Batches((sequences, np.zeros(4000)), **how)
        cells = sum(ids.size for ids, _ in batches.arrays())
        share = 1 - sum(map(len, sequences)) / cells
        assert batches.padding_share() == pytest.approx(share)
        assert share < 0.03


def test_pairs_of_sequences_are_padded_each_to_its_own_length():
    source, target = rows(0), rows(1, longest=41)
    batches = Batches(
        ({"source": source, "target": target}, target), tokens_per_batch=300
    )
    for inputs, labels in batches.arrays():
        assert set(inputs) == {"source", "target"}
        assert max(x.size for x in inputs.values()) <= 300
        for x, column in ((inputs["source"], source), (labels, target)):
            chosen = x[:, 0] - 1
            assert x.shape[1] == max(len(column[i]) for i in chosen)
        np.testing.assert_array_equal(
            inputs["source"][:, 0], inputs["target"][:, 0]
        )
    assert batches.padding_share() < 0.35


def test_arrays_of_any_shape_ride_along():
    images = np.random.default_rng(0).normal(size=(N, 3, 5)).astype("float32")
    batches = Batches(
        {"image": images, "ids": rows(), "label": list(range(N))}, batch_size=7
    )
    for batch in batches.arrays():
        np.testing.assert_array_equal(batch["image"], images[batch["label"]])
    spec = batches.epoch().element_spec
    assert spec["image"].shape.as_list() == [None, 3, 5]
    assert spec["label"].dtype == tf.int32


def test_ragged_and_object_columns_are_sequences_too():
    held = np.empty(3, dtype=object)
    held[:] = [[1, 2], [], [3]]
    for column in (held, tf.ragged.constant([[1, 2], [], [3]])):
        batches = Batches(column, batch_size=3, shuffle=False)
        (ids,) = batches.arrays()
        assert ids.tolist() == [[0, 0], [3, 0], [1, 2]]


def test_empty_rows_are_padded_to_one():
    (ids,) = Batches([[], []], batch_size=2).arrays()
    assert ids.tolist() == [[0], [0]] and ids.dtype == "int32"


def test_remainders_can_be_dropped():
    batches = make_pair(batch_size=7, drop_remainder=True)
    sizes = [len(ids) for ids, _ in batches.arrays()]
    assert sizes == [7] * (N // 7) and batches.steps() == N // 7


def test_encoded_texts_are_a_column():
    tokenizer = WordTokenizer(["a", "b", "c"])
    texts = ["a b c", "", "b zzz"] * 5
    column = encode_texts(tokenizer, texts, add_end=True, chunk_size=4)
    assert [row.tolist() for row in column[:3]] == [
        [4, 5, 6, 3],
        [3],
        [5, 1, 3],
    ]
    assert len(column) == 15
    cut = encode_texts(tokenizer, texts, max_length=2, add_start=True)
    assert [row.tolist() for row in cut[:2]] == [[2, 4], [2]]
    assert encode_texts(tokenizer, []) == []


@pytest.mark.parametrize(
    "columns, options, message",
    [
        (([[1]], [0]), {}, "one of `batch_size` and"),
        (([[1]], [0]), {"batch_size": 1, "tokens_per_batch": 1}, "one of"),
        (([[1]], [0]), {"batch_size": 0}, "`batch_size`.*Received: 0"),
        (([[1]], [0]), {"tokens_per_batch": -1}, "`tokens_per_batch`.*-1"),
        (([[1]], [0, 1]), {"batch_size": 1}, r"`columns`.*\[1, 2\]"),
        (([], []), {"batch_size": 1}, r"`columns`.*not empty.*\[0, 0\]"),
        (["a", "b"], {"batch_size": 1}, "numbers.*Received: dtype=<U1"),
        ([["a"], ["b"]], {"batch_size": 1}, "numbers.*Received: dtype"),
        ([[[1, 2]], [[3]]], {"batch_size": 1}, "1-D.*2 axes"),
        (
            ([[1]], [0]),
            {"tokens_per_batch": 9, "drop_remainder": True},
            "`drop_remainder` needs",
        ),
    ],
)
def test_bad_arguments_are_refused(columns, options, message):
    with pytest.raises(ValueError, match=message):
        Batches(columns, **options)
