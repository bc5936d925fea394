# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 8. Captions: from one vector to attention
#
# **You will** let two models put pictures into words. *Show and tell* (Vinyals
# et al., 2015) is given one vector for the whole picture. *Show, attend and
# tell* (Xu et al., 2015) looks at the picture again before each word. You take
# a step of each by hand, train both on the same features, see what gets lost in
# one vector (whose colour was it?), and light a picture up word by word.
#
# **You need** the tutorials `bahdanau_attention`, whose idea this is, and
# `class_activation_maps`; and `pip install 'keras_seq[captioning]'`.
# **Takes** 2 minutes on 2 CPU cores.
#
# **Library code:** `keras_seq/models/show_and_tell.py`,
# `keras_seq/models/show_attend_tell.py`, `keras_seq/layers/attentive_lstm.py`,
# `keras_seq/explain/plot_captioned_attention.py`,
# `keras_seq/tasks/captioning_scores.py`.

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
from keras_seq.tasks.captioning_scores import captioning_scores

FAST = os.environ.get("KERAS_SEQ_FAST") == "1"  # set by the test suite
OUTPUT = pathlib.Path(
    os.environ.get("KERAS_SEQ_OUTPUT", "outputs/captioning_attention")
)
OUTPUT.mkdir(parents=True, exist_ok=True)
plt.style.use("keras_seq.course")
BLUE, ORANGE, GREEN = plt.rcParams["axes.prop_cycle"].by_key()["color"][:3]
PALE, DIM = "#d0d7de", "#57606a"


def save(figure, name):
    figure.savefig(OUTPUT / name)
    print(f"picture: {OUTPUT / name}")


# %% [markdown]
# ## Scenes that come with words
#
# The library paints scenes, five captions for each, and knows where everything
# that a caption speaks of is.

# %%
SIZE, GRID = 128, (8, 8)
NUM_TRAIN, NUM_TEST = (24, 8) if FAST else (1800, 240)
scenes = data.load_scenes(NUM_TRAIN, 1, NUM_TEST, size=SIZE)
columns = {split: scenes.columns(split) for split in ("train", "test")}
gold = scenes.gold["test"]
for caption in columns["test"]["captions"][0]:
    print(caption)

# %% [markdown]
# ## An eye
#
# As in both papers, the eye is a network that has learned to see elsewhere, and
# stays as it is: EfficientNet-Lite0 with its ImageNet weights. We take it apart
# in the middle, where it still knows *where* things are: a grid of 8 by 8
# places. (For colours, which it later forgets, we add an earlier layer,
# averaged to the same grid.) A picture is now $N = 64$ vectors $a_i$.


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
spread = features["train"].std(axis=(0, 1, 2)) + 1e-6
middle = features["train"].mean(axis=(0, 1, 2))
features = {
    split: ((grid - middle) / spread).reshape(len(grid), 64, -1)
    for split, grid in features.items()
}
D = features["train"].shape[-1]
print(f"{features['train'].shape} in {time.perf_counter() - start:.0f} s")

# %% [markdown]
# ## One vector, by hand
#
# *Show and tell* takes the mean of the 64 vectors, and its LSTM reads it as if
# it were the first word of the sentence; then comes the start token, and so on:
#
# $$ x_{-1} = W_I \tfrac{1}{N} \sum_i a_i + b_I, \quad
#    x_t = \sqrt{D_E}\,E_{y_t}, \quad
#    (h_t, c_t) = \mathrm{LSTM}(x_t, h_{t-1}, c_{t-1}), \quad
#    logits_t = E\,h_t . $$
#
# The same table $E$, $D_E$ wide, has a word's vector on the way in and its
# weights on the way out, which is why the first is scaled.


# %%
def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    x = np.exp(x - x.max())
    return x / x.sum()


