"""English sentences and their French, written by a grammar that knows why.

Every pair has a gold word alignment. English decides French: each English
sentence has one translation. Where the languages leave a choice, it is made
once and for all: "you" is "vous" and several men; "I" is a man; "they" is
"ils" unless it refers to women or feminine things in the clause before.
"""

import dataclasses
import functools
import itertools
import random
import zlib

from keras_seq.data.alignments import Alignment
from keras_seq.data.dataset import Dataset
from keras_seq.data.english_french import english_sentences as english
from keras_seq.data.english_french import french_sentences as french
from keras_seq.data.english_french.choose_sentences import SentenceChoice
from keras_seq.data.english_french.lexicon import load_lexicon

LICENCE = "Apache-2.0 (written by this package)"
# One in this many combinations of words is kept out of training.
HELD_OUT_ONE_IN = 8
# How many clauses sentences have, and how often: everyday ones, long ones.
CLAUSES = {1: 60, 2: 34, 3: 6}
LONG_FROM = 20
LONG_CLAUSES = {3: 40, 4: 40, 5: 20}


@dataclasses.dataclass(frozen=True)
class TranslationPair:
    """An English sentence, its French, and which words translate which.

    Attributes:
        source: The English sentence.
        target: The French sentence.
        alignment: Links between the words that `split_words` finds in them.
            Every French word has at most one sure link, to the one English
            word it stands for; words that only have a share in it ("does",
            "of") have possible links. No word is without a link.
    """

    source: str
    target: str
    alignment: Alignment


def write_pairs(
    count, seed=0, *, held_out=False, min_words=1, max_words=20
) -> list[TranslationPair]:
    """Write `count` pairs.

    Args:
        count: How many. The first ones do not depend on how many follow.
        seed: The same seed (an integer or a string) gives the same pairs.
        held_out: False leaves out every combination of words that is kept
            for the test split (an adjective and its noun, a verb and its
            object); True writes only pairs that have such a combination.
        min_words: The fewest words a sentence may have, in either language;
            marks count, as in `split_words`.
        max_words: The most.

    Example:
        >>> (pair,) = write_pairs(1, seed=82)
        >>> pair.source
        'All the sisters met her.'
        >>> pair.target
        "Toutes les sœurs l'ont rencontrée."
        >>> pair.alignment.sure
        ((0, 0), (1, 1), (2, 2), (3, 4), (3, 5), (4, 3), (5, 6))
    """
    if count < 0:
        raise ValueError(f"`count` must not be negative. Received: {count}")
    if not 1 <= min_words <= max_words or max_words < 8:
        raise ValueError(
            "`min_words` must be positive and at most `max_words`, and that "
            f"at least 8. Received: min_words={min_words}, "
            f"max_words={max_words}"
        )
    pairs = _pairs(seed, held_out, min_words, max_words)
    return list(itertools.islice(pairs, count))


def load_grammar_pairs(
    num_train=60000,
    num_validation=1000,
    num_test=1000,
    seed=0,
    *,
    max_words=20,
    max_long_words=32,
) -> Dataset:
    """Return built-in English-French pairs as a data set.

    Splits: `train`; `validation`, of the same kind; `test`, in which every
    pair puts words together that no other split does (an adjective and its
    noun, a verb and its object); and `long`, as large as `test`, whose
    sentences have more than `max_words` words in both languages. No English
    sentence is there twice. `gold` has an `Alignment` for each pair.

    Args:
        num_train: How many pairs to train on.
        num_validation: How many to choose by.
        num_test: How many to score on, in `test` and in `long`.
        seed: The same seed gives the same data.
        max_words: The most words a sentence has, except in `long`; marks
            count, as in `split_words`.
        max_long_words: The most words a sentence has in `long`.

    Example:
        >>> dataset = load_grammar_pairs(20, 5, 10)
        >>> dataset.sizes
        {'train': 20, 'validation': 5, 'test': 10, 'long': 10}
    """
    sizes = {
        "num_train": num_train,
        "num_validation": num_validation,
        "num_test": num_test,
    }
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"`{name}` must be positive. Received: {size}")
    if max_long_words < max_words + 5:
        raise ValueError(
            "`max_long_words` must be at least 5 more than `max_words`. "
            f"Received: max_words={max_words}, max_long_words={max_long_words}"
        )
    short, long = (1, max_words), (max_words + 1, max_long_words)
    # The small splits are drawn first, so they are the same however many
    # training pairs are asked for.
    drawn = {
        "test": (num_test, True, *short),
        "long": (num_test, False, *long),
        "validation": (num_validation, False, *short),
        "train": (num_train, False, *short),
    }
    seen, found = set(), {}
    for split, (size, *how) in drawn.items():
        found[split] = []
        for pair in _pairs(f"{seed}/{split}", *how):
            if pair.source not in seen:
                seen.add(pair.source)
                found[split].append(pair)
            if len(found[split]) == size:
                break
    order = ("train", "validation", "test", "long")
    return Dataset(
        "grammar",
        LICENCE,
        {
            split: {
                "source": [pair.source for pair in found[split]],
                "target": [pair.target for pair in found[split]],
            }
            for split in order
        },
        {split: tuple(p.alignment for p in found[split]) for split in order},
        notes=(
            f"Written with seed {seed}.",
            "`test` is of combinations of words that are not in `train`; "
            f"`long` is of sentences of more than {max_words} words.",
        ),
    )


def _pairs(seed, held_out, min_words, max_words):
    rng, lexicon = random.Random(f"{seed}"), load_lexicon()
    clauses = LONG_CLAUSES if min_words > LONG_FROM else CLAUSES
    avoided = () if held_out else (_is_held_out,)
    sizes, weights = list(clauses), list(clauses.values())
    while True:
        choice = SentenceChoice(rng, lexicon, *avoided)
        meaning = choice.sentence(*rng.choices(sizes, weights))
        if held_out and not any(
            itertools.starmap(_is_held_out, choice.combinations)
        ):
            continue
        source = english.sentence(meaning)
        target = french.sentence(meaning)
        if not (
            min_words <= min(len(source), len(target))
            and max(len(source), len(target)) <= max_words
        ):
            continue
        yield TranslationPair(
            _spell(source, no_space_before=".,?"),
            _spell(target, no_space_before=".,"),
            _align(source, target),
        )


@functools.cache
def _is_held_out(one, other):
    return zlib.crc32(f"{one}|{other}".encode()) % HELD_OUT_ONE_IN == 0


def _spell(tokens, no_space_before):
    """Join words; French leaves a space before a question mark."""
    text, glued = "", True
    for word, *_ in tokens:
        if not (glued or word in no_space_before or word[0] in "-'"):
            text += " "
        text += word
        glued = word.endswith("'") and word != "'"
    return text[0].upper() + text[1:]


def _align(source, target):
    """Link words that share a meaning."""
    says, shares = {}, {}  # which English word says it, which have a share
    for i, (_, sure, possible) in enumerate(source):
        for key in sure:
            says[key] = i
        for key in possible:
            shares.setdefault(key, []).append(i)
    sure_links, links = set(), set()
    for j, (_, sure, possible) in enumerate(target):
        for key in sure:
            if key in says:
                sure_links.add((says[key], j))
        for key in sure + possible:
            if key in says:
                links.add((says[key], j))
            if key in shares:
                links.update((i, j) for i in shares[key])
    return Alignment(tuple(sorted(sure_links)), tuple(sorted(links)))
