# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 12. Many heads, and the two blocks of the Transformer
#
# **You will** split attention into heads, by hand and with the library, find
# that eight heads cost what one costs, and see what two can do that one cannot.
# Then you write down the encoder block and the decoder block of *Attention is
# all you need* in a dozen lines of NumPy, learn why they have residuals and
# where their norms go, and train the pair to spell words backwards, letter by
# letter, while you watch where they look.
#
# **You need** `self_attention` and `positions`. **Takes** 1 minute on 2 CPU
# cores.
#
# **Library code:** `multi_head_attention.py`, `feed_forward.py`,
# `transformer_encoder.py` and `transformer_decoder.py` in `keras_seq/layers/`;
# `keras_seq/explain/plot_attention.py`.

# %%
import os
import pathlib
import sys
import time

from keras_seq import explain, layers  # first: it keeps TensorFlow quiet

# isort: split
import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf

FAST = os.environ.get("KERAS_SEQ_FAST") == "1"  # set by the test suite
OUTPUT = pathlib.Path(os.environ.get("KERAS_SEQ_OUTPUT", "outputs/multi_head"))
OUTPUT.mkdir(parents=True, exist_ok=True)
VERBOSE = 1 if sys.stdout.isatty() else 2  # a bar, or a line per epoch
plt.style.use("keras_seq.course")
palette = plt.rcParams["axes.prop_cycle"].by_key()["color"]
BLUE, ORANGE, GREEN = palette[:3]
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)


def save(figure, name):
    figure.savefig(OUTPUT / name)
    print(f"picture: {OUTPUT / name}")


# %% [markdown]
# ## Several attentions side by side
#
# One attention gives each step *one* weighted mean. But a word may need to look
# at several things for several reasons: at its verb, at its adjective, at the
# word before. So take $H$ small attentions, the *heads*. Each projects the
# input to a narrow space of its own, of width $D_h = D / H$, and attends there;
# the results are laid side by side and mixed by one more matrix:
#
# $$ \mathrm{head}_h = \mathrm{softmax}\left(
#    \frac{(X W^Q_h)(X W^K_h)^\top}{\sqrt{D_h}}\right) X W^V_h, \qquad
#    O = [\mathrm{head}_1, \ldots, \mathrm{head}_H]\, W^O. $$
#
# By hand, head by head. To lay the heads side by side and multiply by $W^O$ is
# to multiply each by its own rows of $W^O$ and add up, so the heads are simply
# summed. The weights come as in the library: $W^Q$ is `(D, H, D_h)`, $W^O$ is
# `(H, D_h, D)`.


# %%
def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def attention(x, memory, weights, causal=False):
    """Multi-head attention from x (T, D) to memory (S, D)."""
    w_q, b_q, w_k, b_k, w_v, b_v, w_o, b_o = weights
    output = b_o
    for h in range(w_q.shape[1]):
        q = x @ w_q[:, h] + b_q[h]  # (T, D_h)
        k = memory @ w_k[:, h] + b_k[h]  # (S, D_h)
        v = memory @ w_v[:, h] + b_v[h]
        scores = q @ k.T / np.sqrt(q.shape[-1])  # (T, S)
        if causal:
            scores = np.where(np.tri(len(x)), scores, -np.inf)
        output = output + softmax(scores) @ v @ w_o[h]
    return output


def randomized(layer, *inputs):
    """Build a layer, and give every weight, biases too, a random value."""
    layer(*inputs)
    shapes = [w.shape for w in layer.get_weights()]
    layer.set_weights([rng.normal(scale=0.3, size=shape) for shape in shapes])
    return layer


