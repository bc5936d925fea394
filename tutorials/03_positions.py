# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 3. Positions: telling attention what comes first
#
# **You will** write down what a good positional encoding should do, build
# eight encodings by hand and with the library, and *measure* which of them
# does it. You will see why sines are binary digits gone smooth, why moving
# along the sequence is a rotation, and how half precision can ruin it all.
# Then you train nine small models, on sequences of length 32, and ask them
# about length 256.
#
# **You need** tutorial 2. **Takes** 2 minutes on 2 CPU cores.
#
# **Library code:** `keras_seq/ops/positions.py`, `ops/rotary.py` and
# `ops/position_bias.py`; the layers `sinusoidal_positions.py`,
# `learned_positions.py` and `relative_position_bias.py` in
# `keras_seq/layers/`.

# %%
import os
import pathlib
import sys

from keras_seq import layers  # first: it keeps TensorFlow quiet
from keras_seq import ops as seq_ops

# isort: split
import keras
import matplotlib.pyplot as plt
import numpy as np
from keras import ops

FAST = os.environ.get("KERAS_SEQ_FAST") == "1"  # set by the test suite
OUTPUT = pathlib.Path(os.environ.get("KERAS_SEQ_OUTPUT", "outputs/positions"))
OUTPUT.mkdir(parents=True, exist_ok=True)
plt.style.use("keras_seq.course")
palette = plt.rcParams["axes.prop_cycle"].by_key()["color"]
BLUE, ORANGE, GREEN, PURPLE, RED, GREY = palette
INK, DIM = "#24292f", "#57606a"
keras.utils.set_random_seed(0)


def save(figure, name):
    figure.savefig(OUTPUT / name)
    print(f"picture: {OUTPUT / name}")


def without_frame(panel, **settings):
    """Take away what a picture made of cells does not need."""
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)
    panel.set(**settings)


# %% [markdown]
# ## Five wishes
#
# Tutorial 2 ended with a surprise: shuffle the words, and self-attention gives
# the same vectors, shuffled. To attention a sentence is a bag. So each position
# $pos$ of a sequence gets a vector of its own, its *encoding*, which is added
# to the word's. Which vector? Here is what we wish for:
#
# 1. **Unique.** No two positions share an encoding.
# 2. **Consistent.** Two positions five steps apart are equally far apart
#    everywhere, in short sequences and in long ones.
# 3. **Open-ended.** It goes on in sequences longer than those of training,
#    without effort, and without changing what was there.
# 4. **Bounded.** The numbers stay small, so that they do not drown the words.
# 5. **Deterministic.** It is a rule, and the same every time.
#
# ## Four rules, from naive to clever
#
# The first ideas anyone has are a share of the way, and a count. The third is
# how a computer counts; the fourth is from *Attention is all you need*, for
# columns $0 \le 2i, 2i+1 < d$:
#
# $$ \text{normalised} = \frac{pos}{n - 1}, \quad
#    \text{linear} = pos, \quad
#    \text{binary}_i = \left\lfloor \frac{pos}{2^i} \right\rfloor \bmod 2, $$
# $$ \text{sinusoidal}_{2i} = \sin(\omega_i\, pos), \quad
#    \text{sinusoidal}_{2i+1} = \cos(\omega_i\, pos), \quad
#    \omega_i = 10000^{-2i/d}. $$
#
# By hand, for all positions of a sequence of length $n$ at once:

# %%
WIDTH = 32  # d
DIGITS = 8  # of the binary encoding: enough for 256 positions


def normalised(n):
    return np.arange(n)[:, None] / (n - 1)  # (n, 1)


def linear(n):
    return np.arange(n)[:, None]  # (n, 1)


def binary(n):
    return np.arange(n)[:, None] // 2 ** np.arange(DIGITS) % 2  # (n, DIGITS)


