# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 6. Attention is a soft dictionary
#
# **You will** price a house that nobody has sold before, and find that you
# have built attention. You then meet the five ways to compare a query with a
# key, each by hand and as a layer, see why a square root stands in the most
# famous of them, and train one that learns by itself where to look.
#
# **You need** a little NumPy, and to know what softmax does.
# **Takes** 30 s on 2 CPU cores.
#
# **Library code:** `keras_seq/layers/dot_product_attention.py` and its
# neighbours `cosine_`, `bilinear_`, `additive_attention.py`;
# `keras_seq/ops/scores.py`; `keras_seq/explain/plot_attention.py`.

# %%
import os
import pathlib
import sys

from keras_seq import explain, layers  # first: it keeps TensorFlow quiet

# isort: split
import keras
import matplotlib.pyplot as plt
import numpy as np

FAST = os.environ.get("KERAS_SEQ_FAST") == "1"  # set by the test suite
OUTPUT = pathlib.Path(
    os.environ.get("KERAS_SEQ_OUTPUT", "outputs/soft_dictionary")
)
OUTPUT.mkdir(parents=True, exist_ok=True)
plt.style.use("keras_seq.course")
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)


def save(figure, name):
    figure.savefig(OUTPUT / name)
    print(f"picture: {OUTPUT / name}")


# %% [markdown]
# ## A dictionary knows only what it was told
#
# You want to sell a house. Three similar ones were sold this year, and you
# have written down what they were like and what they cost (in thousands). Each
# feature is a number between -1, far less than usual, and +1, far more.

# %%
features = ["size", "garden", "age"]
streets = ["Elm Street", "Oak Lane", "Mill Road"]
keys = np.array([[0.9, 0.7, -0.4], [1.0, -0.1, -0.4], [-0.5, 0.2, -0.6]])
values = np.array([300.0, 240.0, 120.0])

sold = {tuple(k): v for k, v in zip(keys, values, strict=True)}
print("Looking up Elm Street:", sold[0.9, 0.7, -0.4])

new_house = np.array([1.0, 1.0, -0.5])  # large, with a large garden, newish
print("Looking up the new house:", sold.get(tuple(new_house)))

# %% [markdown]
# A Python dictionary answers only if the *query* equals one of its *keys*, and
# no two houses are equal. A person does something wiser: compare the new
# house with each of the old ones, and let those that are more alike have more
# say in the price. That takes three steps.
#
# 1. A **score** says how well the query $q$ matches the key $k_s$ of house $s$.
#    The simplest is the dot product: add up, feature by feature, how far the
#    two agree.
# 2. **Softmax** turns scores into **weights**: positive, and summing to one.
# 3. The answer, called the **context**, is the weighted mean of the **values**.
#
# $$ e_s = q^\top k_s, \qquad
#    a_s = \frac{\exp(e_s)}{\sum_{s'} \exp(e_{s'})}, \qquad
#    c = \sum_s a_s v_s $$
#
# This *is* attention. The rest of the course is about where queries, keys and
# values come from.


# %%
def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


scores = keys @ new_house
weights = softmax(scores)
price = weights @ values

print(f"{'':12}{'  '.join(f'{f:>6}' for f in features)}   score weight  price")
for street, k, e, a, v in zip(
    streets, keys, scores, weights, values, strict=True
):
    row = "  ".join(f"{x:+6.1f}" for x in k)
    print(f"{street:12}{row}  {e:6.2f} {a:6.2f} {v:6.0f}")
row = "  ".join(f"{x:+6.1f}" for x in new_house)
print(f"{'new house':12}{row}  {'':13} {price:6.0f}")
print("price = 0.6 x 300 + 0.3 x 240 + 0.1 x 120 = 264")

np.testing.assert_allclose(weights, [0.6, 0.3, 0.1], atol=0.005)
np.testing.assert_allclose(price, 264, atol=0.5)

# %% [markdown]
# The library says the same. Its layers take a whole batch of queries and keys,
# so the arrays get axes: queries `(B, T, D)`, keys `(B, S, D)`, values
# `(B, S, E)`. Here all of B, T and E are 1: one town, one new house, one price.

