"""French articles, and what happens where small words meet: du, cet, l'."""

from keras_seq.data.english_french import meaning as m
from keras_seq.data.english_french.french_forms import ELIDED, sounds_open
from keras_seq.data.english_french.function_words import (
    ARTICLES,
    NUMBERS,
    POSSESSIVES,
)
from keras_seq.data.english_french.lexicon import load_lexicon

CONTRACTED = {
    ("de", "le"): "du",
    ("de", "les"): "des",
    ("à", "le"): "au",
    ("à", "les"): "aux",
}
BEFORE_VOWEL = {"ma": "mon", "sa": "son", "ce": "cet"}


def article(what, following, denied, within):
    """Return the article of a `Phrase`, which `following` comes after."""
    said, key = what.article, (what.key + m.ARTICLE,)
    gender = int(what.gender == "f")
    column = 2 if what.is_plural else gender
    if what.owner is not None:  # "the man's dog": "'s" makes it "le chien"
        return [(ARTICLES["the"][column], (what.key + m.OWNED,), ())]
    if said == "":  # countries and the like: English has none
        return []
    if within is not None and within.is_there and within.negation:
        return [("de", (within.key + m.NEGATION,), ())]
    if said in ("a", "some") and denied:
        return [("de", key, ())]
    if said in ("many", "how many"):
        french = "beaucoup" if said == "many" else "combien"
        return [(french, key, ()), ("de", key, ())]
    if said == "all":
        every = (("tous", "toutes")[gender], (what.key + m.ALL,), ())
        return [every, ("les", key, ())]
    if said in NUMBERS:
        return [(NUMBERS[said], key, ())]
    word = (ARTICLES | POSSESSIVES)[said][column]
    if isinstance(word, tuple):  # quels, quelles
        word = word[gender]
    if word == "des" and what.before:
        word = "de"
    elif is_open(following):
        word = "de la" if word == "du" else BEFORE_VOWEL.get(word, word)
    return [(part, key, ()) for part in word.split()]


def contract(preposition, tokens, what):
    """Return preposition and noun phrase, contracted: "du", "aux"."""
    *before, (last, sure, possible) = preposition
    if isinstance(what, m.Name) and what.place:
        return [*before, (_to_place(last, what), sure, possible), *tokens]
    if not isinstance(what, m.Phrase):
        return [*preposition, *tokens]
    first, article_sure, article_possible = tokens[0]
    if last == "de" and _is_indefinite(what):
        # "de" swallows "des", "du" and "de la".
        rest = tokens[_article_length(what, tokens) :]
        return [*before, (last, sure, (*possible, *article_sure)), *rest]
    elided = first == "le" and is_open(tokens[1][0])
    contracted = None if elided else CONTRACTED.get((last, first))
    if contracted is None:
        return [*preposition, *tokens]
    keys = (*sure, *possible, *article_sure, *article_possible)
    main = sure or article_sure
    others = tuple(key for key in keys if key not in main)
    return [*before, (contracted, main, others), *tokens[1:]]


def _to_place(preposition, what):
    """À Paris, de Paris; en France, au Canada, en Iran; du Canada, de France.

    Before a vowel, countries behave as if they were feminine.
    """
    if what.place == "city":
        return "à" if preposition == "dans" else preposition
    like_feminine = what.place == "f" or is_open(what.french)
    if preposition == "de":
        return "de" if like_feminine else "du"
    return "en" if like_feminine else "au"


def _is_indefinite(what):
    return what.article == "some" and what.owner is None


def _article_length(what, tokens):
    key = what.key + m.ARTICLE
    return sum(key in sure for _, sure, _ in tokens)


def is_open(word):
    """Tell whether `word` begins with the sound of a vowel."""
    return sounds_open(word, load_lexicon().aspirated)


def elide(tokens):
    """Return the tokens with "le", "de", "que", ... shortened before vowels."""
    elided = []
    for (word, *keys), (following, *_) in zip(
        tokens, [*tokens[1:], (".",)], strict=True
    ):
        if word in ELIDED and is_open(following):
            word = ELIDED[word]
        elif word == "si" and following in ("il", "ils"):
            word = "s'"
        elided.append((word, *keys))
    return elided