T, S, D, H = 7, 5, 24, 3  # steps, steps of the memory, width, heads
x, memory = rng.normal(size=(T, D)), rng.normal(size=(S, D))
equal = {"rtol": 1e-3, "atol": 1e-4}  # float32 beside float64
layer = layers.MultiHeadAttention(num_heads=H, key_dim=D // H)
randomized(layer, x[None], x[None])
for other in (x, memory):  # self-attention, and attention to something else
    by_hand = attention(x, other, layer.get_weights())
    np.testing.assert_allclose(layer(x[None], other[None])[0], by_hand, **equal)
print("by hand == layers.MultiHeadAttention")

# %% [markdown]
# You may have models that use `keras.layers.MultiHeadAttention`. Ours takes
# over with the same arguments and the same weights, in the same order.

# %%
old = keras.layers.MultiHeadAttention(num_heads=H, key_dim=D // H)
randomized(old, x[None], x[None])
layer.set_weights(old.get_weights())
ours, theirs = (f(x[None], x[None], use_causal_mask=True) for f in (layer, old))
np.testing.assert_allclose(ours, theirs, **equal)
print("layers.MultiHeadAttention == keras.layers.MultiHeadAttention")

# %% [markdown]
# ## What do eight heads cost?
#
# Count the multiplications, for $n$ steps of width $D$. The four projections
# take $n D^2$ each, however their columns are dealt out to heads. A head needs
# $n^2 D_h$ for its scores and as many for its weighted means, and there are $H$
# of them, with $H D_h = D$. So $H$ drops out:
#
# $$ 4 n D^2 + H \cdot 2 n^2 D_h = 4 n D^2 + 2 n^2 D
#    \qquad \text{for one head or for sixteen.} $$
#
# Only the softmax grows: each head has $n^2$ exponentials to take. Those are
# few beside the multiplications, but each is dearer. Let us count, and then
# time. The contenders take turns, so that whatever else the computer is doing
# disturbs all alike, and we compare medians.

# %%
n, width, counts = (64 if FAST else 192), 256, (1, 2, 4, 8, 16)
inputs = tf.random.normal((4, n, width))
contenders = {}
for heads in counts:
    layer = layers.MultiHeadAttention(heads, width // heads)
    forward = tf.function(lambda x, layer=layer: layer(x, x))
    contenders[heads] = forward.get_concrete_function(inputs)
    contenders[heads](inputs)  # once to warm up
seconds = {heads: [] for heads in counts}
for _ in range(5 if FAST else 60):
    for heads, contender in contenders.items():
        start = time.perf_counter()
        contender(inputs)
        seconds[heads].append(time.perf_counter() - start)
relative = {h: np.median(seconds[h]) / np.median(seconds[1]) for h in counts}

parts = {  # multiplications, and exponentials, for each number of heads
    "projections": [4 * n * width**2 for h in counts],
    "scores": [h * n * n * (width // h) for h in counts],
    "weighted means": [h * n * n * (width // h) for h in counts],
    "exponentials": [h * n * n for h in counts],
}
print("heads  multiplications  exponentials  time / time of one head")
for i, heads in enumerate(counts):
    *products, exponentials = (counted[i] for counted in parts.values())
    print(
        f"{heads:5}{sum(products):17,}{exponentials:14,}{relative[heads]:14.2f}"
    )
    assert sum(products) == 4 * n * width**2 + 2 * n * n * width

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2))
places, below = np.arange(len(counts)), np.zeros(len(counts))
for (name, counted), colour in zip(parts.items(), palette, strict=False):
    counted = np.array(counted) / 1e6
    left.bar(places, counted, 0.62, below, label=name, color=colour)
    below = below + counted
left.legend(ncols=2, loc="upper center", reverse=True)
left.set(ylabel="millions", xlabel="heads", ylim=(0, 1.35 * below.max()))
left.set(title="Operations, counted")
bars = right.bar(places, relative.values(), 0.62, color=BLUE)
right.bar_label(
    bars, [f"{ratio:.2f}" for ratio in relative.values()], padding=3
)
right.axhline(1, color="#57606a", linewidth=1, linestyle=":")
right.set(title="Time, measured (one head = 1)", xlabel="heads", yticks=[0, 1])
right.margins(y=0.3)
for panel in (left, right):
    panel.set_xticks(places, counts)
    panel.tick_params(axis="x", length=0)
save(figure, "cost_of_heads.png")

# %% [markdown]
# ## What two heads can do that one cannot
#
# A task with two questions at once: at each step, say the letter *one* step
# ago **and** the letter *four* steps ago. One head has one set of weights. It
# can look at both places, but it brings back one mean of the two letters:
# which was which is lost. Two heads look twice. The models below have the same
# width, the same cost, and the same number of parameters, and read the answer
# off the attention by one linear layer. (Positions are rotary, so that they
# touch queries and keys only: the values carry no hint of their place.)

# %%
LETTERS, LENGTH = 16, 16


def two_questions(count, rng):
    letters = rng.integers(LETTERS, size=(count, LENGTH))
    answers = [np.roll(letters, back, axis=1) for back in (1, 4)]
    return letters, np.stack(answers, axis=-1)  # (count, n), (count, n, 2)


def answer_with(heads, batches):
    """Train a model; return how often it is right, and its weights."""
    keras.utils.set_random_seed(0)
    letters = keras.Input((LENGTH,), dtype="int32")
    x = keras.layers.Embedding(LETTERS, 64)(letters)
    look = layers.MultiHeadAttention(heads, 64 // heads, rotary=True)
    x = keras.layers.Dense(2 * LETTERS)(look(x, x, use_causal_mask=True))
    logits = keras.layers.Reshape((LENGTH, 2, LETTERS))(x)
    model = keras.Model(letters, logits)
    rate = keras.optimizers.schedules.CosineDecay(0.01, batches)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(rate), loss, jit_compile=False)
    x, y = two_questions(32 * batches, np.random.default_rng(1))
    counts = np.broadcast_to(np.arange(LENGTH)[:, None] >= 4, y.shape)
    model.fit(x, y, 32, sample_weight=counts, verbose=VERBOSE)
    x, y = two_questions(500, np.random.default_rng(2))  # fresh
    predictions, maps = explain.attention_model(model)(x)
    right = (np.argmax(predictions, axis=-1) == y)[:, 4:].all(axis=-1)
    return right.mean(), np.array(maps[look.name])[0], model.count_params()


answers = {heads: answer_with(heads, 30 if FAST else 250) for heads in (1, 2)}
for heads, (right, _, parameters) in answers.items():
    print(f"{heads} head(s), {parameters:,} parameters: both right {right:.0%}")

# %%
figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), sharey=True)
maps = [*answers[1][1], *answers[2][1]]  # one head, then two
titles = ["One head", "Two heads: the first", "Two heads: the second"]
for panel, weights, title in zip(panels, maps, titles, strict=True):
    image = panel.imshow(weights, vmin=0, vmax=1)
    for back, colour in ((1, ORANGE), (4, GREEN)):
        steps = np.arange(back, LENGTH)
        panel.plot(steps - back, steps, "s", ms=11, mfc="none", mec=colour)
        panel.plot([], [], "s", mfc="none", mec=colour, label=f"{back} ago")
    panel.set(title=title, xlabel="looks at step", xticks=range(0, LENGTH, 5))
    panel.spines[:].set_visible(False)
panels[0].set(ylabel="step", yticks=range(0, LENGTH, 5))
panels[0].legend(loc="upper right")
figure.colorbar(image, ax=panels, ticks=[0, 0.5, 1], aspect=25, pad=0.01)
right = {heads: f"{answer[0]:.0%}" for heads, answer in answers.items()}
figure.suptitle(
    f"Both letters right: one head {right[1]}, two heads {right[2]}"
)
save(figure, "two_questions.png")

# %% [markdown]
# One head, torn between two places, smears. Two heads divide the labour, though
# nobody told them how. (A feed-forward network behind the attention could undo
# part of the smear, if the mean is lopsided. Heads make that unnecessary.)
#
# ## The encoder block
#
# A Transformer is a stack of blocks. The encoder's has two *sub-layers*:
# attention, in which steps talk to each other, and a feed-forward network, in
# which each step thinks for itself:
#
# $$ \mathrm{FFN}(x) = \max(0, x W_1 + b_1) W_2 + b_2. $$
#
# Around each sub-layer runs a **residual** connection: what it computes is
# *added* to what came in. The sum is then **normalised**: each vector is
# brought to mean 0 and variance 1, then scaled by $\gamma$ and shifted by
# $\beta$.
#
# $$ y = \mathrm{norm}(x + \mathrm{attention}(x, x)), \qquad
#    z = \mathrm{norm}(y + \mathrm{FFN}(y)) $$
#
# The **decoder** block looks at two things: at what has been written so far
# (and, by its causal mask, never ahead), and at the encoder's output $h$.
#
# $$ y = \mathrm{norm}(x + \mathrm{attention}(x, x_\le)), \quad
#    z = \mathrm{norm}(y + \mathrm{attention}(y, h)), \quad
#    o = \mathrm{norm}(z + \mathrm{FFN}(z)) $$
#
# This is *post-norm*, the paper's way. Most models since then normalise what
# *enters* a sub-layer: *pre-norm*, $x + f(\mathrm{norm}(x))$. In pictures,
# read from bottom to top:

# %%
COLOURS = {"self-attention": BLUE, "cross-attention": palette[3]}
COLOURS |= {"feed-forward": GREEN, "norm": "#8c959f", "+": ORANGE}


def draw_block(panel, title, sub_layers, pre_norm):
    height = 0
    for name in sub_layers:
        fork = height - 0.5  # here the residual connection leaves
        parts = ["norm", name, "+"] if pre_norm else [name, "+", "norm"]
        for part in parts:
            shape = "circle,pad=0.2" if part == "+" else "round,pad=0.5"
            box = {"boxstyle": shape, "color": COLOURS[part]}
            style = {
                "ha": "center",
                "va": "center",
                "color": "white",
                "size": 12,
            }
            panel.text(0, height, part, bbox=box, **style)
            if part == "+":
                around = [(0, fork), (1.9, fork), (1.9, height), (0, height)]
                panel.plot(*np.transpose(around), color=ORANGE, zorder=0)
            height += 1
        if name == "cross-attention":
            level = height - 1 if pre_norm else height - 3
            panel.plot([-2.6, 0], [level, level], color=COLOURS[name], zorder=0)
            panel.text(-2.6, level + 0.15, "from the\nencoder", size=11)
    panel.plot([0, 0], [-0.9, height - 0.1], color="#57606a", zorder=0)
    panel.plot(0, height - 0.1, "^", color="#57606a", markersize=9)
    panel.set(xlim=(-2.8, 2.8), ylim=(-1, 9.1))
    panel.set_title(title, loc="center")
    panel.axis("off")


figure, panels = plt.subplots(1, 3, figsize=(12, 7))
two = ["self-attention", "feed-forward"]
three = ["self-attention", "cross-attention", "feed-forward"]
draw_block(panels[0], "Encoder block, post-norm", two, pre_norm=False)
draw_block(panels[1], "Encoder block, pre-norm", two, pre_norm=True)
draw_block(panels[2], "Decoder block, post-norm", three, pre_norm=False)
save(figure, "blocks.png")

# %% [markdown]
# And by hand, all four of them in one function:


# %%
def norm(x, gamma, beta):
    x = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5)
    return gamma * x / deviation + beta


def feed_forward(x, w_1, b_1, w_2, b_2):
    return np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2


def sub_layer(x, function, norm_weights, pre_norm):
    if pre_norm:
        return x + function(norm(x, *norm_weights))
    return norm(x + function(x), *norm_weights)


def block(layer, x, memory=None):
    """An encoder block; with a memory, a decoder block."""
    names = ["self_attention", "cross_attention", "feed_forward"]
    functions = [
        lambda x, w: attention(x, x, w, causal=memory is not None),
        lambda x, w: attention(x, memory, w),
        lambda x, w: feed_forward(x, *w),
    ]
    for name, function in zip(names, functions, strict=True):
        if name == "cross_attention" and memory is None:
            continue
        weights = getattr(layer, name).get_weights()
        norm_weights = getattr(layer, f"{name}_norm").get_weights()
        inner = lambda x, f=function, w=weights: f(x, w)  # noqa: E731
        x = sub_layer(x, inner, norm_weights, layer.normalize_first)
    return x


for pre_norm in (False, True):
    settings = {"num_heads": H, "normalize_first": pre_norm}
    encoder = layers.TransformerEncoder(4 * D, **settings)
    randomized(encoder, x[None])
    np.testing.assert_allclose(encoder(x[None])[0], block(encoder, x), **equal)
    decoder = layers.TransformerDecoder(4 * D, **settings)
    randomized(decoder, x[None], memory[None])
    output = decoder(x[None], memory[None])[0]
    np.testing.assert_allclose(output, block(decoder, x, memory), **equal)
    print(
        f"by hand == library: both blocks, {'pre' if pre_norm else 'post'}-norm"
    )

# %% [markdown]
# ## Why residuals, and which norm?
#
# Attention takes means, and means make things alike. Stack a few blocks without
# residuals and all steps of a sequence become the *same* vector: nothing is
# left to attend to. Let random sequences run through 16 untrained blocks, and
# measure after each how alike the steps have become (the mean cosine between
# two of them) and how large the numbers are.

# %%
DEPTH = 4 if FAST else 16
VARIANTS = {"no residuals": 2, "post-norm": 1, "pre-norm": 0}  # name: colour


def stack(variant):
    """Return how alike and how large the steps are, after each block."""
    keras.utils.set_random_seed(0)
    x, alike, size = keras.random.normal((8, 32, 64)), [], []
    for _ in range(DEPTH + 1):
        unit = np.array(x) - np.mean(x, axis=-1, keepdims=True)
        unit /= np.linalg.norm(unit, axis=-1, keepdims=True)
        cosines = unit @ unit.swapaxes(1, 2)  # (8, 32, 32)
        alike.append((cosines.mean() - 1 / 32) / (1 - 1 / 32))  # of pairs
        size.append(np.std(x))
        layer = layers.TransformerEncoder(
            256, num_heads=4, normalize_first=variant == "pre-norm"
        )
        y = layer(x)
        if variant == "no residuals":
            y = layer.self_attention_norm(layer.self_attention(x, x))
            y = layer.feed_forward_norm(layer.feed_forward(y))
        x = y
    return alike, size


depths = {variant: stack(variant) for variant in VARIANTS}
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2))
for variant, (alike, size) in depths.items():
    colour = palette[VARIANTS[variant]]
    left.plot(alike, "o-", color=colour, label=variant)
    right.plot(size, "o-", color=colour)
