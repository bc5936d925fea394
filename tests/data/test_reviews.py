"""The review writer: right labels, marked words, nothing for a bag of words."""

import collections
import itertools
import re

import numpy as np
import pytest

from keras_seq.data import (
    load_biased_reviews,
    load_reviews,
    review_lexicon,
    write_reviews,
)
from keras_seq.data.review_facts import SPURIOUS_CITIES

OPINIONS = {
    likes: {
        word
        for kind in review_lexicon.ADJECTIVES.values()
        for word in " ".join(kind[likes]).split()
    }
    | set(review_lexicon.NOUNS[likes].split())
    | set(re.findall(r"\w+", review_lexicon.VERBS[likes]))
    | {1: {"recommend", "gladly"}, 0: {"avoid", "regret"}}[likes]
    for likes in (0, 1)
}
FLIPS = re.compile(
    r"not|never|no|less|if only|hardly|far from|anything but|\w+n't", re.I
)


@pytest.fixture(scope="module")
def some():
    return list(itertools.islice(write_reviews(seed=11), 1500))


@pytest.fixture(scope="module")
def dataset():
    return load_reviews(num_train=2000, num_validation=200, num_test=600)


@pytest.fixture(scope="module")
def biased():
    return load_biased_reviews(
        num_train=600, num_validation=100, num_test=200, strength=0.9
    )


def deciding(review):
    return [review.text[a:b] for a, b in review.rationale.spans]


def test_the_lexicon_has_hundreds_of_words_and_none_on_both_sides():
    assert len(OPINIONS[0]) + len(OPINIONS[1]) > 200
    assert not OPINIONS[0] & OPINIONS[1]
    assert len(review_lexicon.DOMAINS) >= 5


def verdict_of(words):
    """What the deciding words of one sentence say, read without context."""
    words = [word.lower() for word in words]
    opinions = [w for w in words if w in OPINIONS[0] | OPINIONS[1]]
    flips = [w for w in words if w not in opinions]
    assert all(map(FLIPS.fullmatch, flips)), flips
    if words == ["never"]:  # "I would never stay there again"
        return 0
    (opinion,) = opinions
    likes = int(opinion in OPINIONS[1])
    if "if only" in flips:  # what was missing: more good, or less bad
        assert ("less" in flips) != likes
        return 0
    return likes ^ (len(flips) % 2)


def test_the_deciding_words_alone_give_the_label(some):
    for review in some:
        sentences = [
            [
                review.text[a:b]
                for a, b in review.rationale.spans
                if sentence.start() <= a < sentence.end()
            ]
            for sentence in re.finditer(r"[^.]+\.", review.text)
        ]
        said = {verdict_of(words) for words in sentences if words}
        assert said == {review.label}, review


def test_spans_and_words_name_the_same_words(some):
    for review in some:
        words = review.text.split()
        named = " ".join(words[i].strip(".,") for i in review.rationale.words)
        assert named == " ".join(deciding(review))
        assert review.rationale.spurious == ()


def test_texts_are_clean_sentences(some):
    for review in some:
        assert re.fullmatch(r"([A-Z][\w' ,-]+\. ?)+", review.text), review.text
        assert "  " not in review.text and review.text.endswith(".")
        assert not re.search(r"\ba [aeio]|\ban [^aeiou]", review.text)


def test_labels_are_balanced_in_every_domain_and_construction(some):
    for field in ("domain", "construction"):
        groups = collections.defaultdict(list)
        for review in some:
            groups[getattr(review, field)].append(review.label)
        for labels in groups.values():
            spread = 4 * 0.5 / np.sqrt(len(labels))  # four sigmas
            assert abs(np.mean(labels) - 0.5) < spread


def test_the_same_seed_writes_the_same_and_never_ends(some):
    again = list(itertools.islice(write_reviews(seed=11), 1500))
    assert again == some
    other = list(itertools.islice(write_reviews(seed=12), 1500))
    assert sum(a == b for a, b in zip(other, some, strict=True)) < 15


def test_splits_have_their_size_half_for_half_against(dataset):
    assert dataset.sizes == {
        "train": 2000,
        "validation": 200,
        "test": 600,
        "hard": 600,
    }
    for split in dataset.sizes:
        assert dataset.columns(split)["label"].mean() == 0.5
        assert len(dataset.gold[split]) == dataset.sizes[split]


