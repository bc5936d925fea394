"""Laws of French that can be seen in a text, without knowing what it means.

Written from a grammar book, not from the package: it has its own short lists
of words, and reads plain strings.
"""

import re

VOWEL = "aàâeéèêiîoôuûyœæ"
ASPIRATED = (
    "héros|hibou|hiboux|hérissons?|hamsters?|haricots?|homards?|haches?|"
    "harpes?|hongrois|hongroises?|onze|huit"
)
# A sound before which words are elided.
OPEN = rf"(?!(?:{ASPIRATED})\b)[{VOWEL}h]"
MASCULINE = """
    chien chat homme enfant ami roi livre couteau gâteau œuf hôtel arbre pont
    vin pain fromage manteau oiseau cheval hôpital animal journal héros
    ordinateur parapluie bateau lit marché village avocat élève
"""
FEMININE = """
    femme fille reine souris vache abeille pomme orange huître lettre histoire
    clé assiette horloge voiture chaise maison église école eau bière viande
    île montagne porte étagère hache chemise écharpe mère sœur tante infirmière
"""
IRREGULAR_PLURALS = {
    "couteau": "couteaux",
    "gâteau": "gâteaux",
    "manteau": "manteaux",
    "oiseau": "oiseaux",
    "bateau": "bateaux",
    "cheval": "chevaux",
    "hôpital": "hôpitaux",
    "journal": "journaux",
    "animal": "animaux",
    "héros": "héros",
    "souris": "souris",
}
# masculine, feminine, masculine plural, feminine plural
ADJECTIVES = [
    row.split()
    for row in """
    rouge rouge rouges rouges
    blanc blanche blancs blanches
    noir noire noirs noires
    vert verte verts vertes
    italien italienne italiens italiennes
    français française français françaises
    grec grecque grecs grecques
    heureux heureuse heureux heureuses
    jaloux jalouse jaloux jalouses
    fier fière fiers fières
    cher chère chers chères
    frais fraîche frais fraîches
    gentil gentille gentils gentilles
    fatigué fatiguée fatigués fatiguées
    public publique publics publiques
    médiéval médiévale médiévaux médiévales
    léger légère légers légères
    sérieux sérieuse sérieux sérieuses
    """.strip().splitlines()
]
WITH_ÊTRE = "allé arrivé venu parti tombé resté retourné entré mort levé assis"
CLITIC = r"(?:(?:ne|me|se|le|la|lui|leur|les|nous|vous) |[nmsl]')*"
BETWEEN = r"(?: (?:pas|jamais|plus|souvent|toujours|parfois|rarement))?"


def _nouns():
    """Yield form, gender, is plural."""
    for gender, words in (("m", MASCULINE), ("f", FEMININE)):
        for word in words.split():
            several = IRREGULAR_PLURALS.get(word, f"{word}s")
            if several == word:
                continue  # its form does not tell its number
            yield word, gender, False
            yield several, gender, True


NOUNS = {form: (gender, many) for form, gender, many in _nouns()}
NOUN = "|".join(sorted(NOUNS, key=len, reverse=True))
FORMS = {}
for _row in ADJECTIVES:
    for _place, _form in enumerate(_row):
        FORMS.setdefault(_form, set()).add(("mf"[_place % 2], _place > 1))
ADJECTIVE = "|".join(sorted(FORMS, key=len, reverse=True))
ARTICLES = {
    "le un ce cet du au mon son": {("m", False)},
    "la une cette": {("f", False)},
    "ma sa": {("f", False)},
    "les des ces mes ses nos vos leurs aux plusieurs deux trois": {
        ("m", True),
        ("f", True),
    },
    "tous": {("m", True)},
    "toutes": {("f", True)},
    "quel": {("m", False)},
    "quelle": {("f", False)},
    "quels": {("m", True)},
    "quelles": {("f", True)},
    "chaque votre notre": {("m", False), ("f", False)},
}
BEFORE_NOUN = {
    word: allowed
    for words, allowed in ARTICLES.items()
    for word in words.split()
}

