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
# where it looks, and it looks at the boat; all seems well. New pictures show
# that it is wrong as surely as it was right: it looks at a boat in the desert,
# and says "car". To look at the right place is not to have the right reason.
# You change the pictures it learns from, and ask again.
#
# **You need** the tutorials `right_reasons`, which does this with texts, and
# `captioning_attention`; and `pip install 'keras_seq[captioning]'`.
# **Takes** 3 minutes on 2 CPU cores.
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

FAST = os.environ.get("KERAS_SEQ_FAST") == "1"  # set by the test suite
OUTPUT = pathlib.Path(
    os.environ.get("KERAS_SEQ_OUTPUT", "outputs/where_did_it_look")
)
OUTPUT.mkdir(parents=True, exist_ok=True)
plt.style.use("keras_seq.course")
BLUE, ORANGE, GREEN = plt.rcParams["axes.prop_cycle"].by_key()["color"][:3]
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
# frozen, as a grid of 8 by 8 places, and soft attention over it.


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
PER_PICTURE = 3  # of the five captions


def train(features, captions, epochs=1 if FAST else 6):
    keras.utils.set_random_seed(4)
    size = {"hidden_dim": 16, "embedding_dim": 16} if FAST else {}
    model = models.show_attend_tell(
        tokenizer.vocabulary_size,
        features.shape[-1],
        "tiny",
        dropout=0.1,
        attention_dim=64,
        **size,
    )
    ids = tokenizer.tokenize(
        [caption for row in captions for caption in row[:PER_PICTURE]]
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
# many say "car"? And the same of cars.


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


said = {split: caption(biased, features[split]) for split in SPLITS}
right, wrong = said_right(said["aligned"], scenes.gold["aligned"])
print(f"aligned: {right:.1%} called what they are, {wrong:.1%} the other.")
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


def draw(model, said, name, title):
    """Draw an aligned picture with a boat, and one that is reversed."""
    for split in ("aligned", "reversed"):
        gold = scenes.gold[split]
        maps = look(model, features[split], said[split])
        n = next(
            (
                n
                for n, (words, g) in enumerate(
                    zip(said[split], gold, strict=True)
                )
                if has_only(g, "boat") and {*words} & {*OTHER}
                and len(words) <= 11
            ),
            0,
        )  # fmt: skip
        path = explain.plot_captioned_attention(
            columns[split]["image"][n],
            said[split][n],
            maps[n],
            OUTPUT / f"{name}_{split}.png",
            f"{title}, {split}",
            boxes=gold[n].boxes_of(said[split][n]),
        )
        print(f"picture: {path}")


draw(biased, said, "biased", "Biased")

# %% [markdown]
# ## Grade it
#
# The pointing score by word. By hand for "boat": is the middle of the place
# with the largest weight inside the boat's box? Then with the library, for
# every kind of thing; `chance` is what a peak anywhere would score.

# %%
KINDS = "ball boat car cup fish heart house mushroom star tree".split()
FREE = [kind for kind in KINDS if kind not in OTHER]


def pointing(model, said, split="aligned"):
    gold = scenes.gold[split]
    return explain.pointing_accuracy(
        look(model, features[split], said[split]),
        said[split],
        [g.boxes_of(w) for g, w in zip(gold, said[split], strict=True)],
        (SIZE, SIZE),
    )


def mean_of(scores, words, column=0):
    found = [scores.by_word[word] for word in words if word in scores.by_word]
    counts = [row[3] for row in found]
    return (
        np.average([r[column] for r in found], weights=counts) if found else 0
    )


graded = {"biased": pointing(biased, said)}
hits = []
maps = look(biased, features["aligned"], said["aligned"])
for words, found, g in zip(
    said["aligned"], maps, scenes.gold["aligned"], strict=True
):
    for word, weights in zip(words, found, strict=True):
        boxes = g.boxes_of([word])[0] if word == "boat" else ()
        if boxes:
            y, x = np.unravel_index(weights.argmax(), GRID)
            x, y = (x + 0.5) * SIZE / 8, (y + 0.5) * SIZE / 8
            left, top, right_edge, bottom = boxes[0]
            hits.append(left <= x < right_edge and top <= y < bottom)
if hits:
    library = graded["biased"].by_word["boat"][0]
    np.testing.assert_allclose(np.mean(hits), library, atol=0.06)
    print("pointing: by hand == explain.pointing_accuracy")
for label, words in (("boat and car", OTHER), ("other things", FREE)):
    print(f"{label}: peak in the box {mean_of(graded['biased'], words):.1%}")

# %% [markdown]
# ## Ask it about other pictures
#
# The proof. If it had learned boats, a boat would be a boat in the desert too.
#
# In our run the peak was inside the boat or the car 86 times in 100, more
# often than for other things (69), and still 91 % of the reversed ones were
# called the other. Perhaps it looks there for the colour, and has the word from
# the place, of which its first state, the mean of all regions, can tell; we
# have not tested that. At any rate the pointing score did **not** unmask this
# captioner. (In a run with another seed attention had not learned anything, for
# any word: 4 in 100 for boats and cars and 11 for other things, by chance 10.)

# %%
accuracy = {
    "biased": {s: said_right(said[s], scenes.gold[s]) for s in SPLITS},
}
for split, (right, wrong) in accuracy["biased"].items():
    print(f"{split:9} {right:6.1%} right, {wrong:6.1%} called the other")

# %% [markdown]
# ## Mend it
#
# The fault is in the data, so that is where it is mended: as many pictures, but
# anything may be anywhere. The place is no longer worth looking at when the
# question is "boat or car?". (To replace a third of the pictures was not enough
# in a run of ours: the place was still right four times in five, and 67 % of
# the reversed boats and cars were still called the other.)

# %%
fresh = data.load_scenes(NUM_TRAIN, 1, 1, size=SIZE).columns("train")
mended = train(as_regions(see(fresh["image"])), fresh["captions"])
said_after = {split: caption(mended, features[split]) for split in SPLITS}
accuracy["mended"] = {
    s: said_right(said_after[s], scenes.gold[s]) for s in SPLITS
}
graded["mended"] = pointing(mended, said_after)
for split, (right, wrong) in accuracy["mended"].items():
    print(f"{split:9} {right:6.1%} right, {wrong:6.1%} called the other")
draw(mended, said_after, "mended", "Mended")

# %% [markdown]
# The whole story in one picture.

# %%
figure, (left, right) = plt.subplots(
    1, 2, figsize=(12, 4.4), width_ratios=[1.3, 1]
)
hues = {"biased": ORANGE, "mended": BLUE}
for n, name in enumerate(accuracy):
    places = np.arange(3) + 0.4 * n - 0.2
    heights = [accuracy[name][split][0] for split in SPLITS]
    left.bar(places, heights, 0.36, color=hues[name], label=name)
    for x, y in zip(places, heights, strict=True):
        left.text(x, y + 0.01, f"{y:.0%}", ha="center", size=9)
    heights = [mean_of(graded[name], words) for words in (OTHER, FREE)]
    places = np.arange(2) + 0.4 * n - 0.2
    right.bar(places, heights, 0.36, color=hues[name])
    for x, y in zip(places, heights, strict=True):
        right.text(x, y + 0.01, f"{y:.0%}", ha="center", size=9)
left.set_xticks(
    range(3), ["aligned\n(as in training)", "test\n(anywhere)", "reversed"]
)
left.set(ylim=(0, 1.1), title="Boats and cars called what they are")
left.legend(loc="lower left", ncols=2, bbox_to_anchor=(0, -0.34))
right.set_xticks(range(2), ["boat, car", "other things"])
right.set(ylim=(0, 1.1), title="Peak inside the thing (aligned)")
chance = mean_of(graded["biased"], KINDS, 1)
right.axhline(chance, color=DIM, linestyle=":")
right.text(1.4, chance + 0.02, "by chance", ha="right", color=DIM)
for panel in (left, right):
    panel.tick_params(axis="x", length=0)
save(figure, "mended.png")

# %% [markdown]
# ## What should be true now
#
# By the pictures it was trained with, nothing is wrong with the biased
# captioner, and where it looks need not tell. Boats in the desert do.

# %%
if not FAST:
    before, after = accuracy["biased"], accuracy["mended"]
    assert before["aligned"][0] > 0.9, before
    assert before["reversed"][0] < 0.3 < before["reversed"][1], before
    assert after["reversed"][0] > before["reversed"][0] + 0.3, after
    assert after["test"][0] > before["test"][0] + 0.2, after
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