# %%
layer = layers.DotProductAttention(scaled=False)
context, layer_weights = layer(
    new_house[None, None],  # (B, T, D) = (1, 1, 3)
    values[None, :, None],  # (B, S, E) = (1, 3, 1)
    keys[None],  # (B, S, D) = (1, 3, 3)
    return_attention_scores=True,
)
np.testing.assert_allclose(layer_weights[0, 0], weights, rtol=1e-5)
np.testing.assert_allclose(context[0, 0, 0], price, rtol=1e-5)
print("by hand == layers.DotProductAttention(scaled=False)")

# %%
palette = plt.rcParams["axes.prop_cycle"].by_key()["color"]
BLUE, ORANGE, GREEN, PURPLE, RED, GREY = palette
INK, DIM = "#24292f", "#57606a"
house_colours = [BLUE, GREEN, PURPLE]

figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(12, 4.2), width_ratios=[1.25, 1, 1.25]
)
table = np.vstack([new_house, keys])
left.imshow(table, cmap="RdBu", vmin=-2.2, vmax=2.2, aspect="auto")
for (i, j), number in np.ndenumerate(table):
    left.text(j, i, f"{number:+.1f}", ha="center", va="center")
left.axhline(0.5, color="white", linewidth=8)
left.set_xticks(range(3), features)
left.set_yticks(range(4), ["new house", *streets])
left.get_yticklabels()[0].set_color(ORANGE)
left.get_yticklabels()[0].set_weight("bold")
left.spines[:].set_visible(False)
left.tick_params(length=0)
left.set_title("The query and three keys")

bars = middle.barh(streets, weights, color=house_colours, height=0.6)
rated = zip(weights, scores, strict=True)
notes = [f"{a:.2f}   (score {e:.1f})" for a, e in rated]
middle.bar_label(bars, notes, padding=5)
middle.set(xlim=(0, 1.05), xticks=[], title="Weights: softmax of scores")
middle.invert_yaxis()
middle.spines[["left", "bottom"]].set_visible(False)
middle.tick_params(length=0)

base = 0.0
for place, (a, v) in enumerate(zip(weights, values, strict=True)):
    colour = house_colours[place]
    right.bar(place, v, color=colour, alpha=0.35, width=0.6)
    right.text(place, v + 6, f"{v:.0f}", ha="center", color=DIM)
    right.bar(3.4, a * v, bottom=base, color=colour, width=0.6)
    share = f"{a:.1f} × {v:.0f}"
    right.text(3.8, base + a * v / 2, share, va="center", color=colour)
    base += a * v
right.text(3.4, base + 6, f"{price:.0f}", ha="center", weight="bold", size=14)
names = [street.replace(" ", "\n") for street in streets]
right.set_xticks([0, 1, 2, 3.4], [*names, "new\nhouse"])
right.tick_params(axis="x", length=0)
right.set(xlim=(-0.5, 5), ylim=(0, 335), ylabel="price (thousands)")
right.set_title("Values, and their weighted mean")
save(figure, "three_houses.png")

# %% [markdown]
# ## From hard to soft: the temperature
#
# How sure should we be? Divide the scores by a *temperature* $\tau$ before
# softmax. When $\tau \to 0$ the best match takes all the weight, and we are
# back at a dictionary that returns one entry (but now never fails). When
# $\tau \to \infty$ the query no longer matters, and the answer is the plain
# mean. Attention lives in between. And because the weights change smoothly
# with the scores, a gradient can flow through the look-up: this is what lets a
# network *learn* where to look, and what a hard dictionary can never offer.

# %%
temperatures = np.geomspace(0.03, 100, 200)
soft_weights = softmax(scores / temperatures[:, None])  # (200, S)
for tau in (0.05, 1.0, 50.0):
    a = softmax(scores / tau)
    print(f"temperature {tau:5}: weights {a.round(2)}, price {a @ values:.0f}")

np.testing.assert_allclose(softmax(scores / 0.05), [1, 0, 0], atol=1e-5)
np.testing.assert_allclose(softmax(scores / 1e4), np.full(3, 1 / 3), atol=1e-4)

