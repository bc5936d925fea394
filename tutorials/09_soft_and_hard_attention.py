# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 9. Soft and hard attention
#
# **You will** see the two kinds of attention of Xu et al. (2015) side by side.
# *Soft* attention mixes all places, and its gradient comes by itself. *Hard*
# attention draws one place and looks only there: no gradient passes through a
# draw, so it has to learn from how well it went. You derive that estimator
# (REINFORCE), see why it needs a baseline and an entropy term, check that the
# library computes the same, train both, and grade where each of them looks.
#
# **You need** the tutorial `captioning_attention`, and
# `pip install 'keras_seq[captioning]'`. **Takes** 3 minutes on 2 CPU cores.
#
# **Library code:** `keras_seq/training/hard_attention.py`,
# `keras_seq/layers/hard_attentive_lstm.py`, `keras_seq/ops/hard_attention.py`,
# `keras_seq/models/show_attend_tell.py`.

# %%
import os
import pathlib
import time

from keras_seq import data, explain  # first: it keeps TensorFlow quiet

# isort: split
import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf

from keras_seq import decoding, models, text, training, vision
from keras_seq.explain.gradients import gradients
from keras_seq.ops.hard_attention import choice_entropy, choice_log_probability
from keras_seq.tasks.captioning_scores import captioning_scores

FAST = os.environ.get("KERAS_SEQ_FAST") == "1"  # set by the test suite
OUTPUT = pathlib.Path(
    os.environ.get("KERAS_SEQ_OUTPUT", "outputs/soft_and_hard_attention")
)
OUTPUT.mkdir(parents=True, exist_ok=True)
plt.style.use("keras_seq.course")
BLUE, ORANGE, GREEN = plt.rcParams["axes.prop_cycle"].by_key()["color"][:3]
PALE, DIM = "#d0d7de", "#57606a"
rng = np.random.default_rng(0)


def save(figure, name):
    figure.savefig(OUTPUT / name)
    print(f"picture: {OUTPUT / name}")


# %% [markdown]
# ## A mean, or a draw
#
# Five places with features $a_i$, and attention $\alpha$ over them. Soft
# attention looks at the mean, hard attention at one place that is drawn:
#
# $$ z_\mathrm{soft} = \sum_i \alpha_i a_i, \qquad
#    s \sim \alpha, \quad z_\mathrm{hard} = a_s, \qquad
#    \mathbb{E}[z_\mathrm{hard}] = z_\mathrm{soft} . $$
#
# The mean of many draws is what soft attention sees at once.


# %%
def softmax(x):
    x = np.exp(x - x.max())
    return x / x.sum()


e = np.array([0.2, 1.2, -0.5, 0.4, 0.0])  # scores
alpha = softmax(e)
a = rng.normal(size=(5, 3))
z_soft = alpha @ a
drawn = rng.choice(5, size=40_000, p=alpha)
np.testing.assert_allclose(a[drawn].mean(axis=0), z_soft, atol=0.03)
print("alpha", alpha.round(2), " mean of the draws == soft")

# %% [markdown]
# ## Learning from how well it went
#
# Say that after looking at place $i$, the caption gets the log-probability
# $R_i$. Soft attention could follow the gradient through the mean. Hard
# attention wants a high reward on the average, $J = \sum_i \alpha_i R_i$, whose
# gradient by the scores $e_j$ is
#
# $$ \frac{\partial J}{\partial e_j}
#    = \sum_i R_i\, \alpha_i \frac{\partial \log \alpha_i}{\partial e_j}
#    = \mathbb{E}_{s \sim \alpha}\Bigl[
#        R_s \frac{\partial \log \alpha_s}{\partial e_j} \Bigr],
#    \qquad \frac{\partial \log \alpha_s}{\partial e_j}
#    = [s = j] - \alpha_j . $$
#
# So one draw is enough for an *estimate* (REINFORCE; Williams, 1992): raise the
# probability of what was drawn, as much as it was rewarded. All rewards here
# are negative, so it always pushes away from what it drew, and is right only on
# the average. Subtract a **baseline** $b$ that does not depend on the draw, and
# what is better than usual is pulled, the rest is pushed; the mean stays, since
# $\mathbb{E}[[s = j] - \alpha_j] = 0$.

# %%
R = np.array([-9.0, -6.0, -9.5, -9.0, -8.5])  # place 1 is the right one
J = alpha @ R
exact = alpha * (R - J)


def estimates(drawn, baseline):
    score = np.eye(5)[drawn] - alpha  # (n, 5)
    return (R[drawn] - baseline)[:, None] * score


baseline = 0.0  # a moving average, as in the paper
for s in drawn[:200]:
    baseline = 0.9 * baseline + 0.1 * R[s]