def sinusoidal(n, width=WIDTH):
    omega = 10_000.0 ** (-np.arange(0, width, 2) / width)  # (d/2,)
    angle = np.arange(n)[:, None] * omega  # (n, d/2)
    pairs = np.stack([np.sin(angle), np.cos(angle)], axis=-1)
    return pairs.reshape(n, width)  # sine, cosine, sine, cosine, ...


FOUR_RULES = (normalised, linear, binary, sinusoidal)
n = 200
where = np.arange(n)
for by_hand, library in [
    (normalised(n), seq_ops.normalized_encoding(where, length=n)),
    (linear(n), seq_ops.linear_encoding(where)),
    (binary(n), seq_ops.binary_encoding(where, DIGITS)),
    (sinusoidal(n), seq_ops.sinusoidal_encoding(where, WIDTH)),
]:
    np.testing.assert_allclose(library, by_hand, atol=1e-5)
print("by hand == library, for all four")

# %% [markdown]
# ### A counter made of waves
#
# Watch binary numbers count. The lowest digit flips at each step, the next at
# every second step, then every fourth: each column is a square wave, and each
# is slower than the one before. Sines do just this, but smoothly. The position
# is written twice in the picture below, once with digits that jump and once
# sines that glide.

# %%
steps = 32
figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(13, 5.6), width_ratios=[0.55, 1, 1.6]
)
left.imshow(binary(steps)[:, :5], aspect="auto", vmin=-0.15, vmax=1.4)
for (pos, digit), bit in np.ndenumerate(binary(steps)[:, :5]):
    colour = "white" if bit else DIM
    left.text(
        *(digit, pos, bit),
        **{"ha": "center", "va": "center", "size": 8, "color": colour},
    )
without_frame(left, title="Binary digits jump", ylabel="position")
left.set_xticks(range(5), [f"$2^{i}$" for i in range(5)])
middle.imshow(sinusoidal(steps), aspect="auto", cmap="RdBu", vmin=-1, vmax=1)
without_frame(middle, title="Sines and cosines glide", xlabel="column")
middle.set_yticks([])
time = np.linspace(0, steps, 1000, endpoint=False)
for i in range(5):
    low = -1.7 * i
    digit = time.astype(int) // 2**i % 2
    wave = 0.5 - 0.5 * np.sin(np.pi * time / 2**i)
    right.fill_between(time, low, low + digit, alpha=0.22, linewidth=0)
    right.plot(time, low + wave)
    right.text(-1, low + 0.5, f"$2^{i}$", ha="right", va="center", color=DIM)
right.axis("off")
right.set_title("A square wave, and the sine inside it")
save(figure, "binary_and_sines.png")

# %% [markdown]
# Here is the whole matrix of the paper, for 128 positions. Read it by rows:
# each is the vector added to a word. Read it by columns: each is a wave. The
# wavelengths grow from 6 steps to more than 30 000, like the hands of a clock
# that knows seconds, minutes, hours, days and years.

# %%
n, width = 128, 64
matrix = sinusoidal(n, width)
figure, (top, below) = plt.subplots(
    2, 1, figsize=(11, 7.2), height_ratios=[1.9, 1], sharex=True
)
image = top.imshow(matrix.T, aspect="auto", cmap="RdBu", vmin=-1, vmax=1)
figure.colorbar(image, ax=top, ticks=[-1, 0, 1], aspect=18, pad=0.01)
without_frame(top, ylabel="column", title="The sinusoidal encoding")
top.set_yticks(range(0, width, 8))
chosen = zip((0, 8, 16, 32), (BLUE, ORANGE, GREEN, PURPLE), strict=True)
for column, colour in chosen:
    wavelength = 2 * np.pi * 10_000 ** (column / width)
    below.plot(
        matrix[:, column],
        color=colour,
        label=f"column {column}: {wavelength:.0f} steps a turn",
    )
    top.plot(n + 0.7, column, "<", color=colour, clip_on=False, markersize=9)
