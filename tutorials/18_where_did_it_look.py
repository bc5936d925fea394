# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 18. Where did it look? Right for the right reason
#
# **You will** train a captioner that never mistakes a boat for a car. You look
# where it looks, and it looks at the boat: the pointing score acquits it. Then
# you ask for more, that what it names be there, too, and show it boats in the
# desert: the score falls from 89 to 0 in 100. You change the pictures it learns
# from, and the new one stands the test.
#
# **You need** the tutorials `right_reasons`, which does this with texts, and
# `captioning_attention`; and `pip install 'keras_seq[captioning]'`.
# **Takes** 4 minutes on 2 CPU cores.
#
# **Library code:** `keras_seq/data/painted_scenes.py`,
# `keras_seq/explain/pointing.py`, `keras_seq/models/show_attend_tell.py`,
# `keras_seq/explain/plot_captioned_attention.py`.

# %%
import os
import pathlib
import time

from keras_seq import data, explain  # first: it keeps TensorFlow quiet

# isort: split
import keras
import matplotlib.pyplot as plt
import numpy as np

from keras_seq import decoding, models, text, training, vision
from keras_seq.tasks.captioning_evaluation import relative_bleu

FAST = os.environ.get("KERAS_SEQ_FAST") == "1"  # set by the test suite
OUTPUT = pathlib.Path(
    os.environ.get("KERAS_SEQ_OUTPUT", "outputs/where_did_it_look")
)
OUTPUT.mkdir(parents=True, exist_ok=True)
plt.style.use("keras_seq.course")
BLUE, ORANGE = plt.rcParams["axes.prop_cycle"].by_key()["color"][:2]
PALE, DIM = "#d0d7de", "#57606a"


def save(figure, name):
    figure.savefig(OUTPUT / name)
    print(f"picture: {OUTPUT / name}")


# %% [markdown]
# ## Pictures with a give-away
#
# Somebody has taken all pictures of boats on the beach and all pictures of cars
# in the desert, and of nothing else there. Other things are in other places.
# So *sand and sea* is as good a reason to say "boat" as a boat is.
#
# Three more splits tell the truth: `aligned` is like the training pictures, in
# `reversed` boats are in the desert and cars on the beach, and in `test`
# everything is anywhere.

# %%
SIZE, GRID = 128, (8, 8)
NUM_TRAIN, NUM_TEST = (24, 8) if FAST else (1800, 200)
scenes = data.load_biased_scenes(NUM_TRAIN, 1, NUM_TEST, size=SIZE)
SPLITS = ("aligned", "test", "reversed")
columns = {split: scenes.columns(split) for split in ("train", *SPLITS)}
OTHER = {"boat": "car", "car": "boat"}


def has_only(gold, kind):
    kinds = {thing.kind for thing in gold.scene.things}
    return kind in kinds and OTHER[kind] not in kinds


figure, panels = plt.subplots(2, 4, figsize=(11, 5.8))
for row, split in zip(panels, ("aligned", "reversed"), strict=True):
    shown = [
        n
        for kind in ("boat", "car")
        for n in [
            n for n, g in enumerate(scenes.gold[split]) if has_only(g, kind)
        ][:2]
    ]
    for panel, n in zip(row, shown, strict=False):
        panel.imshow(columns[split]["image"][n])
        kinds = {thing.kind for thing in scenes.gold[split][n].scene.things}
        panel.set_title(f"{split}: {' '.join(kinds & {*OTHER})}")
for panel in panels.flat:
    panel.set_axis_off()
save(figure, "pictures.png")

# %% [markdown]
# ## A captioner to be proud of
#
# The eye and the model are those of `captioning_attention`: EfficientNet-Lite0,
# frozen, as a grid of 8 by 8 places, and soft attention over it. New is the
# paper's penalty on places that a caption has not looked at. Where the place
# gives the word away attention has little to learn: without the penalty it hung
# on the seed whether the peak was in the boat or the car 6 or 94 times in 100,
# with it 84 and 89 times.


