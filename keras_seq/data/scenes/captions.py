"""Say what is in a scene, in five ways, and where each word is to be seen.

A caption is first a list of `(word, boxes)`: words that say something about
the picture have the boxes of what they say it about; others have none.
"""

from keras_seq.data.scenes import wording
from keras_seq.data.scenes.meaning import RELATIONS

NUM_CAPTIONS = 5


class Narrator:
    """Writes captions of one scene.

    Args:
        rng: A `random.Random`.
        scene: A `Scene`.
        boxes: One box for each thing.
        regions: `{part of the background: box}`.
    """

    def __init__(self, rng, scene, boxes, regions):
        self.rng, self.scene = rng, scene
        self.boxes, self.regions = boxes, regions

    def captions(self):
        """Return five different captions, as lists of `(word, boxes)`."""
        found = {}
        while len(found) < NUM_CAPTIONS:
            plans = list(self._plans())
            self.rng.shuffle(plans)
            for plan in plans[: NUM_CAPTIONS - len(found)]:
                tokens = _finish(plan())
                found.setdefault(spell(tokens), tokens)
        return list(found.values())

    def words(self):
        """Return `{word: boxes}` of all words that are true of the scene."""
        found = {}
        for number, thing in enumerate(self.scene.things):
            for word in (thing.kind, *_adjectives(thing)):
                found.setdefault(word, []).append(self.boxes[number])
        for phrase in wording.PLACE_PHRASES[self.scene.background]:
            for word, part in (w for w in phrase if isinstance(w, tuple)):
                found.setdefault(word, []).append(self.regions[part])
        if self.scene.relation:
            one, name, two = self.scene.relation
            for either in (name, RELATIONS[name]):
                for phrase in wording.RELATION_WORDS[either]:
                    for word in wording.RELATION_CONTENT & set(phrase):
                        found[word] = [self.boxes[one], self.boxes[two]]
        return {word: tuple(boxes) for word, boxes in found.items()}

    def _plans(self):
        if self.scene.relation is None:
            return (
                lambda: self._a(0) + self._place(),
                lambda: _plain("there is") + self._a(0) + self._place(),
                lambda: self._place() + _plain("there is") + self._a(0),
                lambda: _plain("a picture of") + self._a(0),
                lambda: _plain("we see") + self._a(0) + self._place(),
                self._statement,
            )
        one, name, two = self.scene.relation
        back = RELATIONS[name]
        plans = [
            lambda: self._pair(one, name, two) + self._place(),
            lambda: self._pair(one, name, two, "is"),
            lambda: self._pair(two, back, one),
            lambda: _plain("there is") + self._pair(two, back, one),
            lambda: self._place() + self._pair(one, name, two, "is"),
            lambda: self._list(one, two) + self._place(),
        ]
        if len(self.scene.things) == 3:
            plans[-1] = lambda: self._list(one, two, 2) + self._place()
            plans += [
                lambda: self._pair(one, name, two) + _plain("and") + self._a(2),
                lambda: _plain("a picture of") + self._list(2, two, one),
            ]
        return plans

    def _pair(self, one, name, two, verb=""):
        both = (self.boxes[one], self.boxes[two])
        relation = [
            (word, both if word in wording.RELATION_CONTENT else ())
            for word in self.rng.choice(wording.RELATION_WORDS[name])
        ]
        return self._a(one) + _plain(verb) + relation + self._a(two)

    def _list(self, *numbers):
        *first, last = map(self._a, numbers)
        listed = [token for phrase in first for token in (*phrase, (",", ()))]
        return listed[:-1] + _plain("and") + last

    def _statement(self):
        """The fish on the grass is red and striped."""
        thing, boxes = self.scene.things[0], (self.boxes[0],)
        said = self._some_adjectives(thing, least=1)
        tokens = [("the", ()), (thing.kind, boxes), *self._place()]
        tokens += _plain("is")
        for place, word in enumerate(said):
            if place:
                tokens += _plain("and" if place == len(said) - 1 else ",")
            tokens.append((word, boxes))
        return tokens

    def _a(self, number):
        """A thing with its article and some of its adjectives."""
        thing, boxes = self.scene.things[number], (self.boxes[number],)
        article = "the" if self.rng.random() < 0.12 else "a"
        words = (*self._some_adjectives(thing), thing.kind)
        return [(article, ()), *((word, boxes) for word in words)]

    def _place(self):
        phrases = wording.PLACE_PHRASES[self.scene.background]
        return [
            (word[0], (self.regions[word[1]],))
            if isinstance(word, tuple)
            else (word, ())
            for word in self.rng.choice(phrases)
        ]

    def _some_adjectives(self, thing, least=0):
        """Choose what to mention; the colour, mostly."""
        offers = (
            (wording.SIZE_WORDS[thing.size], 0.55),
            (wording.POSE_WORDS[thing.pose], 0.55),
            (wording.TEXTURE_WORDS[thing.texture], 0.6),
            ((thing.colour,), 0.85),
        )
        said = [
            self.rng.choice(words)
            for words, often in offers
            if words and self.rng.random() < often
        ]
        return said if len(said) >= least else [thing.colour]


def spell(tokens):
    """Join words to a sentence."""
    text = " ".join(word for word, _ in tokens)
    text = text.replace(" ,", ",").replace(" .", ".")
    return text[0].upper() + text[1:]


def _adjectives(thing):
    return (
        *wording.SIZE_WORDS[thing.size],
        *wording.POSE_WORDS[thing.pose],
        *wording.TEXTURE_WORDS[thing.texture],
        thing.colour,
    )


def _plain(text):
    return [(word, ()) for word in text.split()]


def _finish(tokens):
    """Choose between "a" and "an", and end with a full stop."""
    following = [word for word, _ in tokens[1:]] + [""]
    tokens = [
        ("an", boxes)
        if word == "a" and after[:1] in "aeiou" and after
        else (word, boxes)
        for (word, boxes), after in zip(tokens, following, strict=True)
    ]
    return [*tokens, (".", ())]
