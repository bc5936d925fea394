"""Captions whose scores by the COCO evaluation itself are known."""

PREDICTIONS = [
    "A black dog runs on the grass.",
    "Two children aren't playing in the water, they're on the sand",
    "a man in a red T-shirt is riding a bike down a hill",
    "The girl's dog jumps over a fence",
    "a man standing",
    "A group of people sit at a table in front of a (large) building .",
    "a a a dog dog is is running running through the the snow",
]
REFERENCES = [
    [
        "A black dog is running across the green grass .",
        "The dog runs on grass.",
        "A dark dog runs in a field , happily .",
    ],
    [
        "Two kids are playing on the beach.",
        "Children play with sand; the sea is behind them.",
        "They aren't swimming, they're building a sandcastle on the sand !",
        "Two boys dig",
    ],
    [
        "A biker in a red shirt rides downhill .",
        "a man rides his bike down a steep hill",
    ],
    ["A dog leaps over a white fence.", "The girl's dog is in the air"],
    [
        "A tall man in a black suit is standing near a street sign at night .",
        "A man stands by a sign",
        "someone standing",
    ],
    [
        "People are having dinner outside a large building .",
        "A group of friends sit around a table (outdoors) in the evening",
        "Friends sit at a table in front of a building",
    ],
    ["A dog is running through the snow .", "The dog runs through snow ."],
]