left.set(title="How alike are the steps?", ylabel="mean cosine of two steps")
right.set(title="How large are the numbers?", ylabel="standard deviation")
right.set_ylim(0)
left.legend(loc="center right")
for panel in (left, right):
    panel.set(xlabel="blocks")
    panel.grid(axis="y")
save(figure, "depth.png")

# %% [markdown]
# Without residuals two blocks make all steps one. With them each step keeps its
# own voice for longer: for some five blocks in post-norm, where a norm stands
# in the way after every sum, and through all sixteen in pre-norm, where the
# road from the input to the output is free, with nothing on it but additions.
# That is why deep stacks train more easily in pre-norm, and without the slow
# warm-up that the paper needed. The price is in the right panel: the sums pile
# up, and a last norm must tidy up after the stack.
#
# ## Spelling backwards
#
# Now let an encoder and a decoder work together. The encoder reads a "word" of
# 12 random letters, the decoder writes it backwards. It is trained on all steps
# at once: its input is the right answer, shifted by one (`^` begins), and the
# causal mask keeps it honest.

# %%
START, WORD = 1, 12  # id 0 is padding, 2 to 27 are the letters
source = keras.Input((WORD,), dtype="int32")
written = keras.Input((WORD,), dtype="int32")  # so far
embed, place = layers.TokenEmbedding(28, 64), layers.SinusoidalPositions()
encoder = layers.TransformerEncoder(128, num_heads=4, normalize_first=True)
decoder = layers.TransformerDecoder(
    128, num_heads=4, normalize_first=True, name="decoder"
)
last_norm = keras.layers.LayerNormalization()
memory = encoder(place(embed(source)))
x = last_norm(decoder(place(embed(written)), memory))
model = keras.Model([source, written], embed(x, reverse=True))


