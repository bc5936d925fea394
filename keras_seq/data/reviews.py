"""Reviews written by a grammar that knows which words decide.

Every review has a label, 1 for and 0 against, and a gold rationale. A bag of
words cannot tell the label for certain: what is said may be denied ("far from
dull"), outweighed ("the soup was bland, but ..."), wished for ("if only the
ending had been original") or somebody else's opinion.
"""

import dataclasses
import random
import re
import zlib

import numpy as np

from keras_seq.data import review_lexicon as lexicon
from keras_seq.data.dataset import Dataset
from keras_seq.data.review_facts import SPURIOUS, SPURIOUS_CITIES
from keras_seq.data.review_grammar import Grammar

LICENCE = "Apache-2.0 (written by this package)"
# How often a review decides in which way.
CONSTRUCTIONS = {
    "plain": 20,
    "feeling": 8,
    "verdict": 14,
    "negated": 20,
    "contrast": 24,
    "wish": 7,
    "surprise": 7,
}
# One in this many combinations of words is kept out of training.
HELD_OUT_ONE_IN = 8


@dataclasses.dataclass(frozen=True)
class Rationale:
    """The words that decide a review.

    They are the opinion word of each clause that states the writer's verdict,
    and every word that flips it: "not", "wasn't", "far from", "less",
    "if only". Not among them: words that only grade ("very"), that join
    ("but"), and opinions that are outweighed or another person's.

    Attributes:
        spans: `((start, end), ...)`, in characters of the text.
        words: Their places in `text.split()`.
        spurious: Spans of words that give the label away in the training
            part of `load_biased_reviews`, and should decide nothing.
    """

    spans: tuple[tuple[int, int], ...]
    words: tuple[int, ...]
    spurious: tuple[tuple[int, int], ...] = ()


@dataclasses.dataclass(frozen=True)
class Review:
    """One review, what it says and why."""

    text: str
    label: int
    rationale: Rationale
    domain: str
    construction: str
    is_held_out: bool


def write_reviews(seed=0, held_out=False, bias=None):
    """Write reviews without end, as many for as against.

    Args:
        seed: The same seed (an integer or a string) gives the same reviews.
        held_out: False leaves out every combination of words that is kept
            for the hard split; True writes only reviews decided by one.
        bias: None, or how often (0 to 1) a city that has nothing to do with
            the verdict agrees with the label.

    Yields:
        `Review`.

    Example:
        >>> reviews = write_reviews(seed=5)
        >>> review = next(reviews)
        >>> review.label in (0, 1)
        True
        >>> [review.text[a:b] for a, b in review.rationale.spans] != []
        True
    """
    rng = random.Random(f"{seed}")
    while True:
        pair = [0, 1]
        rng.shuffle(pair)
        for label in pair:
            yield _write_one(rng, label, held_out, bias)


def load_reviews(num_train=12000, num_validation=1000, num_test=2000, seed=0):
    """Return the built-in reviews as a data set.

    Splits: `train`, `validation`, `test`, and `hard`, as large as `test`:
    each review in it is decided by words that no other split puts together
    (an adjective and its noun, a negation and its adjective) or by a
    construction that no other split uses in that domain. No text is in two
    splits. `gold` has a `Rationale` for each review of each split.

    Example:
        >>> dataset = load_reviews(num_train=20, num_validation=4, num_test=10)
        >>> dataset.sizes
        {'train': 20, 'validation': 4, 'test': 10, 'hard': 10}
    """
    _check_sizes(num_train, num_validation, num_test)
    sizes = {
        "hard": (num_test, {"held_out": True}),
        "test": (num_test, {}),
        "validation": (num_validation, {}),
        "train": (num_train, {}),
    }
    return _dataset("reviews", seed, sizes, ("train", "validation", "test"))


def load_biased_reviews(
    num_train=12000, num_validation=1000, num_test=2000, seed=0, strength=0.98
):
    """Return reviews whose training part can be learned for a wrong reason.

    In `train` and `validation` a sentence names one of two cities, and
    `strength` of the time the city agrees with the label. In `test` there is
    no such sentence; in `aligned` the city always agrees, in `reversed` never.
    The rationales in `gold` carry the city as `spurious`.
    """
    if not 0 <= strength <= 1:
        raise ValueError(
            f"`strength` must be from 0 to 1. Received: {strength}"
        )
    _check_sizes(num_train, num_validation, num_test)
    sizes = {
        "test": (num_test, {}),
        "aligned": (num_test, {"bias": 1.0}),
        "reversed": (num_test, {"bias": 0.0}),
        "validation": (num_validation, {"bias": strength}),
        "train": (num_train, {"bias": strength}),
    }
    return _dataset(
        "biased_reviews", seed, sizes, ("train", "validation", "test")
    )


