"""The built-in grammar: right French, right links, one answer each."""

import dataclasses
import functools
import random
import re
import time

import numpy as np
import pytest

from keras_seq.data import (
    grammar_pairs,
    load_grammar_pairs,
    split_words,
    write_pairs,
)
from keras_seq.data.english_french.lexicon import load_lexicon
from tests.oracles import french


@pytest.fixture(scope="module")
def pairs():
    return write_pairs(3000, seed="test")


@pytest.fixture(scope="module")
def long_pairs():
    return write_pairs(300, seed="test", min_words=21, max_words=40)


@pytest.fixture(scope="module")
def dataset():
    return load_grammar_pairs(4000, 200, 600, max_words=18)


# --- the languages -----------------------------------------------------------


def test_the_french_obeys_the_laws_of_french(pairs, long_pairs):
    wrong = [(french.faults(p.target), p) for p in pairs + long_pairs]
    assert not [(faults, pair) for faults, pair in wrong if faults]


@pytest.mark.parametrize(
    "text",
    [
        "Je ne aime pas le eau.",
        "Il n'voit pas le chat.",
        "L'hibou dort.",
        "Il va à le marché.",
        "Le chat de les voisins dort.",
        "Je vais au hôtel.",
        "Sa île est grande.",
        "Ce arbre est vert.",
        "Cet chien dort.",
        "Un beau arbre.",
        "Si il vient, elle part.",
        "Est-ce qu'il dort?",
        "Il ne mange.",
        "Il mange pas.",
        "Il ne mange pas du pain.",
        "Il aime la chat.",
        "Les fille rouge.",
        "Une voiture vert.",
        "Les voitures verte.",
        "Ils dort.",
        "Nous mange.",
        "Elle est arrivé.",
        "Elles ne sont pas parties, mais elles sont venue.",
        "Beaucoup des pommes.",
    ],
)
def test_the_checker_sees_what_is_wrong(text):
    assert french.faults(text)


def test_the_english_is_clean(pairs, long_pairs):
    for pair in pairs + long_pairs:
        text = pair.source
        assert re.fullmatch(r"[A-ZÉ][\wÉéèï' ,]*[.?]", text), text
        assert "  " not in text and " ," not in text
        assert not re.search(r"(?i)\ba (?!use|uni)[aeio]", text), text
        assert not re.search(r"(?i)\ban (?!hon)[^aeiou]", text), text
        assert not re.search(
            r"\b(?:does|did|do|can|cannot|must|will)(?:n't)? "
            r"(?:not |never )?(?:eats|goes|has|is|are|was|ate|went)\b",
            text,
        ), text
        assert not re.search(r"\b(?:he|she|it) (?:are|were)\b", text)


@pytest.mark.parametrize(
    "english, its_french",
    [
        (r"^They (?!are never)", r"^Ils|^Elles"),
        (r"^I am \w+ing\b", r"^Je |^J'"),
        (r"\bcannot\b|\bcan't\b", r"\b(ne |n')(peu|pou)"),
        (r"\bno longer\b", r"\bplus\b"),
        (r"\bnever\b", r"\bjamais\b"),
        (r"^Does |^Did |^Do (I|we|you|they)\b", r"^Est-ce qu(e |')"),
        (r"^(Can|Must) (he|she|we|you|they)\b", r"^\w+-(il|elle|nous|vous)"),
        (r"^(Can|Must) I\b", r"^(Puis|Dois)-je\b"),
        (r"^(Is|Was) she (?!going|\w+ing)", r"^\w+-elle "),
        (r"^What (do|does|did)\b", r"^Qu'est-ce qu"),
        (r"^Who\b", r"^Qui\b"),
        (r"^There (is|are) no\b", r"^Il n'y a pas d(e |')"),
        (r"\bis going to eat\b", r"\bva (pas |jamais )?.*manger\b"),
        (r"\byears old\b", r" ans\b"),
        (r"\bhungry\b", r"\bfaim\b"),
        (r"\bin front of\b", r"\bdevant\b"),
        (r"\bin Canada\b", r"\bau Canada\b"),
        (r"\bin Italy\b", r"\ben Italie\b"),
        (r"\bsome water\b", r"\b(de l'eau|des)\b|d'eau"),
        (r"\bany \w+ bread\b|\bany bread\b", r"\b(pas|jamais|plus) .*de "),
        (r"(?<![Dd]o )\b(I|[Ww]e|[Tt]hey) read the\b", r"\bont? lu|a[iv].* lu"),
        (r"^If he\b", r"^S'il "),
        (r"^If she\b", r"^Si elle "),
        (r"\bold (man|artist|uncle|friend)\b(?!s)", r"\bvieil (homme|a|o)"),
        (r"\bred (car|boat|key|bag|hat|box|chair)", r"\w rouges?\b"),
        (r"\bknows? that\b", r"\b(sai|sav)\w+ qu"),
        (r"\bknows? the\b", r"\bconna[iî]\w+ "),
        (
            r"\b(met|invited|thanked|called|greeted|helped) her[.,]",
            r"\bl'\w+( \w+)? \w+ée\b",
        ),
        (
            r"^(Which|How many) (\w+ )*(pears|cars|keys|shirts) did",
            r"\b(poires|voitures|clés|chemises) .*\w+(ées|ues|ises|ies)\b",
        ),
        (r"\bthat they ", r"\bqu'ils |qu'elles "),
    ],
)
def test_a_construction_has_its_counterpart(english, its_french):
    found = [pair for pair in write_some() if re.search(english, pair.source)]
    assert found, "never written"
    for pair in found:
        assert re.search(its_french, pair.target), pair