def words(count, rng):
    """Return what the encoder reads, what the decoder reads, the answers."""
    letters = rng.integers(2, 28, size=(count, WORD))
    backwards = letters[:, ::-1]
    begin = np.full((count, 1), START)
    return [letters, np.hstack([begin, backwards[:, :-1]])], backwards


batches = 20 if FAST else 300
rate = keras.optimizers.schedules.CosineDecay(0.004, batches)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(rate)
model.compile(optimizer, loss, metrics=["accuracy"], jit_compile=False)
model.fit(*words(64 * batches, rng), batch_size=64, verbose=VERBOSE)
_, accuracy = model.evaluate(*words(1000, rng), verbose=0)
print(f"right letters in 1000 new words: {accuracy:.1%}")

# %% [markdown]
# To *use* it, we write letter by letter: there is no right answer to shift.
# Computing the whole decoder anew for each letter would repeat all the work on
# the letters before. `start` prepares a state, which holds the encoder's keys
# and values, and `step` takes one letter, adds its own keys and values to the
# state, and returns what the full pass would have returned at this place.


# %%
def spell_backwards(letters):
    """Return the letters the model writes, its outputs, and its weights."""
    state = decoder.start(encoder(place(embed(letters))))
    token = np.full((len(letters), 1), START)
    tokens, outputs, crosses = [token], [], []
    for t in range(WORD):
        x = place(embed(token), start_index=t)  # (B, 1, D)
        output, state, weights = decoder.step(x, state)
        logits = embed(last_norm(output), reverse=True)
        token = np.argmax(logits, axis=-1)  # (B, 1)
        tokens.append(token)
        outputs.append(output)
        crosses.append(weights["cross_attention"])  # (B, H, 1, S)
    join = np.concatenate
    return join(tokens, axis=1), join(outputs, axis=1), join(crosses, axis=2)