top.set_xlim(-0.5, n - 0.5)
below.set(xlabel="position", title="Four of its columns", yticks=[-1, 0, 1])
below.set_ylim(-1.1, 1.8)
below.legend(ncols=4, loc="upper center", fontsize=9, handlelength=1.2)
save(figure, "sinusoidal_matrix.png")

# %% [markdown]
# ## To move is to turn
#
# Why cosines as well as sines? Take one pair of columns, with frequency
# $\omega$. The point $(\sin \omega pos, \cos \omega pos)$ lies on a circle: it
# is the tip of a clock hand. Going $k$ steps further turns the hand by
# $\omega k$, *from wherever it stands*:
#
# $$ \begin{pmatrix} \sin \omega (pos + k) \\ \cos \omega (pos + k)
#    \end{pmatrix} = \underbrace{\begin{pmatrix}
#    \cos \omega k & \sin \omega k \\ -\sin \omega k & \cos \omega k
#    \end{pmatrix}}_{M_k} \begin{pmatrix} \sin \omega pos \\ \cos \omega pos
#    \end{pmatrix} $$
#
# (this is the school formula for the sine of a sum). $M_k$ does not contain
# $pos$. So "$k$ steps ahead" is one fixed matrix, and attention, whose queries
# and keys are made by matrices, can learn to look $k$ steps away.


# %%
def shift_matrix(k, width):
    """M_k for all pairs of columns: 2 x 2 rotations along the diagonal."""
    m = np.zeros((width, width))
    for i in range(width // 2):
        a = k * 10_000.0 ** (-2 * i / width)
        pair = slice(2 * i, 2 * i + 2)
        m[pair, pair] = [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]
    return m


encoding = np.array(seq_ops.sinusoidal_encoding(np.arange(1000), WIDTH))
for k in (1, 7, 300):
    m = shift_matrix(k, WIDTH)
    np.testing.assert_allclose(encoding[:-k] @ m.T, encoding[k:], atol=1e-4)
    np.testing.assert_allclose(m @ m.T, np.eye(WIDTH), atol=1e-12)
print("PE[pos + k] == M_k PE[pos] for 1000 positions, and M_k is a rotation")

# %%
k, pairs = 5, (0, 2, 4, 6)
figure, panels = plt.subplots(2, 4, figsize=(11.5, 6))
for panel, i in zip(panels.T, pairs, strict=True):
    omega = 10_000.0 ** (-2 * i / WIDTH)
    for axes, start in zip(panel, (2, 40), strict=True):
        for pos, colour in ((start, BLUE), (start + k, ORANGE)):
            tip = (np.sin(omega * pos), np.cos(omega * pos))
            arrow = {"arrowstyle": "-|>", "lw": 2.2, "color": colour}
            axes.annotate("", tip, (0, 0), arrowprops=arrow)
            label = {"ha": "center", "va": "center", "color": colour}
            axes.text(*(1.17 * np.array(tip)), pos, **label, weight="bold")
        turn = np.linspace(omega * start, omega * (start + k), 100)
        axes.plot(0.6 * np.sin(turn), 0.6 * np.cos(turn), color=INK, lw=1.5)
        circle = np.linspace(0, 2 * np.pi, 200)
        axes.plot(np.sin(circle), np.cos(circle), color="#d0d7de", lw=1)
        without_frame(axes, aspect="equal", xticks=[], yticks=[])
        axes.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3))
    degrees = np.degrees(omega * k)
    panel[0].set_title(f"pair {i}: turns by {degrees:.0f}°", loc="center")
for axes, start in zip(panels[:, 0], (2, 40), strict=True):
    axes.set_ylabel(f"from {start} to {start + k}", size=12)
figure.suptitle(
    f"Moving {k} steps turns each hand by its own angle, wherever it starts"
)
save(figure, "moving_is_turning.png")