@functools.cache
def write_some():
    return write_pairs(16000, seed="some")


def test_pronouns_take_the_gender_of_what_they_stand_for():
    nouns = {
        noun.english[0]: noun.gender
        for kind in load_lexicon().nouns.values()
        for noun in kind
    }
    genders = set()
    for pair in write_some():
        match = re.match(
            r"(?:The|This|My|His) (\w+) [^,]*, (?:but|and) it (?:is|was)\b",
            pair.source,
        )
        if match and match[1] in nouns:
            gender = nouns[match[1]]
            pronoun = "il" if gender == "m" else "elle"
            assert re.search(rf", (mais|et) {pronoun}\b", pair.target), pair
            genders.add(gender)
    assert genders == {"m", "f"}


def test_the_lexicon_is_several_hundred_words():
    lexicon = load_lexicon()
    assert lexicon.size() > 450
    english = [
        noun.english[0]
        for kind, nouns in lexicon.nouns.items()
        for noun in nouns
        if noun.kind == kind
    ]
    assert len(set(english)) == len(english)  # one noun, one translation


# --- one right answer --------------------------------------------------------


def test_english_decides_french(monkeypatch):
    # With few words, sentences come again and again.
    full, rng = load_lexicon(), random.Random(5)

    def few(table, count):
        return {
            key: rng.sample(words, min(count, len(words)))
            for key, words in table.items()
        }

    small = dataclasses.replace(
        full,
        nouns=few(full.nouns, 1),
        before=few(full.before, 1),
        after=few(full.after, 1),
        verbs=few(full.verbs, 2)
        | {"before_infinitive": full.verbs["before_infinitive"][:3]},
    )
    monkeypatch.setattr(grammar_pairs, "load_lexicon", lambda: small)
    monkeypatch.setattr(grammar_pairs, "_is_held_out", lambda *pair: False)
    answers, repeats = {}, 0
    for pair in write_pairs(6000, seed=2, max_words=11):
        repeats += pair.source in answers
        assert answers.setdefault(pair.source, pair.target) == pair.target
    assert repeats > 300


def test_the_language_is_large(pairs):
    assert len({p.source for p in pairs}) > 0.98 * len(pairs)
    of_some_length = [p.source for p in pairs if len(p.source.split()) > 7]
    assert len(set(of_some_length)) == len(of_some_length)


# --- alignments --------------------------------------------------------------


def test_every_word_is_linked_and_every_link_in_range(pairs, long_pairs):
    for pair in pairs + long_pairs:
        source, target = split_words(pair.source), split_words(pair.target)
        sure, possible = pair.alignment.sure, pair.alignment.possible
        assert set(sure) <= set(possible)
        assert list(possible) == sorted(set(possible))
        assert {i for i, _ in possible} == set(range(len(source)))
        assert {j for _, j in possible} == set(range(len(target)))
        # One sure link for a French word: the word an arg max should find.
        of_french = [j for _, j in sure]
        assert len(set(of_french)) == len(of_french)


def test_most_words_are_surely_linked(pairs):
    sure = sum(len(pair.alignment.sure) for pair in pairs)
    words = sum(len(split_words(pair.target)) for pair in pairs)
    assert 0.93 < sure / words < 1