def lstm(from_input, h, c, recurrent):
    i, f, g, o = np.split(from_input + h @ recurrent, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


keras.utils.set_random_seed(2)
START, V = np.array([2]), 23
tell = models.show_and_tell(V, D, "test", dropout=0.0, hidden_dim=12)
a = features["test"][0].astype("float64")  # (N, D)
kernel, bias = tell.image_embedding.get_weights()
w, u, b = tell.decoder.cell.get_weights()
E = tell.embedding.get_weights()[0]  # (V, D), for words and for logits
h, c = lstm((a.mean(axis=0) @ kernel + bias) @ w + b, *np.zeros((2, 12)), u)
x = np.sqrt(E.shape[1]) * E[2]
h, c = lstm(x @ w + b, h, c, u)
logits, _, _ = tell.step(START, tell.start(features["test"][:1]))
np.testing.assert_allclose(logits[0], h @ E.T, atol=1e-4)
print("one vector: by hand == models.show_and_tell")

# %% [markdown]
# ## A look before each word, by hand
#
# *Show, attend and tell* compares its state with every place, as Bahdanau's
# translator does with every word, and takes a weighted mean. A gate
# $\beta_t$ says how much of the picture this word needs at all ("the" needs
# little). What is scored is the last word, the state and the look together:
#
# $$ e_{ti} = v^\top \tanh(W_a h_{t-1} + U_a a_i), \quad
#    \alpha_t = \mathrm{softmax}(e_t), \quad
#    \beta_t = \sigma(w_\beta^\top h_{t-1} + b_\beta), \quad
#    z_t = \beta_t \sum_i \alpha_{ti} a_i, $$
# $$ (h_t, c_t) = \mathrm{LSTM}([x_t; z_t], h_{t-1}, c_{t-1}), \quad
#    logits_t = E\,(x_t + L_h h_t + L_z z_t) . $$
#
# It begins with $h_0 = \tanh(W_h \bar a + b_h)$, and $c_0$ likewise.

# %%
attend = models.show_attend_tell(V, D, "test", dropout=0.0)
logits, _, attention = attend.step(START, attend.start(features["test"][:1]))


def numbers(*weights):
    return [keras.ops.convert_to_numpy(w).astype("float64") for w in weights]


h, c = (
    np.tanh(a.mean(axis=0) @ kernel + bias)
    for kernel, bias in (
        attend.initial_h.get_weights(),
        attend.initial_c.get_weights(),
    )
)
one = attend.decoder
w_a, u_a, v_a = numbers(one.w_a, one.u_a, one.v_a)
alpha = softmax(np.tanh(h @ w_a + a @ u_a) @ v_a)  # (N,)
of_z, w_beta, b_beta = numbers(one.c, one.w_beta, one.b_beta)
beta = sigmoid(h @ w_beta + b_beta)
z = beta * (alpha @ a)
w, u, b = one.cell.get_weights()
E = attend.embedding.get_weights()[0]
x = np.sqrt(E.shape[1]) * E[2]
h, c = lstm(x @ w + z @ of_z + b, h, c, u)
(l_h,), (l_z, b_z) = (
    attend.output_h.get_weights(),
    attend.output_z.get_weights(),
)
by_hand = (x + h @ l_h + z @ l_z + b_z) @ E.T
np.testing.assert_allclose(attention["decoder"][0, 0, 0], alpha, atol=1e-5)
np.testing.assert_allclose(logits[0], by_hand, atol=1e-4)
print("one look: by hand == models.show_attend_tell")

# %% [markdown]
# ## Both learn from the same captions
#
# Each model reads a caption and has to say its next word. The bottleneck is
# much faster, so it gets twice as many epochs; it has learned all it can by
# then.

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


def train(make, epochs, **settings):
    keras.utils.set_random_seed(4)
    model = make(tokenizer.vocabulary_size, D, "tiny", dropout=0.1, **settings)
    start = time.perf_counter()
    steps = epochs * batches.steps()
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
    print(f"{model.name}: {time.perf_counter() - start:.0f} s")
    return model


size = {"hidden_dim": 16, "embedding_dim": 16} if FAST else {}
captioners = {
    "one vector": train(models.show_and_tell, 1 if FAST else 12, **size),
    "attention": train(
        models.show_attend_tell, 1 if FAST else 7, attention_dim=64, **size
    ),
}

# %% [markdown]
# ## What is lost in one vector
#
# BLEU compares with the five captions. But it says little about *what* goes
# wrong, so we also ask for something a mean cannot keep: **whose colour is
# it?** Of all pairs of a colour and a thing in what was said ("a small **red**
# tilted **cup**"), how many are in the picture?


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


KINDS = "ball boat car cup fish heart house mushroom star tree".split()
COLOURS = "blue green orange pink purple red white yellow".split()


def coloured_things(words):
    """Return the pairs of a colour and the thing that it is said of."""
    found, colour = [], None
    for word in words:
        if word in COLOURS:
            colour = word
        elif word in KINDS and colour:
            found.append((colour, word))
            colour = None
    return found


assert coloured_things("a small red tilted cup and a blue car".split()) == [
    ("red", "cup"),
    ("blue", "car"),
]
said = {n: caption(model, features["test"]) for n, model in captioners.items()}
bleu, pairs_right = {}, {}
for name, texts in said.items():
    scores = captioning_scores(
        texts, columns["test"]["captions"].tolist(), use_meteor=False
    )
    bleu[name] = [scores[f"bleu_{n}"] for n in (1, 2, 3, 4)]
    right = {1: [], 2: [], 3: []}
    for words, g in zip(texts, gold, strict=True):
        there = {(thing.colour, thing.kind) for thing in g.scene.things}
        for pair in coloured_things(words.split()):
            right[len(g.scene.things)].append(pair in there)
    pairs_right[name] = [np.mean(r) if r else 0.0 for r in right.values()]
    print(
        f"{name:10}  BLEU-1 to 4:", *(f"{score:.1f}" for score in bleu[name]),
        "  pairs that are there, of 1, 2, 3 things:",
        *(f"{share:.0%}" for share in pairs_right[name]),
    )  # fmt: skip

figure, panels = plt.subplots(1, 2, figsize=(11, 4.2))
hues = {"one vector": ORANGE, "attention": BLUE}
for n, name in enumerate(said):
    shift = 0.4 * n - 0.2
    for panel, heights in zip(
        panels, (bleu[name], np.array(pairs_right[name]) * 100), strict=True
    ):
        places = np.arange(len(heights)) + shift
        panel.bar(places, heights, 0.36, color=hues[name], label=name)
        for x, y in zip(places, heights, strict=True):
            panel.text(x, y + 1, f"{y:.0f}", ha="center", size=9)
panels[0].set_xticks(range(4), [f"BLEU-{n}" for n in (1, 2, 3, 4)])
panels[0].set_title("Against five captions")
panels[0].legend()
panels[1].set_xticks(range(3), ["1 thing", "2 things", "3 things"])
panels[1].set_title("Coloured things that are there (%)")
for panel in panels:
    panel.set(ylim=(0, 108))
    panel.tick_params(axis="x", length=0)
save(figure, "one_vector_or_many.png")

# %% [markdown]
# ## The picture lit up, word by word
#
# The attention of the step that says a word, spread over the picture. The frame
# is the gold box of what the word means.


# %%
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


attend = captioners["attention"]
looked = look(attend, features["test"], said["attention"])
graded = explain.pointing_accuracy(
    [maps for _, maps in looked],
    [words for words, _ in looked],
    [g.boxes_of(words) for g, (words, _) in zip(gold, looked, strict=True)],
    (SIZE, SIZE),
)


def how_good(n):
    """Right pairs, and more than one of them, come first."""
    pairs = coloured_things(looked[n][0])
    there = {(thing.colour, thing.kind) for thing in gold[n].scene.things}
    return len({*pairs} & there) - 2 * len({*pairs} - there)


best = sorted(range(NUM_TEST), key=how_good, reverse=True)[:2]
for n, place in enumerate(best, start=1):
    words, maps = looked[place]
    drawn = {"boxes": gold[place].boxes_of(words), "title": " ".join(words)}
    image = columns["test"]["image"][place]
    endings = ("png", "html", "gif") if n == 1 and not FAST else ("png",)
    for ending in endings:
        path = OUTPUT / f"word_by_word_{n}.{ending}"
        explain.plot_captioned_attention(image, words, maps, path, **drawn)
        print(f"picture: {path}")

# %% [markdown]
# ## Grades
#
# One lit picture may be luck. Of all words that mean something in the picture,
# how often is the peak of the attention inside what they mean?

# %%
GROUPS = {
    "things": KINDS,
    "colours": COLOURS,
    "sizes": {"small", "little", "big", "large"},
    "textures": {"striped", "spotted", "dotted", "checked"},
    "relations": {"left", "right", "above", "over", "below", "beneath",
                  "front", "behind"},
}  # fmt: skip
rows = {}
for name, words in GROUPS.items():
    found = [graded.by_word[w] for w in words if w in graded.by_word]
    if found:
        counts = [row[3] for row in found]
        rows[name] = [
            np.average([row[column] for row in found], weights=counts)
            for column in (0, 1)
        ]
print(f"peak in the box {graded.accuracy:.1%}, chance {graded.chance:.1%}")
figure, axes = plt.subplots(figsize=(8, 3.8))
for n, (hit, chance) in enumerate(rows.values()):
    axes.barh(n, hit, 0.6, color=BLUE)
    axes.plot([chance, chance], [n - 0.3, n + 0.3], color="white", lw=2)
    axes.text(hit + 0.01, n, f"{hit:.0%}", va="center", weight="bold")
axes.set_yticks(range(len(rows)), rows)
axes.invert_yaxis()
axes.set(xlim=(0, 1.1), xlabel="peak inside the box (white line: by chance)")
axes.set_title("Where it looked when it said ...")
axes.tick_params(axis="y", length=0)
save(figure, "pointing.png")

# %% [markdown]
# ## What should be true now
#
# Attention says better captions, above all of several things, and looks at what
# it speaks of.

# %%
assert 0 < graded.chance < 0.5 or FAST
if not FAST:
    assert bleu["attention"][3] > bleu["one vector"][3] + 10, bleu
    for one, many in zip(*pairs_right.values(), strict=True):
        assert many > one + 0.1, pairs_right
    assert graded.accuracy > 0.5 > 2 * graded.chance, graded
print("All that should be true is true.")

# %% [markdown]
# ## Exercise
#
# 1. Give the bottleneck the largest value of each feature in place of the mean.
#    Which words does that help?
# 2. Train with `penalty=1.0`, which charges for places that no word has looked
#    at (equation 14 of Xu et al.). Does it say more things, or point better?
# 3. Print $\beta_t$ for each word (`model.decoder.w_beta`). Which words need
#    the picture least?