# %% [markdown]
# Two things follow. The dot product of two encodings,
#
# $$ PE_{pos} \cdot PE_{pos + k} = \sum_i \cos(\omega_i k), $$
#
# depends on the distance $k$ and not on where we are; and so does the length
# of their difference. That is wish 2, and the sum of cosines even falls off
# with the distance: near positions are alike. Compare the four rules. Each
# panel has five curves, measured from five places (and in sequences of three
# lengths). If a rule is consistent, its curves lie on top of each other.


# %%
places = [(64, 3), (64, 20), (128, 29), (128, 70), (256, 101)]  # (n, pos)
figure, panels = plt.subplots(1, 5, figsize=(15, 3.7))
for place, (n, pos) in enumerate(places):
    style = {"linewidth": 6 - 1.1 * place, "color": palette[place]}
    for panel, rule in zip(panels, FOUR_RULES, strict=False):
        ahead = rule(n)[pos : pos + 32]
        panel.plot(np.linalg.norm(ahead - ahead[0], axis=-1), **style)
        panel.set(title=rule.__name__.capitalize(), xlabel="$k$ steps ahead")
    product = ahead @ ahead[0]
    panels[4].plot(product, **style, label=f"{pos} of {n}")
panels[4].set(title="Its dot product", xlabel="$k$ steps ahead")
panels[4].set(ylim=(0, WIDTH / 2 + 1))
panels[4].legend(title="from position", ncols=2, fontsize=8, handlelength=1)
panels[0].set(ylabel="distance of the encodings")
save(figure, "distances.png")

# %% [markdown]
# ## What came later
#
# **Learned** (GPT, BERT): no rule at all. A table $E$ with one row for each
# position, trained like any other weight. What row 33 should be, nobody can
# say until it has been trained.
#
# **Rotary** (Llama and most of its peers): if moving is turning, why not turn
# the queries and keys themselves? At position $t$, turn each pair of columns
# of the query by $\omega_i t$, and the keys likewise. Nothing is added to the
# words, values stay as they are, and since turning both by the same angle
# changes no dot product, a score knows the distance and only the distance:
#
# $$ (R_t\, q) \cdot (R_s\, k) = q \cdot (R_{s-t}\, k). $$
#
# **Biases on the score.** Say it directly: add a number to $e_{ts}$ that
# depends on the distance $|t - s|$. In **ALiBi** it is $-m_h |t - s|$, with a
# fixed slope $m_h$ for each head: the farther, the fainter. The **relative**
# bias of T5 learns one number for each distance, or for a range of them when
# they are large.
#
# By hand again, and then the library. Rotary pairs column $i$ with column
# $i + d/2$; for the product that is as good as any other way to pair them.


