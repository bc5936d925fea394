"""The words that hold sentences together.

Phrases of several words name, for each French word, the English word it
translates (`=2`, counted from 1) or merely has a share in (`~2`).
"""

SUBJECTS = {  # (person, plural, gender): English, French
    (1, False, "m"): ("I", "je"),
    (2, True, "m"): ("you", "vous"),
    (3, False, "m"): ("he", "il"),
    (3, False, "f"): ("she", "elle"),
    (1, True, "m"): ("we", "nous"),
    (3, True, "m"): ("they", "ils"),
    (3, True, "f"): ("they", "elles"),
}
# The same persons: English object; French before the verb, as direct and as
# indirect object; French after a preposition; English and French possessive.
OBJECTS = {
    (1, False, "m"): ("me", "me", "me", "moi"),
    (2, True, "m"): ("you", "vous", "vous", "vous"),
    (3, False, "m"): ("him", "le", "lui", "lui"),
    (3, False, "f"): ("her", "la", "lui", "elle"),
    (1, True, "m"): ("us", "nous", "nous", "nous"),
    (3, True, "m"): ("them", "les", "leur", "eux"),
    (3, True, "f"): ("them", "les", "leur", "elles"),
}
REFLEXIVE = ("me", "se", "nous", "vous", "se")
# English: French before a masculine, a feminine and a plural noun. Before a
# vowel "ma" becomes "mon" and "ce" becomes "cet".
POSSESSIVES = {
    "my": ("mon", "ma", "mes"),
    "your": ("votre", "votre", "vos"),
    "his": ("son", "sa", "ses"),
    "her": ("son", "sa", "ses"),
    "our": ("notre", "notre", "nos"),
    "their": ("leur", "leur", "leurs"),
}
ARTICLES = {
    "the": ("le", "la", "les"),
    "a": ("un", "une", None),
    "some": ("du", "de la", "des"),
    "this": ("ce", "cette", None),
    "these": (None, None, "ces"),
    "those": (None, None, "ces"),
    "every": ("chaque", "chaque", None),
    "several": (None, None, "plusieurs"),
    "which": ("quel", "quelle", ("quels", "quelles")),
}
NUMBERS = {
    "two": "deux",
    "three": "trois",
    "four": "quatre",
    "five": "cinq",
    "six": "six",
    "seven": "sept",
    "eight": "huit",
    "nine": "neuf",
    "ten": "dix",
    "eleven": "onze",
    "twelve": "douze",
    "twenty": "vingt",
    "thirty": "trente",
    "a hundred": "cent",
}
PREPOSITIONS = {  # English: French, and the kinds of noun that can follow
    "in": ("dans=1", "inside"),
    "at": ("à=1", "at"),
    "near": ("près=1 de=1", "landmark inside at vehicle"),
    "behind": ("derrière=1", "landmark inside furniture"),
    "in front of": ("devant=2~1~3", "landmark inside at"),
    "under": ("sous=1", "furniture"),
    "on": ("sur=1", "furniture"),
}
COMPANY = {"with": "avec=1", "without": "sans=1", "for": "pour=1"}
NEGATIONS = {"not": "pas", "never": "jamais", "no longer": "plus"}
FREQUENCY = {
    "often": "souvent",
    "always": "toujours",
    "sometimes": "parfois",
    "rarely": "rarement",
}
DEGREES = {"very": "très", "too": "trop", "really": "vraiment"}
TIMES = {  # by tense
    "present": {
        "every day": "tous=1 les~1 jours=2",
        "every morning": "tous=1 les~1 matins=2",
        "in summer": "en=1 été=2",
        "in winter": "en=1 hiver=2",
        "on Sundays": "le~1 dimanche=2",
    },
    "progressive": {
        "now": "maintenant=1",
        "today": "aujourd'hui=1",
        "this morning": "ce=1 matin=2",
    },
    "past": {
        "yesterday": "hier=1",
        "last week": "la~2 semaine=2 dernière=1",
        "last year": "l'~2 année=2 dernière=1",
        "this morning": "ce=1 matin=2",
        "on Monday": "lundi=2~1",
        "on Friday": "vendredi=2~1",
        "two days ago": "il~3 y~3 a=3 deux=1 jours=2",
        "in April": "en=1 avril=2",
    },
    "future": {
        "tomorrow": "demain=1",
        "next week": "la~2 semaine=2 prochaine=1",
        "next year": "l'~2 année=2 prochaine=1",
        "this evening": "ce=1 soir=2",
        "on Tuesday": "mardi=2~1",
        "in two hours": "dans=1 deux=2 heures=3",
        "in October": "en=1 octobre=2",
    },
}
CONJUNCTIONS = {
    ", and": ", et",
    ", but": ", mais",
    "because": "parce=1 que=1",
    "while": "pendant=1 que=1",
    "when": "quand=1",
}
QUESTION_ADVERBS = {"where": "où", "when": "quand", "why": "pourquoi"}