figure, axes = plt.subplots(figsize=(8.5, 4.4))
axes.axvline(1, color=GREY, linewidth=1, linestyle=":")
axes.axhline(1 / 3, color=GREY, linewidth=1, linestyle=":")
sides = [("left", 12, 6), ("right", -12, 18), ("left", 12, -14)]
for street, curve, a, colour, (side, dx, dy) in zip(
    streets, soft_weights.T, weights, house_colours, sides, strict=True
):
    axes.plot(temperatures, curve, color=colour)
    axes.plot(1, a, "o", color=colour, markersize=9)
    where = {"xytext": (dx, dy), "textcoords": "offset points", "ha": side}
    note = f"{street}: {a:.1f}"
    axes.annotate(note, (1, a), color=colour, weight="bold", **where)
axes.set_xscale("log")
axes.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
axes.set(xlim=(0.03, 100), ylim=(-0.02, 1.1))
axes.set(xlabel=r"temperature $\tau$", ylabel="weight")
axes.set_title("One knob turns a dictionary into a plain mean")
axes.text(0.033, 1.03, "hard: only the best match counts", color=DIM)
axes.text(95, 0.36, "soft: all count alike", color=DIM, ha="right")
save(figure, "temperature.png")

# %% [markdown]
# ## Five ways to compare a query with a key
#
# The dot product is one way to say "alike". Here are the five of the course.
#
# | score | $e_{ts}$ | learns | paper |
# |---|---|---|---|
# | dot | $q_t^\top k_s$ | | Luong, 2015 |
# | scaled dot | $q_t^\top k_s / \sqrt{D}$ | | Vaswani, 2017 |
# | cosine | $q_t^\top k_s / \Vert q_t \Vert \Vert k_s \Vert$ | | Graves, 2014 |
# | bilinear | $q_t^\top W k_s$ | $W$ | Luong, 2015 |
# | additive | $v^\top \tanh(W q_t + U k_s)$ | $W, U, v$ | Bahdanau, 2015 |
#
# The first three need a query and a key of equal width. The last two learn
# what "alike" should mean, so that the widths may differ. By hand, for all
# pairs of a query $t$ and a key $s$ at once:


# %%
def dot(q, k):
    return q @ k.swapaxes(-1, -2)  # (B, T, D) x (B, D, S) -> (B, T, S)


def scaled_dot(q, k):
    return dot(q, k) / np.sqrt(q.shape[-1])


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def cosine(q, k):
    return dot(unit(q), unit(k))


def bilinear(q, k, w):
    return dot(q @ w, k)


def additive(q, k, w, u, v):
    hidden = np.tanh((q @ w)[:, :, None] + (k @ u)[:, None])  # (B, T, S, U)
    return (hidden @ v)[..., 0]


# %% [markdown]
# And by the library. A layer creates its weights when it is first called; we
# read them out and put them into our own functions. Every pair must agree.

# %%
B, T, S, D, E = 2, 3, 5, 7, 4  # batch, queries, keys, width, width of values
q, k, v = (rng.normal(size=s) for s in [(B, T, D), (B, S, D), (B, S, E)])

pairs = {
    "dot": (dot, layers.DotProductAttention(scaled=False)),
    "scaled dot": (scaled_dot, layers.DotProductAttention()),
    "cosine": (cosine, layers.CosineAttention()),
    "bilinear": (bilinear, layers.BilinearAttention()),
    "additive": (additive, layers.AdditiveAttention(units=8)),
}
for name, (by_hand, layer) in pairs.items():
    context, weights = layer(q, v, k, return_attention_scores=True)
    a = softmax(by_hand(q, k, *layer.get_weights()))
    np.testing.assert_allclose(weights, a, rtol=1e-4)
    np.testing.assert_allclose(context, a @ v, rtol=1e-3, atol=1e-5)
    print(f"{name:10}: by hand == layers.{type(layer).__name__}")

# %% [markdown]
# In two dimensions we can *see* what each score likes. One query, drawn as an
# arrow, looks at six keys. The colour behind them is the score a key would get
# at each place of the plane; the bars are the weights.
#
# Dot and scaled dot are slopes: a long key (3) beats a short one that points
# the same way (1). Cosine is a fan: length counts for nothing, so 1 and 3 tie.
# Bilinear is again a slope, in whichever direction $W$ has learned, here a
# right angle to the query, so that "alike" means "stands to my left". And the
# additive score is a landscape: a small network can draw any it needs.

