"""Text cut into words, the units that alignments count in."""

import re

# A word is the longest of these at its place:
_WORD = re.compile(
    r"""
    (?<!\w)(?:[cdjlmnst]|qu|lorsqu|puisqu|jusqu)['’](?=\w)  # l' of l'eau
    | ['’]s\b                                               # 's of dog's
    | -(?:t-)?(?:je|tu|ils?|elles?|on|nous|vous|ce)\b       # -il of est-il
    | \w+(?:
        (?!['’]s\b|-(?:t-)?(?:je|tu|ils?|elles?|on|nous|vous|ce)\b)
        ['’-]\w+
      )*                                                    # don't, grand-père
    | [^\w\s]                                               # punctuation
    """,
    re.IGNORECASE | re.VERBOSE,
)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return where each word of `text` begins and ends, in characters.

    Only white space is left out, so the spans tell everything about `text`
    but how wide its gaps are.
    """
    return [match.span() for match in _WORD.finditer(text)]


def split_words(text: str) -> list[str]:
    """Cut `text`, English or French, into words.

    - Punctuation marks are words.
    - What French elides is a word with its apostrophe: "l'", "qu'".
    - The pronoun of a question is a word with its hyphen: "-il", "-t-elle";
      so is "-ce".
    - The English possessive is a word: "'s", or "'" after a plural.
    - Other words keep their apostrophes and hyphens: "don't", "aujourd'hui",
      "grand-père".

    >>> split_words("The man's dog doesn't eat.")
    ['The', 'man', "'s", 'dog', "doesn't", 'eat', '.']
    >>> split_words("Est-ce que l'homme est là aujourd'hui ?")
    ['Est', '-ce', 'que', "l'", 'homme', 'est', 'là', "aujourd'hui", '?']
    """
    return _WORD.findall(text)