# %%
def rotary(x, positions):
    """Turn each row of x (n, d) by its position."""
    half = x.shape[-1] // 2
    angle = positions[:, None] * 10_000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = x[:, :half], x[:, half:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def alibi(n, num_heads):
    slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
    distance = np.abs(np.arange(n)[:, None] - np.arange(n))  # (n, n)
    return -slopes[:, None, None] * distance  # (H, n, n)


rng = np.random.default_rng(0)
n, where = 100, np.arange(100)
x = rng.normal(size=(n, WIDTH))
turned = seq_ops.rotate(x[None].astype("float32"), where)[0]
np.testing.assert_allclose(turned, rotary(x, where), atol=1e-4)
np.testing.assert_allclose(seq_ops.alibi_bias(8, n)[0], alibi(n, 8), rtol=1e-5)

q, k = rng.normal(size=(2, 1, WIDTH))
here, far_away = (
    rotary(q, np.array([t])) @ rotary(k, np.array([t - 3])).T
    for t in (10, 9000)
)
np.testing.assert_allclose(here, far_away, rtol=1e-6)
print("by hand == library; rotary scores see the distance alone")

# %% [markdown]
# ## Five wishes, measured
#
# Now for the judgement. Each encoding becomes a function of the length $n$ that
# returns the rows a model sees at its $n$ positions. For rotary we look at what
# becomes of one and the same vector, of length 1. A bias $b$ on a score
# multiplies the weight by $e^b$ before weights are made to sum to one, so for
# the two biases we take $e^b$, as the first position sees it. Tables that are
# learned hold random numbers here, a different set for each `run` of training;
# what training writes into them is not in our hands.

# %%
HEADS = 4
N = 256  # the longest sequence of "training"; then we ask for twice as much


def any_table(run):
    return keras.initializers.RandomNormal(0.0, 0.5, seed=run)


def learned(n, run):
    layer = layers.LearnedPositions(N, initializer=any_table(run))
    return np.array(layer(np.zeros((1, n, WIDTH), "float32")))[0]


def rotary_rows(n, run):
    same = np.full((1, n, WIDTH), WIDTH**-0.5, "float32")
    return np.array(seq_ops.rotate(same, np.arange(n)))[0]


def alibi_factors(n, run):
    return np.exp(np.array(seq_ops.alibi_bias(HEADS, n)))[0]  # (H, n, n)


def relative_factors(n, run):
    layer = layers.RelativePositionBias(HEADS, initializer=any_table(run))
    return np.exp(np.array(layer(np.zeros((1, n, 1)))))[0]  # (H, n, n)


ROWS = {
    "normalised": lambda n, run: normalised(n),
    "linear": lambda n, run: linear(n),
    "binary": lambda n, run: seq_ops.binary_encoding(np.arange(n), DIGITS),
    "sinusoidal": lambda n, run: sinusoidal(n),
    "learned": learned,
    "rotary": rotary_rows,
    "ALiBi": lambda n, run: alibi_factors(n, run)[:, 0].T,
    "relative bias": lambda n, run: relative_factors(n, run)[:, 0].T,
}
FACTORS = {"ALiBi": alibi_factors, "relative bias": relative_factors}


def seven_apart(name, n):
    """How far apart is each position from the one seven steps ahead?"""
    if name in FACTORS:
        pairs = FACTORS[name](n, run=1)[:, np.arange(n - 7), np.arange(7, n)]
        return np.linalg.norm(pairs, axis=0)
    rows = np.array(ROWS[name](n, run=1))
    return np.linalg.norm(rows[7:] - rows[:-7], axis=-1)


def measure(name):
    """Yield for each wish: is it granted, and a number that says so."""
    rows = np.array(ROWS[name](N, run=1))
    apart = np.linalg.norm(rows[:, None] - rows[None], axis=-1)
    nearest = (apart + 1e9 * np.eye(N)).min()
    yield "unique", nearest > 1e-6, f"closest two: {nearest:.1g}"

    gap = np.concatenate([seven_apart(name, n) for n in (64, 128, 256)])
    same = np.ptp(gap) < 1e-4
    spread = "" if same else f" to {gap.max():.2f}"
    yield "consistent", same, f"7 steps: {gap.min():.2f}{spread}"

    try:
        longer = np.array(ROWS[name](2 * N, run=1))
        moved = np.abs(longer[:N] - rows).max()
        growth = np.abs(longer).max() / np.abs(rows).max()
        goes_on = moved == 0 and growth < 1.01
        story = f"range grows {growth:.1f}x" if growth > 1.01 else "goes on"
        story = f"old rows move by {moved:.1f}" if moved else story
        yield "open-ended", goes_on, story
    except ValueError:
        longer = rows
        yield "open-ended", False, f"ends at {N}"

    largest = np.abs(longer).max()
    yield "bounded", largest < 10, f"up to {largest:.3g}"

    other = np.abs(np.array(ROWS[name](N, run=2)) - rows).max()
    story = f"differ by {other:.1f}" if other else "the same"
    yield "deterministic", other == 0, f"two runs: {story}"


verdicts = {name: list(measure(name)) for name in ROWS}
for name, verdict in verdicts.items():
    print(f"\n{name}")
    for wish, yes, story in verdict:
        print(f"  {wish:14} {'yes' if yes else 'NO':4} {story}")

# %%
WISHES = [wish for wish, _, _ in verdicts["linear"]]
figure, axes = plt.subplots(figsize=(12, 5.6))
granted = np.array([[yes for _, yes, _ in v] for v in verdicts.values()])
axes.imshow(np.where(granted, 0.32, 0.68), cmap="BrBG_r", vmin=0, vmax=1)
for (i, j), yes in np.ndenumerate(granted):
    number = list(verdicts.values())[i][j][2]
    style = {"ha": "center", "va": "center"}
    axes.text(j, i - 0.14, "yes" if yes else "no", **style, weight="bold")
    axes.text(j, i + 0.2, number, **style, size=8.5)
axes.set_aspect("auto")
axes.set_xticks(range(5), [w.capitalize() for w in WISHES], size=12)
axes.set_yticks(range(len(ROWS)), [n[0].upper() + n[1:] for n in ROWS], size=12)
axes.xaxis.tick_top()
axes.set_xticks(np.arange(0.5, 4.5), minor=True)
axes.set_yticks(np.arange(0.5, len(ROWS) - 1), minor=True)
axes.grid(which="minor", color="white", linewidth=3)
axes.tick_params(which="both", length=0, labelcolor=INK)
axes.spines[:].set_visible(False)
axes.axhline(3.5, color="white", linewidth=8)
save(figure, "five_wishes.png")

EXPECTED = {
    "normalised": "yes no no yes yes",
    "linear": "yes yes no no yes",
    "binary": "yes no no yes yes",
    "sinusoidal": "yes yes yes yes yes",
    "learned": "yes no no yes no",
    "rotary": "yes yes yes yes yes",
    "ALiBi": "yes yes yes yes yes",
    "relative bias": "no yes yes yes no",
}
for name, verdict in verdicts.items():
    words = ["yes" if yes else "no" for _, yes, _ in verdict]
    assert " ".join(words) == EXPECTED[name], (name, verdict)

# %% [markdown]
# Share-of-the-way stretches and shrinks with the sequence. Counting grows
# without bound. Binary digits run out, and are as far apart at 7 and 8 (four
# digits flip) as nowhere near. Sines grant all five wishes with one short
# formula, which is why the course, and the paper, settle on them. A learned
# table gives three of the wishes up for freedom. Of the modern ones, rotary and
# ALiBi keep all five; T5's bias gives up two of them on purpose, for far
# positions are *meant* to look alike.
#
# ## A trap: low precision
#
# Training in `bfloat16` is twice as fast on many machines. A bfloat16 number
# has 8 significant bits: between 256 and 512 it knows even integers only. Cast
# the *position* to it and positions 301 and 300 become the same place; what is
# worse, an angle of 300 radians is then off by a radian, and its sine is noise.
# So: compute in float32, and cast the result. The order of two lines of code
# decides between an error of 2, the largest there is, and one of 0.002.

# %%
n = 1000
exact = sinusoidal(n)
omega = np.repeat(10_000.0 ** (-np.arange(0, WIDTH, 2) / WIDTH), 2)  # (d,)
where = ops.cast(np.arange(n), "bfloat16")  # too early!
angle = where[:, None] * ops.cast(omega, "bfloat16")
waves = [ops.cast(wave(angle), "float32") for wave in (ops.sin, ops.cos)]
cast_first = np.where(np.arange(WIDTH) % 2, waves[1], waves[0])

layer = layers.SinusoidalPositions(dtype="bfloat16")
cast_last = layer(ops.zeros((1, n, WIDTH), "bfloat16"))[0]
cast_last = ops.convert_to_numpy(ops.cast(cast_last, "float32"))

errors = {"cast first": np.abs(cast_first - exact)}
errors["cast last"] = np.abs(cast_last - exact)
for name, error in errors.items():
    print(f"{name:10}: largest error {error.max():.4f}")
assert errors["cast first"].max() > 1.5
assert errors["cast last"].max() < 0.003

figure, panels = plt.subplots(1, 3, figsize=(14, 4.2), width_ratios=[1, 1, 2])
for panel, (name, error) in zip(panels, errors.items(), strict=False):
    image = panel.imshow(error[:, :16], aspect="auto", cmap="Reds", vmax=2)
    title = f"{name.capitalize()}: off by {error.max():.1g}"
    without_frame(panel, xlabel="column", title=title)
panels[0].set_ylabel("position")
figure.colorbar(image, ax=panels[1], ticks=[0, 1, 2], aspect=20, pad=0.02)
shown = np.arange(280, 321)
curve = panels[2].plot
curve(shown, exact[shown, 0], color=BLUE, label="exact")
curve(shown, cast_last[shown, 0], "o", color=BLUE, label="cast last")
early = {"color": ORANGE, "linewidth": 1.2, "label": "cast first"}
curve(shown, cast_first[shown, 0], "o-", **early)
panels[2].set(title="Column 0, a sine", xlabel="position", ylim=(-1.1, 1.55))
panels[2].set_yticks([-1, 0, 1])
panels[2].legend(ncols=3, loc="upper center")
save(figure, "low_precision.png")

# %% [markdown]
# ## Does it matter? Nine models, two questions
#
# A table of wishes is not a result. So we train the smallest model that can
# tell the encodings apart: one attention layer, nothing else, causal (a step
# sees itself and the past). It gets one of two tasks.
#
# **Echo.** At each step, say the letter that came *three steps ago*. Only the
# position can tell which that is.
#
# **Last word.** Notes on a whiteboard: `red = 3`, `blue = 1`, `red = 0`,
# `red?` The answer is 0: the *last* value of that colour counts. Here content
# finds the colour and position the latest.
#
# Training shows sequences of length 32. Then we ask, with fresh data, about
# sequences of 32, 64, 128 and 256, and count the answers in the last 32 steps.

# %%
TRAINED, ASKED = 32, (32, 64, 128, 256)  # lengths
LETTERS, COLOURS, VALUES = 16, 4, 4


def echo(count, n, rng):
    """Return token ids, answers, and which answers count, all (count, n)."""
    letters = rng.integers(LETTERS, size=(count, n))
    return letters, np.roll(letters, 3, axis=1), np.arange(n) >= 3 + 0 * letters


def last_word(count, n, rng):
    colour = rng.integers(COLOURS, size=(count, n))
    value = rng.integers(VALUES, size=(count, n))
    asks = rng.random((count, n)) < 0.5
    board = np.full((count, COLOURS), -1)  # -1: nothing written yet
    answer = np.empty((count, n), int)
    everyone = np.arange(count)
    for t in range(n):
        here = everyone, colour[:, t]
        answer[:, t] = board[here]
        board[here] = np.where(asks[:, t], board[here], value[:, t])
    token_ids = colour * (VALUES + 1) + np.where(asks, VALUES, value)
    return token_ids, np.maximum(answer, 0), asks & (answer >= 0)


TASKS = {"Echo": (echo, LETTERS, LETTERS)}
TASKS["Last word"] = (last_word, COLOURS * (VALUES + 1), VALUES)

# %% [markdown]
# The narrow encodings are brought to the model's width by a dense layer. The
# learned table gets 256 rows, or it could not be asked at all. T5's bias puts
# all distances from 32 on into one bucket, so that none is left untrained.


# %%
def with_positions(name, token_ids, x):
    """Return the vectors with positions in them, and a bias for the scores."""
    every = ops.arange  # positions 0, 1, 2, ... of a tensor's second axis
    narrow = {
        "normalised": lambda n: seq_ops.normalized_encoding(every(n), n),
        "linear": lambda n: seq_ops.linear_encoding(every(n)),
        "binary": lambda n: seq_ops.binary_encoding(every(n), DIGITS),
    }
    if name in narrow:
        rows = keras.layers.Lambda(
            lambda t: narrow[name](ops.shape(t)[1])[None]
        )
        return x + keras.layers.Dense(x.shape[-1])(rows(token_ids)), None
    if name == "sinusoidal":
        return layers.SinusoidalPositions()(x), None
    if name == "learned":
        return layers.LearnedPositions(max(ASKED))(x), None
    if name == "ALiBi":
        bias = lambda t: seq_ops.alibi_bias(HEADS, ops.shape(t)[1])  # noqa: E731
        return x, keras.layers.Lambda(bias)(token_ids)
    if name == "relative bias":
        bias = layers.RelativePositionBias(
            HEADS, max_distance=TRAINED, bidirectional=False
        )
        return x, bias(x)
    return x, None  # none, and rotary, which the attention layer does itself


def train(name, make, vocabulary, answers, batches):
    """Train one model on one task; return its accuracy at each length."""
    keras.utils.set_random_seed(0)
    token_ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(vocabulary, 64)(token_ids)
    x, bias = with_positions(name, token_ids, x)
    attention = layers.MultiHeadAttention(HEADS, 16, rotary=name == "rotary")
    x = attention(x, x, use_causal_mask=True, bias=bias)
    model = keras.Model(token_ids, keras.layers.Dense(answers)(x))
    rate = keras.optimizers.schedules.CosineDecay(0.01, batches)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(rate), loss, jit_compile=False)
    x, y, counts = make(32 * batches, TRAINED, np.random.default_rng(0))
    model.fit(x, y, 32, sample_weight=counts, verbose=VERBOSE)
    accuracy = []
    for n in ASKED:
        x, y, counts = make(100, n, np.random.default_rng(n))  # fresh
        right = np.argmax(model(x), axis=-1) == y
        accuracy.append(right[:, -TRAINED:][counts[:, -TRAINED:]].mean())
    return accuracy


