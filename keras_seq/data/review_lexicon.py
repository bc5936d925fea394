"""The words of the review writer, and which of them go together.

An adjective belongs to a kind of thing ("food" can be stale, "people" rude) or
to "any". The first list of a pair is gradable, so that "very" and "not" fit
("not good" is bad); the second is extreme ("not superb" would say little).
"""

ADJECTIVES = {
    "any": {
        1: (
            "good nice fine impressive pleasing enjoyable memorable "
            "satisfying decent special remarkable",
            "wonderful great superb fantastic excellent magnificent terrific "
            "marvellous outstanding fabulous perfect exceptional splendid "
            "sublime amazing flawless glorious",
        ),
        0: (
            "bad poor disappointing mediocre forgettable annoying unpleasant "
            "tiresome underwhelming irritating lousy frustrating",
            "terrible awful dreadful horrible atrocious appalling abysmal "
            "dire hopeless woeful ghastly pathetic disastrous unbearable",
        ),
    },
    "story": {
        1: (
            "clever original touching witty engaging convincing thoughtful "
            "exciting imaginative believable",
            "enthralling riveting spellbinding hilarious brilliant",
        ),
        0: (
            "dull predictable boring clumsy confusing tedious silly shallow "
            "contrived pretentious",
            "incoherent mindless laughable idiotic nonsensical",
        ),
    },
    "people": {
        1: (
            "charming charismatic lively compelling expressive likeable",
            "captivating unforgettable phenomenal delightful",
        ),
        0: (
            "wooden lifeless stiff charmless dreary amateurish",
            "insufferable excruciating clueless",
        ),
    },
    "service": {
        1: (
            "friendly helpful polite attentive efficient cheerful courteous "
            "welcoming kind",
            "impeccable faultless delightful",
        ),
        0: (
            "rude slow unhelpful careless surly inattentive unfriendly "
            "impatient grumpy",
            "insulting hostile useless",
        ),
    },
    "food": {
        1: (
            "tasty fresh flavourful appetising tempting wholesome",
            "delicious mouth-watering exquisite divine",
        ),
        0: (
            "bland stale tasteless overpriced unappetising skimpy",
            "inedible disgusting revolting vile",
        ),
    },
    "place": {
        1: (
            "clean cosy comfortable spacious quiet bright inviting tidy",
            "spotless luxurious palatial immaculate",
        ),
        0: (
            "dirty cramped noisy damp shabby gloomy uncomfortable smelly",
            "filthy squalid disgusting mouldy",
        ),
    },
    "device": {
        1: (
            "reliable practical dependable efficient well-made durable sturdy",
            "unbeatable ingenious rock-solid",
        ),
        0: (
            "unreliable flimsy faulty fragile outdated temperamental "
            "impractical",
            "useless unusable",
        ),
    },
    "sound": {
        1: (
            "rich warm clear powerful balanced pleasant",
            "heavenly breathtaking stunning",
        ),
        0: (
            "tinny muffled shrill flat harsh thin",
            "ear-splitting excruciating",
        ),
    },
    "look": {
        1: (
            "beautiful elegant stylish colourful attractive tasteful",
            "gorgeous stunning dazzling breathtaking",
        ),
        0: (
            "ugly drab garish dated tacky gaudy",
            "hideous revolting",
        ),
    },
}

# What a review can be about: the thing itself, its parts by kind (one, then
# many), what people do with it, and how it is spoken of in the past or present.
DOMAINS = {
    "film": {
        "kind": "story",
        "topics": "film movie thriller comedy drama",
        "parts": {
            "story": "plot script ending dialogue | jokes twists scenes",
            "people": "lead cast villain | actors performances",
            "sound": "soundtrack score",
            "look": "photography scenery | costumes effects sets",
        },
        "doing": "watching it",
        "again": "watch it again",
        "tenses": "past present",
    },
    "book": {
        "kind": "story",
        "topics": "book novel biography sequel paperback",
        "parts": {
            "story": "plot ending opening premise | chapters essays poems",
            "people": "narrator hero | characters",
            "look": "cover | illustrations maps photographs",
        },
        "doing": "reading it",
        "again": "read it again",
        "tenses": "past present",
    },
    "restaurant": {
        "kind": "place",
        "topics": "restaurant bistro cafe brasserie diner",
        "parts": {
            "food": "soup pasta steak bread curry fish dessert salad | "
            "noodles vegetables starters dumplings",
            "service": "waiter waitress service | waiters staff",
            "place": "terrace courtyard basement",
        },
        "doing": "eating there",
        "again": "eat there again",
        "tenses": "past",
    },
    "hotel": {
        "kind": "place",
        "topics": "hotel guesthouse hostel inn resort",
        "parts": {
            "place": "room bathroom lobby lounge | corridors",
            "service": "receptionist porter manager | staff cleaners",
            "food": "breakfast coffee buffet | pastries omelettes",
            "look": "garden decor | curtains",
        },
        "doing": "staying there",
        "again": "stay there again",
        "tenses": "past",
    },
    "phone": {
        "kind": "device",
        "topics": "phone handset smartphone model device",
        "parts": {
            "device": "battery keyboard camera charger processor touchscreen "
            "| buttons menus",
            "sound": "speaker ringtone microphone | headphones",
            "look": "design display casing | icons",
        },
        "doing": "buying it",
        "again": "buy it again",
        "tenses": "present",
    },
    "concert": {
        "kind": "any",
        "topics": "concert gig show recital performance",
        "parts": {
            "sound": "bass guitar piano choir | drums violins vocals",
            "people": "singer drummer pianist conductor | musicians",
            "place": "hall venue balcony foyer",
            "look": "lighting staging | costumes",
        },
        "doing": "going",
        "again": "go again",
        "tenses": "past",
    },
}

# (past, base) of what one feels, and nouns that are a verdict by themselves.
VERBS = {
    1: "loved/love enjoyed/enjoy liked/like adored/adore admired/admire "
    "appreciated/appreciate",
    0: "hated/hate disliked/dislike loathed/loathe detested/detest "
    "resented/resent",
}
NOUNS = {
    1: "masterpiece triumph delight joy treat gem winner success treasure",
    0: "disappointment bore chore letdown mess disaster failure flop nightmare",
}
NEGATED_NOUNS = {  # flipped, they still say something
    1: "disappointment bore chore letdown failure",
    0: "masterpiece triumph delight treat success",
}

GRADES = {
    "gradable": "very really so truly remarkably",
    "extreme": "absolutely simply truly really",
}
# Each denies the adjective after it; "not" and its verb may become "wasn't".
NEGATORS = ("not", "not", "not", "hardly", "far from", "anything but")
# Between a report of what others think and the writer's own verdict.
OPENERS = ("for me,", "to my mind,", "in my view,", "I found that")

PEOPLE = (
    "my sister",
    "my brother",
    "my cousin",
    "my boss",
    "my neighbour",
    "a colleague",
    "a friend",
    "the critic in my paper",
    "our guide",
    "my flatmate",
)