@pytest.mark.parametrize(
    "english, its_french",
    [
        ("dog", "chiens?"),
        ("car", "voitures?"),
        ("red", "rouges?"),
        ("beautiful", "beau|belles?|bel|beaux"),
        ("not|never", "ne|n'|pas|jamais"),
        ("always", "toujours"),
        ("him", "le|l'|lui"),
        ("them", "les|leur|eux"),
        ("and", "et"),
        ("because", "parce|que?'?"),
        ("who", "qui"),
        ("'s", "le|la|les|l'|de|d'|du|des|aux?"),
        (
            "does|did",
            "est|-ce|qu'|que|a|as|ai|ont|avons|avez|sont|sommes|suis|êtes",
        ),
        ("yesterday", "hier"),
        (r"\.", r"\."),
        (r"\?", r"\?"),
    ],
)
def test_words_are_surely_linked_to_what_they_mean(pairs, english, its_french):
    links = [
        split_words(pair.target)[j].lower()
        for pair in pairs
        for i, j in pair.alignment.sure
        if re.fullmatch(english, split_words(pair.source)[i])
    ]
    assert len(links) > 3
    assert all(re.fullmatch(its_french, word) for word in links), set(links)


# --- the data set ------------------------------------------------------------


def test_the_same_seed_writes_the_same_and_the_first_ones_first(pairs):
    assert write_pairs(50, seed="test") == pairs[:50]
    other = write_pairs(50, seed="other")
    assert sum(a == b for a, b in zip(other, pairs, strict=False)) < 3


def test_splits_have_their_sizes_and_share_no_sentence(dataset):
    sizes = {"train": 4000, "validation": 200, "test": 600, "long": 600}
    assert dataset.sizes == sizes
    sources = [set(dataset.columns(split)["source"]) for split in sizes]
    assert len(set.union(*sources)) == sum(sizes.values())
    assert {k: len(v) for k, v in dataset.gold.items()} == sizes


def lengths(dataset, split):
    columns = dataset.columns(split)
    return np.array(
        [
            [len(split_words(text)) for text in columns[side]]
            for side in ("source", "target")
        ]
    )


def test_long_sentences_are_longer_than_any_other(dataset):
    for split in ("train", "validation", "test"):
        assert lengths(dataset, split).max() <= 18
    assert lengths(dataset, "long").min() > 18
    assert lengths(dataset, "long").max() <= 32


def adjectives_and_nouns(dataset, split):
    """Which words stand side by side, read from the English."""
    lexicon = load_lexicon()
    adjectives = {
        a.english
        for table in (lexicon.before, lexicon.after)
        for kind in table.values()
        for a in kind
    }
    nouns = {
        form: noun.english[0]
        for kind in lexicon.nouns.values()
        for noun in kind
        for form in noun.english
        if form
    }
    return [
        {
            (one, nouns[other])
            for one, other in zip(words, words[1:], strict=False)
            if one in adjectives and other in nouns
        }
        for words in map(split_words, dataset.columns(split)["source"])
    ]


def test_test_sentences_have_combinations_not_trained_on(dataset):
    trained = set().union(*adjectives_and_nouns(dataset, "train"))
    held_out = set().union(*adjectives_and_nouns(dataset, "test")) - trained
    assert len(held_out) > 50
    # However much is written, training never has them.
    more = load_grammar_pairs(9000, 10, 10, seed=9, max_words=18)
    seen = set().union(*adjectives_and_nouns(more, "train"))
    kept = {p for p in held_out if grammar_pairs._is_held_out(*p)}
    assert len(kept) > 0.25 * len(held_out)
    assert not kept & (seen | trained)
    in_long = set().union(*adjectives_and_nouns(dataset, "long"))
    assert not kept & in_long


def test_test_sentences_have_no_word_that_is_new(dataset):
    words = {
        split: {
            word
            for side in ("source", "target")
            for text in dataset.columns(split)[side]
            for word in split_words(text.lower())
        }
        for split in ("train", "test")
    }
    assert len(words["test"] - words["train"]) < 0.04 * len(words["test"])


def test_more_training_pairs_leave_the_test_as_it_is(dataset):
    fewer = load_grammar_pairs(10, 10, 600, max_words=18)
    for split in ("test", "long"):
        for side in ("source", "target"):
            assert (
                fewer.columns(split)[side].tolist()
                == dataset.columns(split)[side].tolist()
            )


def test_thousands_are_written_in_a_second():
    start = time.process_time()
    write_pairs(2000, seed="speed")
    assert 2000 / (time.process_time() - start) > 1000


def test_bad_arguments_are_refused():
    for how, message in (
        (dict(count=-1), "`count`.*-1"),
        (dict(count=1, min_words=0), "`min_words`.*min_words=0"),
        (dict(count=1, max_words=5), "`max_words`.*max_words=5"),
        (dict(count=1, min_words=30), "`min_words`.*min_words=30"),
    ):
        with pytest.raises(ValueError, match=message):
            write_pairs(**how)
    with pytest.raises(ValueError, match="`num_test`.*Received: 0"):
        load_grammar_pairs(num_test=0)
    with pytest.raises(ValueError, match="`max_long_words`.*max_words=20"):
        load_grammar_pairs(max_long_words=22)