spread = {}
for name, b in (("no baseline", 0.0), ("baseline", baseline)):
    found = estimates(drawn, b)
    np.testing.assert_allclose(found.mean(axis=0), exact, atol=0.06)
    spread[name] = found.std(axis=0).mean()
    print(f"{name:12} mean {found.mean(axis=0).round(2)}, "
          f"spread {spread[name]:.2f}")  # fmt: skip
print("exact gradient   ", exact.round(2))

figure, axes = plt.subplots(figsize=(8.5, 4))
counts = np.unique(np.geomspace(1, 4000, 60).astype(int))
for name, b, hue in (
    ("no baseline", 0.0, ORANGE),
    ("baseline: a moving average", baseline, BLUE),
):
    found = estimates(drawn, b).reshape(10, 4000, 5)
    means = found.cumsum(axis=1) / np.arange(1, 4001)[:, None]
    error = np.linalg.norm(means - exact, axis=-1).mean(axis=0)
    axes.loglog(counts, error[counts - 1], color=hue, label=name)
axes.set(xlabel="draws", ylabel="distance from the exact gradient")
axes.set_title("Both are right on the average, one much sooner")
axes.legend()
save(figure, "reinforce.png")

# %% [markdown]
# The last ingredient is the **entropy** $H = -\sum_i \alpha_i \log \alpha_i$. A
# model that is sure too soon draws the same place for ever and never learns of
# another, so a little of $\partial H / \partial e_j = -\alpha_j (\log \alpha_j
# + H)$ is added. The library's two functions give these very gradients:

# %%
places = drawn[:50]
choices = np.eye(5, dtype="float32")[places][None]  # (1, T, N)
advantage = (R[places] - baseline).astype("float32")


def by_library(function):
    def total(scores):
        weights = keras.ops.softmax(scores + np.zeros((1, 50, 1), "float32"))
        return function(weights)

    return gradients(total, [e[None, None].astype("float32")])[0][0, 0]


score = by_library(
    lambda w: keras.ops.sum(advantage * choice_log_probability(w, choices))
)
np.testing.assert_allclose(
    score, estimates(places, baseline).sum(axis=0), rtol=1e-3, atol=1e-3
)
H = -(alpha * np.log(alpha)).sum()
entropy = by_library(lambda w: keras.ops.sum(choice_entropy(w))) / 50
np.testing.assert_allclose(entropy, -alpha * (np.log(alpha) + H), atol=1e-4)
print("score and entropy: by hand == ops.hard_attention")

# %% [markdown]
# ## The whole objective
#
# For a caption $y$ of many words, each with its draw, section 4 of the paper
# follows
#
# $$ \frac{\partial \log p(y \mid s)}{\partial W}
#    + \lambda_r \bigl(\log p(y \mid s) - b\bigr)
#      \frac{\partial \log p(s)}{\partial W}
#    + \lambda_e \frac{\partial H[s]}{\partial W}, $$
#
# and, to keep calm, half of the pictures take the mean in place of a draw;
# these teach nothing about drawing. We let a small captioner draw, write the
# three terms down, and compare with `HardAttentionObjective`.

# %%
keras.utils.set_random_seed(3)
small = models.show_attend_tell(11, 6, "test", attention="hard", dropout=0.0)
inputs = {
    "features": rng.normal(size=(8, 5, 6)).astype("float32"),
    "target_ids": np.array([[2, 5, 7, 4]] * 8, "int32"),
}
say = np.array([[5, 7, 4, 3]] * 8, "int32")
objective = training.HardAttentionObjective(
    models.draw_locations, reward_weight=0.7, entropy_weight=0.05
)
objective.baseline.assign(-8.0)
luck = small.decoder.seed_generator.state
kept = luck.numpy()
variables = [w.value for w in small.trainable_variables]
with tf.GradientTape() as tape:
    library, tokens = objective(small, (inputs, say), training=True)
by_objective = tape.gradient(library, variables)

luck.assign(kept)  # the same draws again
with tf.GradientTape() as tape:
    logits, weights, choices = models.draw_locations(small, inputs)
    log_p = -tf.nn.sparse_softmax_cross_entropy_with_logits(say, logits)
    reward = tf.reduce_sum(log_p, axis=1)  # (B,)
    is_drawn = tf.reduce_max(choices, axis=-1) == 1.0  # (B, T)
    alpha_s = tf.reduce_sum(choices * weights, axis=-1)  # of what was drawn
    log_s = tf.where(is_drawn, tf.math.log(alpha_s), 0.0)
    entropy = -tf.reduce_sum(weights * tf.math.log(weights), axis=-1)
    gain = (
        tf.reduce_sum(reward)
        + 0.7 * tf.reduce_sum(
            tf.stop_gradient(reward + 8.0) * tf.reduce_sum(log_s, axis=1))
        + 0.05 * tf.reduce_sum(entropy)
    )  # fmt: skip
    loss = -gain