# %% [markdown]
# Eighteen small trainings. A bar shows each of them; without a terminal, a
# line.

# %%
VERBOSE = 1 if sys.stdout.isatty() else 2
BATCHES = 30 if FAST else 300
CONTENDERS = ["none", *ROWS]
if FAST:
    CONTENDERS = ["rotary"]
results = {}
for task, settings in TASKS.items():
    for name in CONTENDERS:
        print(f"{task}, positions: {name}")
        results[task, name] = train(name, *settings, BATCHES)

print(f"\n{'accuracy at length':26}" + "".join(f"{n:6}" for n in ASKED))
for (task, name), accuracy in results.items():
    print(f"{task:10} {name:15}" + "".join(f"{a:6.2f}" for a in accuracy))

# %%
figure, panels = plt.subplots(1, 2, figsize=(12.5, 5.4), sharey=True)
for panel, task in zip(panels, TASKS, strict=True):
    table = np.array([results[task, name] for name in CONTENDERS])
    panel.imshow(table, aspect="auto", vmin=0, vmax=1.15)
    for (i, j), accuracy in np.ndenumerate(table):
        ink = "white" if accuracy > 0.65 else INK
        style = {"ha": "center", "va": "center", "color": ink}
        panel.text(j, i, f"{accuracy:.0%}", **style)
    chance = 1 / TASKS[task][2]
    without_frame(panel, title=f"{task} (chance: {chance:.0%})")
    panel.set_xticks(range(len(ASKED)), ASKED)
    panel.set_xlabel("length asked about; trained on 32")
    panel.axvline(0.5, color="white", linewidth=6)
panels[0].set_yticks(range(len(CONTENDERS)), CONTENDERS, size=12, color=INK)
figure.suptitle("Right answers in the last 32 steps of a sequence")
save(figure, "nine_models.png")