example = "transformers"
letters = np.array([[ord(letter) - ord("a") + 2 for letter in example]])
tokens, outputs, cross = spell_backwards(letters)
answer = "".join(chr(i - 2 + ord("a")) for i in tokens[0, 1:])
print(f"{example} -> {answer}")

# The full pass, on the same letters, gives the same numbers at once.
memory = encoder(place(embed(letters)))
full, weights = decoder(
    place(embed(tokens[:, :-1])), memory, return_attention_scores=True
)
np.testing.assert_allclose(outputs, full, **equal)
np.testing.assert_allclose(cross, weights["cross_attention"], **equal)
print("step by step == all at once")

for ending in ("png", "html"):
    path = explain.plot_attention(
        cross[0],
        rows=list(answer),
        columns=list(example),
        path=OUTPUT / f"spelling_backwards.{ending}",
        title="Where the decoder looks while it spells backwards",
    )
    print(f"picture: {path}")

# %% [markdown]
# Each row is a letter being written, each column a letter that was read. The
# dark line from top right to bottom left *is* the algorithm: to write the
# first letter, look at the last; then go left. No one programmed it.
#
# ## What should be true now

# %%
assert relative[16] < 3  # sixteen heads for (nearly) the price of one
assert depths["no residuals"][0][-1] > 0.99  # all steps alike
assert depths["pre-norm"][0][-1] < 0.95
if not FAST:
    assert answers[1][0] < 0.3 and answers[2][0] > 0.98, answers
    assert accuracy > 0.99 and answer == example[::-1], (accuracy, answer)
    anti_diagonal = cross[0].mean(axis=0)[:, ::-1].diagonal()
    assert anti_diagonal.mean() > 0.6, anti_diagonal
print("All that should be true is true.")

# %% [markdown]
# ## Exercise
#
# Let the words have 4 to 12 letters, padded with id 0, and add a letter for
# "end". `embed` makes a mask of the padding by itself; look with
# `explain.trace_masks(model)` where it goes. Does the model still learn? Why
# is the line in the picture less sharp now? (Hint: what must the decoder know
# before it can write its first letter, and who could tell it?)