for one, other in zip(
    by_objective, tape.gradient(loss, variables), strict=True
):
    one, other = (tf.convert_to_tensor(x) for x in (one, other))
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
drew = int(is_drawn.numpy()[:, 0].sum())
print(f"{drew} of 8 pictures drew; by hand == training.HardAttentionObjective")

# %% [markdown]
# ## Scenes, and an eye
#
# The same scenes and the same frozen eye as in `captioning_attention`: a
# picture is 64 vectors, on a grid of 8 by 8.

# %%
SIZE, GRID = 128, (8, 8)
NUM_TRAIN, NUM_TEST = (24, 8) if FAST else (1800, 240)
scenes = data.load_scenes(NUM_TRAIN, 1, NUM_TEST, size=SIZE)
columns = {split: scenes.columns(split) for split in ("train", "test")}
gold = scenes.gold["test"]


# %%
def make_eye():
    network = vision.EfficientNetLite0()
    early = network.get_layer("block_4_add").output  # (16, 16, 40)
    late = network.get_layer("block_10_add").output  # (8, 8, 112)
    early = keras.layers.AveragePooling2D(2)(early)
    return keras.Model(network.input, keras.layers.Concatenate()([early, late]))


start = time.perf_counter()
eye = make_eye()
features = {
    split: eye.predict(columns[split]["image"], batch_size=20, verbose=0)
    for split in columns
}
scale = features["train"].std(axis=(0, 1, 2)) + 1e-6
middle = features["train"].mean(axis=(0, 1, 2))
features = {
    split: ((grid - middle) / scale).reshape(len(grid), 64, -1)
    for split, grid in features.items()
}
D = features["train"].shape[-1]
print(f"{features['train'].shape} in {time.perf_counter() - start:.0f} s")

# %% [markdown]
# ## Both learn
#
# The two models have the same layers and the same number of weights. The hard
# one's drawing is noisy, and each of its epochs teaches less, so it gets a few
# more.

# %%
tokenizer = text.WordTokenizer.train(
    [caption for row in columns["train"]["captions"] for caption in row]
)
PER_PICTURE = 3  # of the five captions
ids = tokenizer.tokenize(
    [c for row in columns["train"]["captions"] for c in row[:PER_PICTURE]]
).to_list()
batches = data.Batches(
    (
        {
            "features": np.repeat(features["train"], PER_PICTURE, axis=0),
            "target_ids": [[tokenizer.start_id, *row] for row in ids],
        },
        [[*row, tokenizer.end_id] for row in ids],
    ),
    batch_size=64,
)
size = {"hidden_dim": 16, "embedding_dim": 16} if FAST else {}


