"""The forms of French words: gender, number, persons, and what elides.

Persons are numbered as the tables of `verbs.py` have them: je 0, il 1,
nous 2, vous 3, ils 4. "Tu" is not spoken here: "you" is "vous".
"""

import re

from keras_seq.data.english_french.verbs import IRREGULAR

VOWELS = frozenset("aàâeéèêiîoôuûœæ")
# Besides the words that the lexicon stars.
NEVER_ELIDED_BEFORE = frozenset({"huit", "onze"})
ELIDED = {
    "le": "l'",
    "la": "l'",
    "de": "d'",
    "je": "j'",
    "ne": "n'",
    "que": "qu'",
    "me": "m'",
    "se": "s'",
}
WEAK_VOWEL = {"acheter": "achète", "lever": "lève", "préférer": "préfère"}
WEAK_VOWEL |= {"espérer": "espère"}


def plural(word):
    """Return the plural of a noun or a masculine adjective.

    >>> [plural(word) for word in ("chat", "cheval", "oiseau", "heureux")]
    ['chats', 'chevaux', 'oiseaux', 'heureux']
    """
    if word[-1] in "sxz":
        return word
    if word.endswith("al"):
        return f"{word[:-2]}aux"
    if word.endswith(("eau", "eu")) and word != "bleu":
        return f"{word}x"
    return f"{word}s"


def feminine(word):
    """Return the feminine of a regular adjective.

    >>> [feminine(word) for word in ("vert", "jeune", "cher", "craintif")]
    ['verte', 'jeune', 'chère', 'craintive']
    """
    for ending, its_feminine in (
        ("e", "e"),
        ("er", "ère"),
        ("eux", "euse"),
        ("ien", "ienne"),
        ("f", "ve"),
    ):
        if word.endswith(ending):
            return word.removesuffix(ending) + its_feminine
    return f"{word}e"


def conjugate(infinitive):
    """Return the five persons of the present, and the past participle.

    >>> conjugate("manger")[0][2:], conjugate("nettoyer")[0][1]
    (('mangeons', 'mangez', 'mangent'), 'nettoie')
    >>> conjugate("choisir")[0][4], conjugate("vendre")[1]
    ('choisissent', 'vendu')
    """
    if infinitive in IRREGULAR:
        *present, participle = IRREGULAR[infinitive].split()
        return tuple(present), participle
    stem, ending = infinitive[:-2], infinitive[-2:]
    if ending == "ir":
        return _present(f"{stem}i", "s t ssons ssez ssent"), f"{stem}i"
    if ending == "re":
        return _present(stem, "s - ons ez ent"), f"{stem}u"
    je, il, nous, vous, ils = _present(stem, "e e ons ez ent")
    if infinitive in WEAK_VOWEL:
        je = il = WEAK_VOWEL[infinitive]
        ils = f"{je}nt"
    elif stem.endswith("y"):
        je = il = f"{stem[:-1]}ie"
        ils = f"{je}nt"
    nous = re.sub("geons$|gons$", "geons", nous)
    nous = re.sub("cons$", "çons", nous)
    return (je, il, nous, vous, ils), f"{stem}é"


def imparfait(present):
    """Return the five persons of the imparfait, from those of the present.

    >>> imparfait(conjugate("avoir")[0])
    ('avais', 'avait', 'avions', 'aviez', 'avaient')
    """
    stem = present[2].removesuffix("ons")
    return _present(stem, "ais ait ions iez aient")


def agree(participle, gender, is_plural):
    """Return a past participle that agrees.

    >>> agree("vu", "f", True), agree("assis", "m", True)
    ('vues', 'assis')
    """
    form = participle + "e" * (gender == "f")
    return plural(form) if is_plural else form


def sounds_open(word, aspirated=frozenset()):
    """Tell whether what comes before `word` elides.

    >>> [sounds_open(word) for word in ("homme", "œuf", "onze", "chat")]
    [True, True, False, False]
    """
    word = word.lower()
    if word in NEVER_ELIDED_BEFORE or word in aspirated:
        return False
    return word[0] in VOWELS or word[0] == "h" or word == "y"


def _present(stem, endings):
    return tuple(stem + ending.replace("-", "") for ending in endings.split())