FORBIDDEN = {
    "no elision": rf"(?<!-)\b(?:le|la|de|je|ne|que|me|se) (?={OPEN})",
    "elision before a consonant": rf"\b(?:l|d|j|n|qu|m|s)'(?!{OPEN}|y\b|il)",
    "du or au before a vowel": rf"\b(?:du|au) (?={OPEN})",
    "ma, sa, ce before a vowel": rf"(?<!-)\b(?:ma|sa|ce) (?={OPEN})",
    "cet before a consonant": rf"\bcet (?!{OPEN})",
    "beau before a vowel": rf"\b(?:beau|nouveau) (?={OPEN})",
    "bel before a consonant": rf"\b(?:bel|nouvel|vieil) (?!{OPEN})",
    "si il": r"\bsi ils?\b",
    "s'elle": r"\bs'elles?\b",
    "de des": r"\bde (?:des|du|de)\b",
    "à contracted": r"(?<!commence )(?<!commences )(?<!commençons )"
    r"(?<!commencez )(?<!commencent )\bà les? ",
    "de contracted": r"(?<!essaie )(?<!essayons )(?<!essayez )(?<!essaient )"
    r"\bde les? ",
    "no space before a question mark": r"\S\?",
    "two spaces": r"  | [.,]",
    "beaucoup des": r"\b(?:beaucoup|combien) d(?:es|u)\b",
    "pas un": rf"\b(?:pas|jamais|plus) une? (?:{NOUN})\b",
    # "Il ne vient pas des îles" is another "des".
    "pas des": r"\b(?!vien|ven|rêv)\w+ (?:pas|jamais|plus) (?:du|des) "
    rf"(?:{NOUN})\b",
}


def faults(text):
    """Return what is wrong with a French sentence, as a list of strings."""
    text = text.lower()
    found = [name for name, law in FORBIDDEN.items() if re.search(law, text)]
    found += _wrong_negations(text)
    found += _wrong_nouns(text)
    found += _wrong_verbs(text)
    return found


def _wrong_negations(text):
    ne = len(re.findall(r"\bne |\bn'", text))
    second = len(re.findall(r"\b(?:pas|jamais|plus)\b", text))
    return ["negation has one half"] if ne != second else []


def _wrong_nouns(text):
    found = []
    for article, noun in re.findall(rf"\b(\w+) ({NOUN})\b", text):
        allowed = set(BEFORE_NOUN.get(article, {NOUNS[noun]}))
        if NOUNS[noun][0] == "f" and re.match(OPEN, noun):
            if article in ("mon", "son"):  # mon île
                allowed = {("f", False)}
        if NOUNS[noun] not in allowed:
            found.append(f"{article} {noun}")
    for noun, adjective in re.findall(rf"\b({NOUN}) ({ADJECTIVE})\b", text):
        if NOUNS[noun] not in FORMS[adjective]:
            found.append(f"{noun} {adjective}")
    return found


def _wrong_verbs(text):
    found = []
    for person, ending in (
        (r"(?<![-\w])(?:ils|elles) ", "nt"),
        (r"(?:^|que |, |\bmais |\bet |quand |si )nous ", "ons|es"),
    ):
        for verb in re.findall(rf"{person}{CLITIC}(\w+)", text):
            if not re.search(rf"(?:{ending})$", verb):
                found.append(f"{person.strip()} {verb}")
    for verb in re.findall(r"(\w+)-ils\b", text):
        if not verb.endswith("nt"):
            found.append(f"{verb}-ils")
    for participle in WITH_ÊTRE.split():
        for who, be, wrong in (
            ("elle", "est", rf"{participle}s?"),
            ("elles", "sont", rf"{participle}e?"),
            ("ils", "sont", rf"{participle}es?"),
            ("il", "est", rf"{participle}es?"),
        ):
            law = rf"\b{who} (?:ne |n'|se |s')*{be}{BETWEEN} {wrong}(?!\w)"
            if who == "elles" and participle.endswith("s"):
                law = rf"\b{who} (?:ne |n'|se |s')*{be}{BETWEEN} assise?(?!\w)"
            if re.search(law, text):
                found.append(f"{who} {be} {participle}")
    return found