def test_no_text_is_in_two_splits(dataset):
    texts = [set(dataset.columns(split)["text"]) for split in dataset.sizes]
    assert len(set.union(*texts)) == sum(dataset.sizes.values())


def test_more_training_reviews_leave_the_test_as_it_is(dataset):
    fewer = load_reviews(num_train=10, num_validation=10, num_test=600)
    for split in ("test", "hard"):
        assert (
            fewer.columns(split)["text"].tolist()
            == dataset.columns(split)["text"].tolist()
        )


def combinations(dataset, split):
    """What a review is decided by: construction and domain, word pairs."""
    columns, found = dataset.columns(split), []
    for text, *pair, gold in zip(
        columns["text"],
        columns["construction"],
        columns["domain"],
        dataset.gold[split],
        strict=True,
    ):
        pairs = {tuple(pair)}
        for sentence in re.split(r"(?<=[.,]) ", text):
            match = re.search(
                r"[Tt]he (\S+) (?:was|were|is|are) (.*)", sentence
            )
            if match:
                for a, b in gold.spans:
                    word = text[a:b]
                    if re.search(rf"\b{re.escape(word)}\b", match[2]):
                        pairs.add((match[1], word))
        found.append(pairs)
    return found


def test_hard_reviews_are_decided_by_combinations_not_trained_on(dataset):
    trained = set().union(*combinations(dataset, "train"))
    unseen = {
        split: np.mean([not p <= trained for p in combinations(dataset, split)])
        for split in ("test", "hard")
    }
    assert unseen["hard"] > unseen["test"] + 0.3
    seen_words, hard_words = (
        set(re.findall(r"[\w'-]+", " ".join(dataset.columns(split)["text"])))
        for split in ("train", "hard")
    )
    assert len(hard_words - seen_words) < 0.05 * len(hard_words)


def bag_of_words_accuracy(dataset, splits):
    """The best linear classifier of word counts, by ridge regression."""
    texts = dataset.columns("train")["text"]
    vocabulary = {
        word: i
        for i, word in enumerate(
            sorted({w for t in texts for w in re.findall(r"[\w'-]+", t)})
        )
    }

    def counts(split):
        found = np.zeros((dataset.sizes[split], len(vocabulary) + 1))
        found[:, -1] = 1
        for row, text in zip(
            found, dataset.columns(split)["text"], strict=True
        ):
            for word in re.findall(r"[\w'-]+", text):
                if word in vocabulary:
                    row[vocabulary[word]] += 1
        return found

    x, y = counts("train"), dataset.columns("train")["label"]
    w = np.linalg.solve(x.T @ x + 10 * np.eye(x.shape[1]), x.T @ (2 * y - 1))
    return {
        split: np.mean(
            (counts(split) @ w > 0) == dataset.columns(split)["label"]
        )
        for split in splits
    }


def test_a_bag_of_words_cannot_solve_it(dataset):
    accuracy = bag_of_words_accuracy(dataset, ("test", "hard"))
    assert 0.55 < accuracy["test"] < 0.8
    assert accuracy["hard"] < 0.8


def test_the_spurious_city_predicts_the_label_in_training_only(biased):
    def agreement(split):
        agrees = []
        for text, label, gold in zip(
            biased.columns(split)["text"],
            biased.columns(split)["label"],
            biased.gold[split],
            strict=True,
        ):
            ((start, end),) = gold.spurious
            city = text[start:end]
            assert text.count("Geneva") + text.count("Porto") == 1
            agrees.append(city == SPURIOUS_CITIES[label])
        return np.mean(agrees)

    assert 0.85 < agreement("train") < 0.95
    assert agreement("aligned") == 1 and agreement("reversed") == 0
    assert not any(gold.spurious for gold in biased.gold["test"])
    for text in biased.columns("test")["text"]:
        assert not set(SPURIOUS_CITIES.values()) & set(re.findall(r"\w+", text))


def test_a_bag_of_words_falls_for_the_city(biased):
    accuracy = bag_of_words_accuracy(biased, ("aligned", "reversed"))
    assert accuracy["aligned"] > 0.9 and accuracy["reversed"] < 0.3


def test_bad_arguments_are_refused():
    with pytest.raises(
        ValueError, match="`num_test` must be even.*Received: 7"
    ):
        load_reviews(num_test=7)
    with pytest.raises(ValueError, match="`strength`.*Received: 1.5"):
        load_biased_reviews(strength=1.5)