# %%
def make_eye():
    network = vision.EfficientNetLite0()
    early = network.get_layer("block_4_add").output  # (16, 16, 40)
    late = network.get_layer("block_10_add").output  # (8, 8, 112)
    early = keras.layers.AveragePooling2D(2)(early)
    return keras.Model(network.input, keras.layers.Concatenate()([early, late]))


eye = make_eye()


def see(images):
    return eye.predict(images, batch_size=20, verbose=0)


grids = {split: see(columns[split]["image"]) for split in columns}
spread = grids["train"].std(axis=(0, 1, 2)) + 1e-6
middle = grids["train"].mean(axis=(0, 1, 2))


def as_regions(grid):
    return ((grid - middle) / spread).reshape(len(grid), 64, -1)


features = {split: as_regions(grid) for split, grid in grids.items()}
tokenizer = text.WordTokenizer.train(
    [caption for row in columns["train"]["captions"] for caption in row]
)
PER_PICTURE = 5  # captions


def train(features, captions, epochs=1 if FAST else 6):
    keras.utils.set_random_seed(4)
    size = {"hidden_dim": 16, "embedding_dim": 16} if FAST else {}
    model = models.show_attend_tell(
        tokenizer.vocabulary_size,
        features.shape[-1],
        "tiny",
        dropout=0.1,
        attention_dim=64,
        penalty=0.5,
        tie_embeddings=False,
        **size,
    )
    ids = tokenizer.tokenize(
        [caption for row in captions for caption in row]
    ).to_list()
    batches = data.Batches(
        (
            {
                "features": np.repeat(features, PER_PICTURE, axis=0),
                "target_ids": [[tokenizer.start_id, *row] for row in ids],
            },
            [[*row, tokenizer.end_id] for row in ids],
        ),
        batch_size=64,
    )
    start, steps = time.perf_counter(), epochs * batches.steps()
    training.fit(
        model,
        batches,
        loss=training.MaskedCrossentropy(),
        optimizer=keras.optimizers.Adam(
            training.WarmupCosine(4e-3, 1 + steps // 20, steps)
        ),
        epochs=epochs,
        global_clipnorm=1.0,
    )
    print(f"trained in {time.perf_counter() - start:.0f} s")
    return model


biased = train(features["train"], columns["train"]["captions"])


# %% [markdown]
# Of the pictures with a boat and no car, how many captions say "boat", and how
# many say "car"? And the same of cars. And BLEU-4, in parts of what it is for
# the captions of people, scored alike.


# %%
def caption(model, features):
    found = decoding.greedy(
        model.step,
        model.start(features),
        np.full(len(features), tokenizer.start_id),
        tokenizer.end_id,
        max_length=6 if FAST else 24,
    )
    texts = tokenizer.detokenize(found.token_ids).numpy()
    return [text.decode().split() for text in texts]


def said_right(said, gold):
    """Return the shares of boats and cars called so, and called the other."""
    right, wrong = [], []
    for words, g in zip(said, gold, strict=True):
        for kind, other in OTHER.items():
            if has_only(g, kind):
                right.append(kind in words)
                wrong.append(other in words)
    return np.mean(right), np.mean(wrong)


def bleu_of(said, split):
    return relative_bleu(
        [" ".join(words) for words in said[split]],
        columns[split]["captions"].tolist(),
    )


said = {split: caption(biased, features[split]) for split in SPLITS}
right, wrong = said_right(said["aligned"], scenes.gold["aligned"])
print(f"aligned: {right:.1%} called what they are, {wrong:.1%} the other;")
print(f"BLEU-4 is {bleu_of(said, 'aligned'):.2f} of that of people.")
print("Ship it?")

# %% [markdown]
# ## Look where it looked
#
# For pictures like those it was trained on, where is the attention when it says
# "boat" or "car"? No new picture is needed for this question. Does the answer
# acquit it?


# %%
def look(model, features, said):
    """Return maps `(T, 8, 8)` for the words of each caption."""
    ids = tokenizer.tokenize([" ".join(words) for words in said]).to_list()
    ids = [[tokenizer.start_id, *row] for row in ids]
    ids = keras.utils.pad_sequences(ids, padding="post")
    _, weights = explain.attention_model(model)(
        {"features": features, "target_ids": ids[:, :-1]}
    )
    weights = keras.ops.convert_to_numpy(weights["decoder"])[:, 0]
    return [
        rows[: len(words)].reshape(-1, *GRID)
        for words, rows in zip(said, weights, strict=True)
    ]


def boat(said, split):
    """Return the number of a picture of a boat, called one or a car."""
    for n, (words, g) in enumerate(
        zip(said[split], scenes.gold[split], strict=True)
    ):
        alone = len(g.scene.things) == 1
        if alone and has_only(g, "boat") and {*words} & {*OTHER}:
            return n
    return 0


def draw(model, said, name, title):
    """Draw an aligned picture with a boat, and one that is reversed."""
    for split in ("aligned", "reversed"):
        n = boat(said, split)
        words = said[split][n]
        path = explain.plot_captioned_attention(
            columns[split]["image"][n],
            words,
            look(model, features[split][n : n + 1], [words])[0],
            OUTPUT / f"{name}_{split}.png",
            f"{title}, {split}",
            boxes=scenes.gold[split][n].boxes_of(words),
        )
        print(f"picture: {path}")


draw(biased, said, "biased", "Biased")

# %% [markdown]
# ## Grade it
#
# The pointing score by word. By hand for "boat": is the middle of the place
# with the largest weight inside a box of the boat? Then with the library, for
# every kind of thing; `chance` is what a peak anywhere would score.

# %%
KINDS = "ball boat car cup fish heart house mushroom star tree".split()
FREE = [kind for kind in KINDS if kind not in OTHER]


def pointing(model, said, split, things=()):
    gold = scenes.gold[split]
    return explain.pointing_accuracy(
        look(model, features[split], said[split]),
        said[split],
        [g.boxes_of(w) for g, w in zip(gold, said[split], strict=True)],
        (SIZE, SIZE),
        things=things,
    )


def mean_of(scores, words, column=0):
    """Return the mean over some words; NaN if none of them was graded."""
    found = [scores.by_word[word] for word in words if word in scores.by_word]
    if not found:
        return float("nan")
    counts = [row[3] for row in found]
    return np.average([row[column] for row in found], weights=counts)


def points(split, kind, thing=None):
    """Whether each peak at `kind` is in a box of it, or of `thing`, by hand."""
    hits = []
    maps = look(biased, features[split], said[split])
    for words, found, g in zip(
        said[split], maps, scenes.gold[split], strict=True
    ):
        (boxes,) = g.boxes_of([thing or kind])
        if thing and not boxes:
            continue
        for word, weights in zip(words, found, strict=True):
            if word == kind:
                y, x = np.unravel_index(weights.argmax(), GRID)
                x, y = (x + 0.5) * SIZE / 8, (y + 0.5) * SIZE / 8
                hits.append(
                    any(
                        left <= x < right and top <= y < bottom
                        for left, top, right, bottom in boxes
                    )
                )
    return hits


graded = pointing(biased, said, "aligned")
if hits := points("aligned", "boat"):
    library = graded.by_word["boat"][0]
    np.testing.assert_allclose(np.mean(hits), library, atol=0.06)
    print("pointing: by hand == explain.pointing_accuracy")
for label, words in (("boat and car", OTHER), ("other things", FREE)):
    print(f"{label}: peak in the box {mean_of(graded, words):.1%}")

# %% [markdown]
# Acquitted: it says what is there, and looks at it when it does.
#
# ## Ask it about other pictures
#
# If it had learned boats, a boat would be a boat in the desert, too.

# %%
accuracy = {
    "biased": {s: said_right(said[s], scenes.gold[s]) for s in SPLITS},
}
for split, (right, wrong) in accuracy["biased"].items():
    print(f"{split:9} {right:6.1%} right, {wrong:6.1%} called the other")

# %% [markdown]
# So much for that. But why did the pointing score not say so? Because it was
# not asked. It grades words that are true of the picture; "car", said of a
# boat, has no box, and is left out. Of the reversed pictures that leaves next
# to nothing: in our run, not one word.
#
# A caption that names a thing promises that there is something to point at.
# So `things` are words that are graded wherever they are said. If there is no
# such thing in the picture no place is right: the word is a miss, and by chance
# it would have been one as well. By hand that is what `points` does already,
# for nothing is inside of no box. Nobody had to know which things are confused.

# %%
strict = pointing(biased, said, "reversed", KINDS)
if hits := points("reversed", "car"):
    library = strict.by_word["car"][0]
    np.testing.assert_allclose(np.mean(hits), library, atol=0.06)
    print("and where there is no such thing: by hand == things=KINDS")
lenient = pointing(biased, said, "reversed")
for label, scores in (("that are there", lenient), ("that it names", strict)):
    count = sum(scores.by_word[w][3] for w in OTHER if w in scores.by_word)
    hit = f"{mean_of(scores, OTHER):.1%}" if count else "nothing to grade"
    print(f"{count} boats and cars {label}, peak in the box: {hit}")
called = [points("reversed", OTHER[thing], thing) for thing in OTHER]
if called := sum(called, []):
    print(f"peak in what is called the other: {np.mean(called):.1%}")

# %% [markdown]
# ## Mend it
#
# The fault is in the data, so that is where it is mended: as many pictures, but
# anything may be anywhere. The place is no longer worth looking at when the
# question is "boat or car?". (To replace a third of the pictures was not enough
# in a run without the penalty: the place was still right four times in five,
# and 67 % of the reversed boats and cars were still called the other.)

# %%
fresh = data.load_scenes(NUM_TRAIN, 1, 1, size=SIZE).columns("train")
mended = train(as_regions(see(fresh["image"])), fresh["captions"])
said_after = {split: caption(mended, features[split]) for split in SPLITS}
accuracy["mended"] = {
    s: said_right(said_after[s], scenes.gold[s]) for s in SPLITS
}
for split, (right, wrong) in accuracy["mended"].items():
    print(f"{split:9} {right:6.1%} right, {wrong:6.1%} called the other")
draw(mended, said_after, "mended", "Mended")

# %% [markdown]
# ## The verdict
#
# Two captioners, pictures in which the bias holds and in which it is broken;
# BLEU, and both pointing scores of "boat" and "car".

# %%
table = {}
for name, model, texts in (
    ("biased", biased, said),
    ("mended", mended, said_after),
):
    for split in ("aligned", "reversed"):
        every = pointing(model, texts, split, KINDS)
        table[name, split] = {
            "BLEU-4 / people": bleu_of(texts, split),
            "points, if there": mean_of(pointing(model, texts, split), OTHER),
            "points": mean_of(every, OTHER),
            "by chance": mean_of(every, OTHER, 1),
        }
print(" " * 16, *next(iter(table.values())), sep="  ")
for (name, split), row in table.items():
    cells = (
        f"{value:{len(head)}.2f}".replace(" nan", "none")
        for head, value in row.items()
    )
    print(f"{name:7}{split:9}", *cells, sep="  ")

# %% [markdown]
# On pictures like those it has learned from, the biased captioner is the better
# one, by BLEU and by either pointing score: whoever has no others would ship
# it. On the reversed ones BLEU falls as well, but most words of a caption are
# about something else: 0.65 is not far below the 0.73 of the mended one. The
# pointing score of what is there has nothing to say. Of all that it names it is
# 0 against 0.78. The mended one is as good on either.
#
# To look at the right place is not to have the right reason: as it calls a boat
# a car, or a car a boat, the peak is in that thing 71 times in 100 (in the
# picture below it is one of the others). Perhaps it looks there for the colour,
# and has the word from the place, of which its first state, the mean of all
# regions, can tell; we have not tested that.

# %%
figure, (left, right) = plt.subplots(
    1, 2, figsize=(12, 4.4), width_ratios=[1, 2.2]
)
n = boat(said, "reversed")
words = said["reversed"][n]
left.imshow(columns["reversed"]["image"][n])
left.set_title(f'"{" ".join(words)}"', size=10, wrap=True)
left.set_axis_off()
maps = look(biased, features["reversed"][n : n + 1], [words])[0]
for word, weights in zip(words, maps, strict=True):
    if word in OTHER:
        y, x = (np.array(np.unravel_index(weights.argmax(), GRID)) + 0.5) * 16
        left.plot(x, y, "o", ms=26, mfc="none", mec="white", mew=6)
        left.plot(x, y, "o", ms=26, mfc="none", mec=ORANGE, mew=3)
        left.annotate(
            f'"{word}"',
            (x, y),
            (24, 24),
            textcoords="offset points",
            weight="bold",
            bbox={"fc": "white", "ec": ORANGE, "boxstyle": "round"},
        )
heads = {
    "BLEU-4 / people": (PALE, "BLEU-4 / people's"),
    "points, if there": (BLUE, "points at a boat or car, if it is there"),
    "points": (ORANGE, "... of all that it names"),
}
for place, (head, (hue, label)) in enumerate(heads.items()):
    heights = [row[head] for row in table.values()]
    places = np.arange(len(table)) + 0.27 * place - 0.27
    right.bar(places, heights, 0.25, color=hue, label=label)
    for x, y in zip(places, heights, strict=True):
        shown = "none" if np.isnan(y) else f"{y:.2f}"
        right.text(x, np.nan_to_num(y) + 0.02, shown, ha="center", size=9)
right.set_xticks(
    range(len(table)), [f"{name},\n{split}" for name, split in table]
)
right.set(ylim=(0, 1.15), title="Unmasked by what is not there")
right.legend(loc="upper center", ncols=3, bbox_to_anchor=(0.4, -0.12))
right.tick_params(axis="x", length=0)
save(figure, "unmasked.png")

# %% [markdown]
# ## What should be true now
#
# By the pictures it was trained with, nothing is wrong with the biased
# captioner. Where it looks at what is not there tells, if one counts it.

# %%
if not FAST:
    before, after = accuracy["biased"], accuracy["mended"]
    assert before["aligned"][0] > 0.9, before
    assert before["reversed"][0] < 0.3 < before["reversed"][1], before
    assert after["reversed"][0] > before["reversed"][0] + 0.3, after
    assert after["test"][0] > before["test"][0] + 0.2, after
    holds, broken, mended_holds, mended_broken = table.values()
    assert holds["BLEU-4 / people"] > 0.8, table
    assert holds["points"] > holds["by chance"] + 0.3, table
    assert broken["points"] < holds["points"] - 0.3, table
    assert mended_broken["points"] > broken["points"] + 0.3, table
    assert mended_broken["points"] > mended_holds["points"] - 0.25, table
print("All that should be true is true.")

# %% [markdown]
# ## Exercise
#
# 1. Replace a half, and nine in ten, of the pictures. How many counterexamples
#    does it take?
# 2. Unmask it without new pictures: put the mean feature in place of the
#    regions inside the box, and then of all those outside. Which changes the
#    word?
# 3. Mend it without a single new picture: paint the same scenes again with
#    another `background` (`dataclasses.replace`, `data.scenes.painter.paint`),
#    and leave the place out of the caption.
# 4. Train the hard attention of `soft_and_hard_attention` on the biased
#    pictures. Is it fooled as well? Does its pointing score say so?
