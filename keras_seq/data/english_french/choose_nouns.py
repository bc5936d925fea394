"""Choose who and what a sentence is about."""

from keras_seq.data.english_french import meaning as m
from keras_seq.data.english_french.adjectives import UNFIT
from keras_seq.data.english_french.function_words import (
    COMPANY,
    NUMBERS,
    POSSESSIVES,
    PREPOSITIONS,
)
from keras_seq.data.english_french.nouns import CITIES, MASS, NAMES

PEOPLE = frozenset({"person", "family", "profession"})
ONE = (("the", 42), ("a", 28), ("my", 16), ("this", 10), ("every", 4))
MANY = (
    ("the", 36),
    ("some", 14),
    ("my", 16),
    ("these", 6),
    ("those", 6),
    ("two", 12),
    ("many", 4),
    ("several", 3),
    ("all", 3),
)
MASSES = (("the", 40), ("some", 42), ("my", 14), ("this", 4))
FEWEST_OBJECTS = 8
# What "it" and "them" may refer back to.
DEFINITE = frozenset({"the", "a", "this", "these", "those", *POSSESSIVES})


class NounChoice:
    """Chooses noun phrases, and notes which words it put together.

    Args:
        rng: A `random.Random`.
        lexicon: A `Lexicon`.
        is_avoided: Tells of two words that belong together (an adjective and
            its noun, a verb and its object) whether not to say them.

    Attributes:
        combinations: `{(word, word)}`: adjective and noun, verb and object.
    """

    def __init__(self, rng, lexicon, is_avoided=lambda one, other: False):
        self.rng = rng
        self.lexicon = lexicon
        self.is_avoided = is_avoided
        self.combinations = set()
        # How often phrases grow relative clauses; sentences choose.
        self.relative_share = 0.0

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, options):
        return options[int(self.rng.random() * len(options))]

    def weighted(self, options):
        """Pick one of `((option, weight), ...)`."""
        left = self.rng.random() * sum(weight for _, weight in options)
        for option, weight in options:
            left -= weight
            if left < 0:
                return option
        return options[-1][0]

    # --- phrases --------------------------------------------------------------

    def noun(self, kinds, verb=None):
        """Choose a noun, the object of `verb` if there is one."""
        while True:
            noun = self.pick(self.lexicon.nouns[self.pick(kinds)])
            if verb is None or self.joins(verb, noun):
                return noun

    def phrase(self, kinds, plain=False, verb=None):
        """Choose a noun and what belongs to it.

        Args:
            kinds: Kinds of noun to choose from.
            plain: Whether to leave out owners and relative clauses.
            verb: The verb whose object it is; the combination is noted.
        """
        noun = self.noun(kinds, verb)
        is_mass = noun.kind in MASS
        is_plural = not is_mass and self.chance(0.33)
        articles = MASSES if is_mass else (MANY if is_plural else ONE)
        if noun.kind == "family" and self.chance(0.7):
            articles = (("my", 1),)
        article = self.weighted(articles)
        if article == "my":
            article = self.pick(tuple(POSSESSIVES))
        elif article == "two":
            article = self.pick(tuple(NUMBERS))
        chosen = m.Phrase(noun, article, is_plural)
        if self.chance(0.2):
            chosen.before = self.adjective(self.lexicon.before, noun)
        if self.chance(0.2):
            chosen.after = self.adjective(self.lexicon.after, noun)
        if not plain and article in ("the", "some", "a"):
            if article == "the" and not is_mass and self.chance(0.09):
                chosen.owner = self.owner()
            elif self.chance(self.relative_share):
                chosen.relative = self.relative(chosen)
        return chosen

    def relative(self, head):
        """Return a clause with a gap for `head`, or None."""
        raise NotImplementedError

    def adjective(self, table, noun):
        """Choose an adjective for `noun`; None if it is to be avoided."""
        adjective = self.pick(table[noun.kind])
        pair = (adjective.english, noun.english[0])
        if pair in UNFIT or self.is_avoided(*pair):
            return None
        self.combinations.add(pair)
        return adjective

    def joins(self, verb, noun):
        """Note a verb and its object; False if they are to be avoided."""
        # Were the few objects of "plant" kept out, "plant" would be, too.
        nouns = self.lexicon.nouns
        if sum(len(nouns[kind]) for kind in verb.what) < FEWEST_OBJECTS:
            return True
        name = f"{verb.english[0]} {verb.particle}".rstrip()
        pair = (name, noun.english[0])
        if self.is_avoided(*pair):
            return False
        self.combinations.add(pair)
        return True

    def owner(self):
        if self.chance(0.4):
            return self.name()
        owner = self.phrase(("person", "family", "profession"), plain=True)
        owner.before = owner.after = None
        if owner.article not in DEFINITE:
            owner.article = "the"
        return owner

    def name(self):
        gender = self.pick("mf")
        name = self.pick(NAMES[gender].split())
        return m.Name(name, name, gender)

    def place_name(self):
        """A city, or a country."""
        if self.chance(0.5):
            english, _, french = self.pick(CITIES.split()).partition("/")
            return m.Name(english, french or english, "m", "city")
        country = self.pick(self.lexicon.countries)
        return m.Name(
            country.english[0], country.french[0], "m", country.gender
        )

    # --- subjects and settings ------------------------------------------------

    def somebody(self, kinds):
        """Choose a subject among `kinds`, or a couple, or a name."""
        if PEOPLE & set(kinds) and self.chance(0.22):
            return self.name()
        if self.chance(0.06):
            first = self.phrase(kinds, plain=True)
            if PEOPLE & set(kinds) and self.chance(0.5):
                return m.Couple(self.name(), first)
            return m.Couple(first, self.phrase(kinds, plain=True))
        return self.phrase(kinds)

    def free_pronoun(self, is_first):
        """Choose a pronoun that nothing in the sentence stands behind.

        "They" and "them" are only free in the first clause: later, they
        would be taken to mean what was spoken of.
        """
        persons = [(1, False, "m"), (3, False, "m"), (3, False, "f")]
        persons += [(1, True, "m"), (2, True, "m")]
        if is_first:
            persons.append((3, True, "m"))
        return m.Pronoun(*self.pick(persons))

    def refers_to(self, node):
        """Return the pronoun for a node that was spoken of."""
        return m.Pronoun(3, node.is_plural, node.gender, node.is_thing)

    def where(self, near=True):
        """Choose a place something happens at."""
        if self.chance(0.15):
            preposition = m.Fixed("in", PREPOSITIONS["in"][0])
            return m.Setting(preposition, self.place_name())
        names = ("in", "at", "in", "at", "near", "behind", "in front of")
        if near:
            names += ("on", "under", "on")
        english = self.pick(names)
        french, kinds = PREPOSITIONS[english]
        what = self.phrase(tuple(kinds.split()), plain=True)
        if english == "at":
            self.make_known(what)
        elif what.article in ("every", "many", "several", "some", "all"):
            what.article = "these" if what.is_plural else "the"
        return m.Setting(m.Fixed(english, french), what)

    def make_known(self, what):
        """Make it one that is known: French would not say "à des gares"."""
        what.is_plural = False
        if what.article not in POSSESSIVES:
            what.article = self.pick(("the", "the", "this"))

    def company(self, is_first, english):
        """Choose with whom, or for whom."""
        if self.chance(0.3):
            what = self.free_pronoun(is_first)
        elif self.chance(0.35):
            what = self.name()
        else:
            what = self.phrase(("person", "family", "profession"), plain=True)
        return m.Setting(m.Fixed(english, COMPANY[english]), what)