def train(attention, loss, epochs):
    keras.utils.set_random_seed(4)
    model = models.show_attend_tell(
        tokenizer.vocabulary_size,
        D,
        "tiny",
        attention=attention,
        dropout=0.1,
        attention_dim=64,
        **size,
    )
    start, steps = time.perf_counter(), epochs * batches.steps()
    training.fit(
        model,
        batches,
        loss=loss,
        optimizer=keras.optimizers.Adam(
            training.WarmupCosine(4e-3, 1 + steps // 20, steps)
        ),
        epochs=epochs,
        global_clipnorm=1.0,
    )
    print(f"{attention}: {time.perf_counter() - start:.0f} s")
    return model


captioners = {
    "soft": train("soft", training.MaskedCrossentropy(), 1 if FAST else 6),
    "hard": train(
        "hard",
        training.HardAttentionObjective(models.draw_locations),
        1 if FAST else 8,
    ),
}

# %% [markdown]
# ## Side by side
#
# Outside of training the hard model looks at its likeliest place: answers shall
# be the same each time. We grade both on the captions they say themselves, and
# add how *sharp* their attention is: the number of places it is spread over,
# $e^{H}$.


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
    return [text.decode() for text in texts]


def look(model, features, texts):
    """Return `[(words, maps (T, 8, 8)), ...]` of captions."""
    ids = tokenizer.tokenize(texts).to_list()
    ids = [[tokenizer.start_id, *row] for row in ids]
    ids = keras.utils.pad_sequences(ids, padding="post")
    _, weights = explain.attention_model(model)(
        {"features": features, "target_ids": ids[:, :-1]}
    )
    weights = keras.ops.convert_to_numpy(weights["decoder"])[:, 0]
    return [
        (words, rows[: len(words)].reshape(-1, *GRID))
        for words, rows in zip((t.split() for t in texts), weights, strict=True)
    ]


bleu, graded, looked, spread_over = {}, {}, {}, {}
for name, model in captioners.items():
    texts = caption(model, features["test"])
    looked[name] = look(model, features["test"], texts)
    scores = captioning_scores(
        texts, columns["test"]["captions"].tolist(), use_meteor=False
    )
    bleu[name] = scores["bleu_4"]
    graded[name] = explain.pointing_accuracy(
        [maps for _, maps in looked[name]],
        [words for words, _ in looked[name]],
        [g.boxes_of(w) for g, (w, _) in zip(gold, looked[name], strict=True)],
        (SIZE, SIZE),
    )
    weights = np.concatenate([maps for _, maps in looked[name]]).reshape(-1, 64)
    H = -(weights * np.log(weights + 1e-12)).sum(axis=1)
    spread_over[name] = np.exp(H).mean()
    print(
        f"{name}: BLEU-4 {bleu[name]:.1f}, peak in the box "
        f"{graded[name].accuracy:.1%} (chance {graded[name].chance:.1%}), "
        f"spread over {spread_over[name]:.1f} places"
    )

figure, panels = plt.subplots(1, 3, figsize=(11, 3.8))
shown = {
    "BLEU-4": bleu,
    "Peak in the box (%)": {n: 100 * g.accuracy for n, g in graded.items()},
    "Spread over ... places of 64": spread_over,
}
for panel, (title, values) in zip(panels, shown.items(), strict=True):
    panel.bar(values.keys(), values.values(), 0.6, color=[BLUE, ORANGE])
    for n, value in enumerate(values.values()):
        panel.text(n, value, f"{value:.1f}", ha="center", va="bottom",
                   weight="bold")  # fmt: skip
    panel.set_title(title)
    panel.margins(y=0.15)
    panel.tick_params(axis="x", length=0)
chance = 100 * graded["soft"].chance
panels[1].axhline(chance, color=DIM, linestyle=":")
panels[1].text(1.45, chance + 1, "by chance", ha="right", color=DIM)
save(figure, "side_by_side.png")

# %% [markdown]
# The picture: soft attention as it is, hard attention as what it looked at, one
# place for each word.


# %%
def one_place(maps):
    flat = maps.reshape(len(maps), -1)
    return np.eye(flat.shape[1])[flat.argmax(axis=1)].reshape(maps.shape)


KINDS = "ball boat car cup fish heart house mushroom star tree".split()
COLOURS = "blue green orange pink purple red white yellow".split()


def goodness(n):
    """Right pairs of a colour and a thing, less the wrong ones, of both."""
    there = {(t.colour, t.kind) for t in gold[n].scene.things}
    total = 0
    for found in looked.values():
        words, maps = found[n]
        boxes = gold[n].boxes_of(words)
        score = explain.pointing_accuracy(maps, words, boxes, (SIZE, SIZE))
        colour = None
        for word in words:
            colour = word if word in COLOURS else colour
            if word in KINDS:
                total += 1 if (colour, word) in there else -4
                colour = None
        total += score.accuracy if score.words else 0
    return total


best = max(range(NUM_TEST), key=goodness)
words = {name: looked[name][best][0] for name in captioners}
maps = {
    "soft": looked["soft"][best][1],
    "hard": one_place(looked["hard"][best][1]),
}
for ending in ("png",) if FAST else ("png", "html"):
    path = explain.plot_captioned_attention(
        columns["test"]["image"][best],
        words,
        maps,
        OUTPUT / f"soft_beside_hard.{ending}",
        boxes={name: gold[best].boxes_of(said) for name, said in words.items()},
    )
    print(f"picture: {path}")

# %% [markdown]
# ## What should be true now
#
# The estimator is right on the average, and much calmer with a baseline. Both
# models look at what they speak of, far above chance. In our run the soft one
# spoke better (BLEU-4 40, against 36), and the hard one pointed better (91 % of
# the peaks in the box, against 66 %), with attention half as wide: it cannot
# hide a wrong place in a mean. Soft attention, which needs no draw and no
# baseline, is what has come to stay.

# %%
assert spread["baseline"] < spread["no baseline"] / 3, spread
if not FAST:
    assert bleu["soft"] > 30 and bleu["hard"] > 20, bleu
    for name, grade in graded.items():
        assert grade.accuracy > 2 * grade.chance, (name, grade.accuracy)
print("All that should be true is true.")

# %% [markdown]
# ## Exercise
#
# 1. Train the hard model with `entropy_weight=0.0` and with `0.1`. Over how
#    many places is its attention spread, and how well does it point?
# 2. Set `model.decoder.expected_share = 0.0` before training, so that every
#    picture draws. How much longer does it take?
# 3. Look at the *mean* in place of the likeliest place when testing the hard
#    model: give its weights to a soft one (`set_weights`). Which speaks better?
