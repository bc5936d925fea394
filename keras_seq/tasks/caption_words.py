"""Captions cut into words as the COCO evaluation does it."""

import re

# What the evaluation takes out. Brackets are not in its list as they come out
# of its tokenizer, in small letters: they stay, here as there.
PUNCTUATION = frozenset(
    ["''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"]
)
BRACKETS = {
    "(": "-lrb-",
    ")": "-rrb-",
    "[": "-lsb-",
    "]": "-rsb-",
    "{": "-lcb-",
    "}": "-rcb-",
}
# Their full stop belongs to them, wherever they stand.
_SHORT = "mr mrs ms dr st jr sr vs etc dept no mt ft ave blvd co inc corp ltd"
# Two words written as one.
_JOINED = {
    "cannot": ["can", "not"],
    "gonna": ["gon", "na"],
    "gotta": ["got", "ta"],
    "wanna": ["wan", "na"],
    "gimme": ["gim", "me"],
    "lemme": ["lem", "me"],
}
_TOKEN = re.compile(
    rf"""
    https?://\S+ | [\w.+-]+@[\w.-]*\w             # addresses, and 2@dogs
    | \w+\.(?:com|org|net)\b
    | (?:[a-z]\.){{2,}}                           # u.s.
    | \b(?:{_SHORT.replace(" ", "|")})\.                  # mr.
    | \d+(?:[.,:/-]\d+)+                          # 3.5, 2,000, 10:30
    | n't\b | '(?:s|re|ve|ll|m|d)\b               # the ends of words
    | '(?:n'|em\b) | \b(?:o'clock|d'\w+)          # slip 'n' slide
    | \w+?(?=n't\b)                               # do of don't
    | \w+(?:[-/&_]\w+)*                           # t-shirt, black/white
    | \.\.+ | --+ | ``|''
    | \S
    """,
    re.VERBOSE,
)


def caption_words(caption: str) -> list[str]:
    """Return the words of a caption, without punctuation, in small letters.

    Follows the Penn Treebank tokens that the COCO evaluation scores (Chen et
    al., 2015), which needs Java for it.

    >>> caption_words("A man's dog doesn't run, it's in a T-shirt.")
    ['a', 'man', "'s", 'dog', 'does', "n't", 'run', 'it', "'s", 'in', 'a',
     't-shirt']
    """
    caption = caption.lower().replace("’", "'").replace("&amp;", "&")
    caption = caption.replace('"', " '' ")
    words = []
    for token in _TOKEN.findall(caption):
        if token in _JOINED:
            words += _JOINED[token]
        elif token not in PUNCTUATION and set(token) not in ({"."}, {"-"}):
            words.append(BRACKETS.get(token, token))
    return words