# %%
query_2d = np.array([1.5, 0.6])
keys_2d = np.array(
    [[0.9, 0.36], [-0.5, 1.4], [2.2, 0.88], [1.4, -1.5], [-1.8, -0.9], [0.7, 2]]
)
to_the_left = np.array([[0.0, 1.0], [-1.0, 0.0]])
network = [rng.normal(size=shape) for shape in [(2, 8), (2, 8), (8, 1)]]
parameters = {"bilinear": [to_the_left], "additive": network}

axis = np.linspace(-2.6, 2.6, 120)
plane = np.stack(np.meshgrid(axis, axis), axis=-1)  # (120, 120, 2)
figure, rows = plt.subplots(
    2, 5, figsize=(14, 5.6), height_ratios=[1.6, 1], sharey="row", sharex="row"
)
for name, top, below in zip(pairs, *rows, strict=True):
    score, theta = pairs[name][0], parameters.get(name, [])
    height = score(query_2d[None, None], plane.reshape(1, -1, 2), *theta)
    field = top.contourf(
        axis,
        axis,
        height.reshape(120, 120),
        levels=np.linspace(-4.2, 4.2, 22),
        cmap="RdBu",
        extend="both",
    )
    arrow = {"arrowstyle": "-|>", "lw": 2.5, "color": INK}
    top.annotate("", query_2d, (0, 0), arrowprops=arrow)
    top.scatter(*keys_2d.T, s=210, color="white", edgecolor=INK, zorder=3)
    for number, place in enumerate(keys_2d, start=1):
        top.text(*place, number, ha="center", va="center_baseline", size=9)
    top.set(aspect="equal", xticks=[], yticks=[], title=name)
    top.spines[:].set_visible(False)

    a = softmax(score(query_2d[None, None], keys_2d[None], *theta))[0, 0]
    colours = [ORANGE if x == a.max() else BLUE for x in a]
    below.bar(range(1, 7), a, color=colours, width=0.7)
    below.set_xticks(range(1, 7))
    below.tick_params(length=0)
    below.set_xlabel("key")
rows[0, 0].set_ylabel("score of a key\nat each place")
rows[1, 0].set_ylabel("weight")
figure.colorbar(field, ax=rows[0], pad=0.01, ticks=[-4, -2, 0, 2, 4])
figure.suptitle("The same query and keys, seen by five score functions")
save(figure, "score_functions.png")

one, three = softmax(cosine(query_2d[None, None], keys_2d[None]))[0, 0, [0, 2]]
np.testing.assert_allclose(one, three, rtol=1e-6)

# %% [markdown]
# ## Why divide by the square root of D?
#
# Let the entries of $q$ and $k$ be independent, with mean 0 and variance 1.
# Each product $q_i k_i$ then has mean 0 and variance 1 as well, and the dot
# product adds up $D$ of them: its variance is $D$, its standard deviation
# $\sqrt D$. A model of width 512 would feed softmax with scores of about
# $\pm 23$. Softmax then puts all the weight on one key (it is *saturated*), and
# its derivative
#
# $$ \frac{\partial a_s}{\partial e_{r}} = a_s (\delta_{sr} - a_r) $$
#
# is zero wherever a weight is 0 or 1: nothing can be learned any more. Dividing
# by $\sqrt D$ brings the scores back to variance 1, whatever the width.
# Let us not believe this but measure it.

# %%
widths = 2 ** np.arange(0, 11)
samples, num_keys = (100 if FAST else 1000), 16
measured = {}  # (scaled?, D) -> spread, largest weight, size of derivative
for width in widths:
    q = rng.normal(size=(samples, 1, width))
    k = rng.normal(size=(samples, num_keys, width))
    for name, score in (("dot", dot), ("scaled", scaled_dot)):
        e = score(q, k)[:, 0]
        a = softmax(e)
        jacobian = a[:, :, None] * (np.eye(num_keys) - a[:, None, :])
        slope = np.linalg.norm(jacobian, axis=(1, 2)).mean()
        measured[name, width] = e.std(), a.max(axis=-1).mean(), slope

