"""The forms of English words that follow a rule."""

import re

BE = {  # I, he, we, you, they
    "present": ("am", "is", "are", "are", "are"),
    "past": ("was", "was", "were", "were", "were"),
}
SHORT = {  # in speech, one word
    "can": "can't",
    "must": "mustn't",
    "will": "won't",
    "do": "don't",
    "does": "doesn't",
    "did": "didn't",
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
}

DOUBLED = {"prefer", "forget", "travel"}


def add_s(word):
    """Return the plural of a noun, or what he does.

    >>> [add_s(word) for word in ("dog", "box", "lady", "boy", "watch")]
    ['dogs', 'boxes', 'ladies', 'boys', 'watches']
    """
    if word == "have":
        return "has"
    if re.search(r"(s|x|z|ch|sh|go|do)$", word):
        return f"{word}es"
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}s"


def add_ed(word):
    """Return the past of a regular verb.

    >>> [add_ed(word) for word in ("open", "like", "carry", "stop", "prefer")]
    ['opened', 'liked', 'carried', 'stopped', 'preferred']
    """
    if word.endswith("e"):
        return f"{word}d"
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ied"
    return f"{_doubled(word)}ed"


def add_ing(word):
    """Return what one is doing.

    >>> [add_ing(word) for word in ("eat", "write", "die", "run", "see")]
    ['eating', 'writing', 'dying', 'running', 'seeing']
    """
    if word.endswith("ie"):
        return f"{word[:-2]}ying"
    if word.endswith("e") and not word.endswith("ee"):
        return f"{word[:-1]}ing"
    return f"{_doubled(word)}ing"


def a_or_an(word):
    """Return the article before `word`.

    >>> [a_or_an(word) for word in ("egg", "useful", "honest", "dog")]
    ['an', 'a', 'an', 'a']
    """
    vowel = re.match(r"(?!uni|use)[aeiou]|hon", word.lower())
    return "an" if vowel else "a"


def _doubled(word):
    """One vowel and one consonant, stressed: the consonant is doubled."""
    short = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", word)
    return word + word[-1] if short or word in DOUBLED else word