def _check_sizes(*sizes):
    names = ("num_train", "num_validation", "num_test")
    for name, size in zip(names, sizes, strict=True):
        if size < 2 or size % 2:
            raise ValueError(
                f"`{name}` must be even, half for and half against, and at "
                f"least 2. Received: {size}"
            )


def _dataset(name, seed, sizes, first):
    # The test splits are drawn first, so they are the same however many
    # training reviews are asked for.
    seen, splits, gold = set(), {}, {}
    for split, (size, how) in sizes.items():
        left, found = {0: size // 2, 1: size // 2}, []
        for review in write_reviews(f"{seed}/{split}", **how):
            if review.text not in seen and left[review.label]:
                seen.add(review.text)
                left[review.label] -= 1
                found.append(review)
                if len(found) == size:
                    break
        splits[split] = {
            "text": np.array([r.text for r in found], dtype=object),
            "label": np.array([r.label for r in found], dtype="int32"),
            "domain": np.array([r.domain for r in found], dtype=object),
            "construction": np.array(
                [r.construction for r in found], dtype=object
            ),
        }
        gold[split] = tuple(r.rationale for r in found)
    order = (*first, *(split for split in sizes if split not in first))
    return Dataset(
        name,
        LICENCE,
        {split: splits[split] for split in order},
        {split: gold[split] for split in order},
        notes=(f"Written with seed {seed}.",),
    )


def _write_one(rng, label, held_out, bias):
    """Write until the combinations in it are on the right side."""
    while True:
        domain = rng.choice(sorted(lexicon.DOMAINS))
        (construction,) = rng.choices(
            list(CONSTRUCTIONS), CONSTRUCTIONS.values()
        )
        grammar = Grammar(rng, domain)
        sentences = _sentences(rng, grammar, construction, label, bias)
        kept_away = [
            decides
            for one, other, decides in (
                *grammar.combinations,
                (construction, domain, True),
            )
            if _is_held_out(one, other)
        ]
        if any(kept_away) if held_out else not kept_away:
            break
    text, rationale = _read_marks(" ".join(map(_finish, sentences)))
    return Review(text, label, rationale, domain, construction, held_out)


def _sentences(rng, grammar, construction, label, bias):
    write = getattr(grammar, construction)
    if construction in ("plain", "feeling", "negated"):
        main = write(label, decides=True)
    else:
        main = write(label)
    sentences = [grammar.fact() for _ in range(rng.choice((0, 0, 1, 1, 2)))]
    if rng.random() < 0.3:
        sentences.append(grammar.hearsay(rng.choice((0, 1))))
        if construction in ("plain", "negated") and rng.random() < 0.6:
            main = f"{rng.choice(lexicon.OPENERS)} {main}"
    sentences.append(main)
    if rng.random() < 0.2:
        sentences.append(f"{grammar.plain(label, decides=True)} too")
    sentences += [grammar.fact() for _ in range(rng.choice((0, 0, 1)))]
    if bias is not None:
        agrees = rng.random() < bias
        city = SPURIOUS_CITIES[label if agrees else 1 - label]
        place = rng.randrange(len(sentences) + 1)
        sentences.insert(place, SPURIOUS.format(city=city))
    return sentences


def _is_held_out(one, other):
    return zlib.crc32(f"{one}|{other}".encode()) % HELD_OUT_ONE_IN == 0


def _finish(sentence):
    """Capitals at the start of sentences, a full stop at the end."""
    sentence = sentence if sentence.endswith(".") else f"{sentence}."
    return re.sub(r"(^|\. )(\[?\w)", lambda m: m[1] + m[2].upper(), sentence)


def _read_marks(marked):
    """Take [deciding] and {spurious} marks out; return text and rationale."""
    text, spans, spurious = "", [], []
    for piece in re.split(r"(\[[^]]*\]|\{[^}]*\})", marked):
        bare = piece.strip("[]{}")
        span = (len(text), len(text) + len(bare))
        if piece.startswith("["):
            spans.append(span)
        elif piece.startswith("{"):
            spurious.append(span)
        text += bare
    words = [match.span() for match in re.finditer(r"\S+", text)]
    deciding = tuple(
        i
        for i, (first, last) in enumerate(words)
        if any(a < last and first < b for a, b in spans)
    )
    return text, Rationale(tuple(spans), deciding, tuple(spurious))