figure, panels = plt.subplots(1, 3, figsize=(12.5, 4))
titles = ["Spread of the scores", "Largest of 16 weights", "Slope of softmax"]
heights = ["standard deviation", "mean", "mean norm of the Jacobian"]
curves = {"dot": (r"$q^\top k$", ORANGE)}
curves["scaled"] = (r"$q^\top k\,/\,\sqrt{D}$", BLUE)
for i, panel in enumerate(panels):
    for name, (label, colour) in curves.items():
        curve = [measured[name, width][i] for width in widths]
        panel.plot(widths, curve, "o-", color=colour, label=label)
    panel.set_xscale("log", base=2)
    panel.set_xticks(widths[::2], widths[::2])
    panel.set(xlabel="width $D$", ylabel=heights[i], title=titles[i])
    panel.grid(axis="y")
root = {"label": r"$\sqrt{D}$, predicted", "color": "#d0d7de", "linewidth": 9}
panels[0].plot(widths, np.sqrt(widths), zorder=1, **root)
panels[0].set_yscale("log", base=2)
panels[0].legend()
panels[1].set_ylim(0, 1.02)
panels[2].set_ylim(0)
save(figure, "square_root_of_d.png")

for width in (16, 64, 512):
    numbers = [*measured["dot", width], *measured["scaled", width]]
    print(
        "D = {:3}: spread {:4.1f}, largest weight {:.2f}, slope {:.2f}; "
        "scaled {:.1f}, {:.2f}, {:.2f}".format(width, *numbers)
    )
np.testing.assert_allclose(measured["dot", 512][0], np.sqrt(512), rtol=0.1)
np.testing.assert_allclose(measured["scaled", 512][0], 1, rtol=0.1)

# %% [markdown]
# ## Learning where to look
#
# Now the point of it all. A cabinet has eight drawers. On each drawer is a
# label (its key, a vector of length 1), and inside lies a digit (its value). A
# question asks for one of the labels, but *in another language*: it is the
# label times a matrix $R$ that we keep secret. The answer is the digit.
#
# $$ q = R\, k_{\text{wanted}}, \qquad e_s = q^\top W k_s $$
#
# A dot product is lost here, since label and question no longer point the same
# way. A bilinear score could do it, if only it knew that $W$ should be $R$, or
# a multiple of it: for then
#
# $$ q^\top R\, k_s = k_{\text{wanted}}^\top R^\top R\, k_s
#    = k_{\text{wanted}}^\top k_s, $$
#
# because $R$ is orthogonal (it turns and mirrors, and keeps all angles), and
# that is largest at the right drawer.
#
# We tell the model the right *digit*, and never the right *drawer*. Where to
# look it must find out alone, through the gradient of the soft look-up.

# %%
DRAWERS, WIDTH, DIGITS = 8, 12, 10
random = np.random.default_rng(2).normal(size=(WIDTH, WIDTH))
left, _, right = np.linalg.svd(random)
secret = left @ right  # R: random and orthogonal, so that R^T R = 1


def cabinets(count):
    """Return inputs, the digit asked for, and the drawer it lies in."""
    labels = unit(rng.normal(size=(count, DRAWERS, WIDTH)))
    digits = rng.integers(DIGITS, size=(count, DRAWERS))
    drawer = rng.integers(DRAWERS, size=count)
    wanted = labels[np.arange(count), drawer]  # (count, WIDTH)
    inputs = {
        "question": (wanted @ secret.T)[:, None].astype("float32"),
        "labels": labels.astype("float32"),
        "digits": np.eye(DIGITS, dtype="float32")[digits],
    }
    return inputs, digits[np.arange(count), drawer][:, None], drawer


# %% [markdown]
# The digits are one-hot vectors, so their weighted mean is a probability for
# each digit: the model is the attention layer and nothing else.

# %%
question = keras.Input((None, WIDTH), name="question")  # (B, T, D)
labels = keras.Input((None, WIDTH), name="labels")  # (B, S, D)
digits = keras.Input((None, DIGITS), name="digits")  # (B, S, E)
look = layers.BilinearAttention(name="look")
model = keras.Model([question, labels, digits], look(question, digits, labels))
model.compile(
    keras.optimizers.Adam(0.02),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)


def right_drawer(attention, inputs, drawer):
    """Return how often the largest weight lies on the right drawer."""
    _, weights = attention(
        inputs["question"],
        inputs["digits"],
        inputs["labels"],
        return_attention_scores=True,
    )
    return float(np.mean(np.argmax(weights[:, 0], axis=-1) == drawer))


fresh, fresh_digit, fresh_drawer = cabinets(2000)
untrained = right_drawer(look, fresh, fresh_drawer)
plain = right_drawer(layers.DotProductAttention(), fresh, fresh_drawer)

# One example: eight questions to the same cabinet, one for each drawer.
example, _, _ = cabinets(1)
order = np.array([4, 1, 6, 3, 8, 5, 2, 7]) - 1
example["question"] = (example["labels"] @ secret.T)[:, order].astype("float32")
recorder = explain.attention_model(model)
before = recorder(example)[1]["look"][0]  # (H, T, S), one head

inputs, digit, _ = cabinets(6400 if FAST else 25_600)
history = model.fit(
    inputs,
    digit,
    batch_size=64,
    epochs=2 if FAST else 3,
    verbose=1 if sys.stdout.isatty() else 2,
)
_, accuracy = model.evaluate(fresh, fresh_digit, verbose=0)
trained = right_drawer(look, fresh, fresh_drawer)
print("On 2000 cabinets never seen before, the right drawer is looked into by")
print(f"  a dot product         {plain:6.1%}   (by chance: {1 / DRAWERS:.1%})")
print(f"  bilinear, untrained   {untrained:6.1%}")
print(f"  bilinear, trained     {trained:6.1%}   (right digit: {accuracy:.1%})")

# %% [markdown]
# `explain.attention_model` gave us the weights of a model without a change to
# the model, and `explain.plot_attention` draws them: as a picture, and as a
# page for the browser on which each number can be pointed at.

# %%
asks = [f"asks for label {i + 1}" for i in order]
drawers = [f"drawer {i + 1}" for i in range(DRAWERS)]
drawn = {"before training": before}
drawn["after training"] = recorder(example)[1]["look"][0]
title = "Which drawer does each question look into?"
for ending in ("png", "html"):
    path = OUTPUT / f"where_it_looks.{ending}"
    explain.plot_attention(drawn, asks, drawers, path, title)
    print(f"picture: {path}")

# %% [markdown]
# What has $W$ become? The secret language, up to a factor: the model has
# learned to translate, from nothing but right and wrong digits.

# %%
learned = look.get_weights()[0]
same_size = [x / np.linalg.norm(x) for x in (secret, learned)]
likeness = np.sum(same_size[0] * same_size[1])  # a cosine
figure, panels = plt.subplots(1, 2, figsize=(8, 4.4))
titles = ["The secret matrix $R$", "The learned matrix $W$, to scale"]
for panel, matrix, title in zip(panels, same_size, titles, strict=True):
    panel.imshow(matrix, cmap="RdBu", vmin=-0.25, vmax=0.25)
    panel.set(xticks=[], yticks=[], title=title)
    panel.spines[:].set_visible(False)
figure.suptitle(f"Learned from answers alone (cosine {likeness:.2f})")
save(figure, "learned_matrix.png")

# %% [markdown]
# ## What should be true now
#
# The soft dictionary found the right drawer for questions it had never seen,
# with one matrix, which is the secret one up to a factor.

# %%
assert plain < 0.25 and untrained < 0.25  # at chance, 1 in 8
assert trained > (0.9 if FAST else 0.98), trained
assert accuracy > (0.9 if FAST else 0.98), accuracy
assert likeness > (0.85 if FAST else 0.95), likeness
print("All that should be true is true.")

# %% [markdown]
# ## Exercise
#
# 1. Build 100 drawers *after* training and keep the same $W$. Why does the
#    model not mind? (And what would a `Dense` layer say?)
# 2. Use `layers.AdditiveAttention(units=256)` in place of the bilinear layer.
#    It has forty times as many parameters and can draw any landscape, yet
#    after three epochs it still guesses. What does its hidden layer have to
#    imitate that the bilinear score has built in?
