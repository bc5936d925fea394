# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 14. What does it cost? A famous table, measured
#
# **You will** take Table 1 of *Attention is all you need*, which compares
# self-attention with recurrence, convolution and restricted self-attention, and
# check every column of it: time and memory by stopwatch, sequential operations
# by counting them in the graph, path length by following gradients. At the end
# you know which layer to choose for which length, and you have seen an
# attention layer that is exact and yet never holds its own matrix.
#
# **You need** `multi_head`, and 4 GB of memory. **Takes** 3 minutes on 2 CPU
# cores. (Close other programs: this one holds a stopwatch.)
#
# **Library code:** `keras_seq/ops/blockwise_attention.py`,
# `keras_seq/ops/local_attention.py`, `keras_seq/layers/local_attention.py`,
# `keras_seq/layers/gru.py`.

# %%
import json
import os
import pathlib
import subprocess
import sys
import time

from keras_seq import layers  # first: it keeps TensorFlow quiet

# isort: split
import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf

FAST = os.environ.get("KERAS_SEQ_FAST") == "1"  # set by the test suite
OUTPUT = pathlib.Path(os.environ.get("KERAS_SEQ_OUTPUT", "outputs/complexity"))
OUTPUT.mkdir(parents=True, exist_ok=True)
plt.style.use("keras_seq.course")
palette = plt.rcParams["axes.prop_cycle"].by_key()["color"]
INK = plt.rcParams["text.color"]
keras.utils.set_random_seed(0)


def save(figure, name):
    figure.savefig(OUTPUT / name)
    print(f"picture: {OUTPUT / name}")


# %% [markdown]
# ## The table
#
# A layer maps $n$ vectors of width $d$ to $n$ vectors of width $d$. The paper
# asks three questions of it. How much work is it? How much of the work must
# happen one after the other, however many processors there are? And how long
# is the longest path a signal travels between two positions?
#
# | layer | operations | sequential | longest path |
# |---|---|---|---|
# | self-attention | $O(n^2 d)$ | $O(1)$ | $O(1)$ |
# | recurrent | $O(n d^2)$ | $O(n)$ | $O(n)$ |
# | convolutional, width $k$ | $O(k n d^2)$ | $O(1)$ | $O(n/k)$ |
# | the same, dilated | $O(k n d^2)$ | $O(1)$ | $O(\log_k n)$ |
# | self-attention restricted to $r$ | $O(r n d)$ | $O(1)$ | $O(n/r)$ |
#
# Where do these come from? Attention compares all pairs: $n^2$ dot products of
# length $d$. A recurrent layer multiplies each of $n$ states by a $d \times d$
# matrix; a convolution does so $k$ times. Restricted attention compares each
# position with its $r$ neighbours only.
#
# Here are the contenders. Self-attention comes twice: *dense* makes the whole
# $n \times n$ matrix of weights, as the equation says. *By blocks* computes the
# same numbers a few rows at a time, and forgets each block once it is used.

# %%
WIDTH, HEADS, WINDOW, KERNEL = 64, 4, 64, 3  # d, H, r, k
x = keras.Input((None, WIDTH))
one_head = WIDTH // HEADS
dense = layers.MultiHeadAttention(HEADS, one_head, flash_attention=False)
blocks = layers.MultiHeadAttention(HEADS, one_head)
restricted = layers.LocalAttention(HEADS, one_head, window=WINDOW)
recurrent = layers.GRU(WIDTH, return_sequences=True)
convolution = keras.layers.Conv1D(WIDTH, KERNEL, padding="same")
MODELS = {
    "self-attention, dense": keras.Model(x, dense(x, x)),
    "self-attention, by blocks": keras.Model(x, blocks(x, x)),
    "recurrent (GRU)": keras.Model(x, recurrent(x)),
    "convolution, k = 3": keras.Model(x, convolution(x)),
    "restricted attention, r = 64": keras.Model(x, restricted(x, x)),
}
DENSE, BLOCKS, RECURRENT, CONVOLUTION, RESTRICTED = MODELS
COLOURS = dict(zip(MODELS, palette, strict=False))
EXPECTED = dict(zip(MODELS, (2, 2, 1, 1, 1), strict=True))  # power of n, time

blocks.set_weights(dense.get_weights())
probe = tf.random.normal((1, 777, WIDTH))
difference = MODELS[DENSE](probe) - MODELS[BLOCKS](probe)
print(f"dense and by blocks differ by at most {np.abs(difference).max():.0e}")
np.testing.assert_allclose(difference, np.zeros(difference.shape), atol=1e-5)

# %% [markdown]
# ## Time against length
#
# We time what training does: forward and backward, for one sequence of length
# $n$. The contenders take turns, and of several runs the fastest counts, since
# whatever disturbs a run only ever adds time. Then we fit a straight line to
# the last points of a log-log plot, where a power $n^p$ is a line of slope $p$.
# Only to the last ones: while $n$ is small, what you measure is mostly the cost
# of starting an operation at all.


# %%
def training_step(model, n):
    """Return a compiled function that does one step, and warm it up."""
    sequence = tf.random.normal((1, n, WIDTH))

    def step(sequence):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(sequence) ** 2)
        return tape.gradient(loss, model.trainable_variables)

    step = tf.function(step).get_concrete_function(sequence)
    step(sequence)
    return lambda: step(sequence)


def power_of_n(measured):
    """Return p of the n^p that fits the last three points, {n: value}."""
    lengths, values = zip(*sorted(measured.items())[-3:], strict=True)
    return np.polyfit(np.log(lengths), np.log(values), 1)[0]


LONGEST = dict(zip(MODELS, (4096, 8192, 8192, 65536, 32768), strict=True))
lengths = [256, 1024] if FAST else [2**i for i in range(8, 17)]
REPEATS = 3 if FAST else 7
seconds = {name: {} for name in MODELS}
bar = keras.utils.Progbar(len(lengths), verbose=int(sys.stdout.isatty()))
for n in lengths:
    running = [name for name in MODELS if n <= LONGEST[name]]
    steps = {name: training_step(MODELS[name], n) for name in running}
    times = {name: [] for name in running}
    for _ in range(REPEATS):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            times[name].append(time.perf_counter() - start)
    for name in running:
        seconds[name][n] = min(times[name])
    bar.add(1)

print("milliseconds for one training step, and the fitted power of n")
for name, measured in seconds.items():
    row = "".join(f"{1000 * value:8.1f}" for value in measured.values())
    print(f"{name:29} n^{power_of_n(measured):.2f}  {row}")

# %% [markdown]
# ## Memory against length
#
# How much memory does a step need at its peak? The operating system knows: it
# keeps, for each process, the largest amount it ever held. So each contender
# gets a process of its own. Its model travels there as JSON (layers that know
# their own configuration can do that), takes training steps on longer and
# longer sequences, and reports the peak after each. We subtract the peak after
# a sequence of 16, which is TensorFlow itself.

# %%
PROBE = """
import json, pathlib, resource, sys
from keras_seq import layers
import keras, tensorflow as tf

def peak():  # in kilobytes
    status = pathlib.Path("/proc/self/status")  # Linux
    if not status.exists():  # macOS
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return int(status.read_text().split("VmHWM:")[1].split()[0])

config, width, lengths = json.load(sys.stdin)
model = keras.models.model_from_json(config)
for n in lengths:
    def step(sequence):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(sequence) ** 2)
        return tape.gradient(loss, model.trainable_variables)
    sequence = tf.random.normal((1, n, width))
    tf.function(step).get_concrete_function(sequence)(sequence)
    print(n, peak())
"""


def start_probe(name, lengths):
    process = subprocess.Popen(
        [sys.executable, "-c", PROBE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    question = [MODELS[name].to_json(), WIDTH, [16, *lengths]]
    process.stdin.write(json.dumps(question))
    process.stdin.close()
    return process


def growth(process):
    """Return {n: megabytes above the first peak}."""
    (_, base), *rest = [map(int, line.split()) for line in process.stdout]
    return {n: (peak - base) / 1024 for n, peak in rest}


weighed = [DENSE, RESTRICTED] if FAST else list(MODELS)
processes = {}
for name in weighed:
    longest = 1024 if FAST else min(LONGEST[name], 16384)
    doubling = [2**i for i in range(9, 15) if 2**i <= longest]
    processes[name] = start_probe(name, doubling)
megabytes = {name: growth(process) for name, process in processes.items()}
print("megabytes at the peak of a training step, and the fitted power of n")
for name, measured in megabytes.items():
    row = "".join(f"{value:8.0f}" for value in measured.values())
    print(f"{name:29} n^{power_of_n(measured):.2f}  {row}")

# %%
figure, panels = plt.subplots(1, 2, figsize=(14, 5.6))
sides = (seconds, "seconds", "Time"), (megabytes, "megabytes", "Memory")
for panel, (results, unit, title) in zip(panels, sides, strict=True):
    for name, measured in results.items():
        label = f"{name}: $n^{{{power_of_n(measured):.2f}}}$"
        style = {"color": COLOURS[name], "label": label}
        panel.loglog(*zip(*measured.items(), strict=True), "o-", **style)
    low = min(min(measured.values()) for measured in results.values())
    for exponent in (1, 2):  # reference slopes, in grey
        ends = np.array([lengths[0], lengths[-1]])
        line = low / 3 * (ends / ends[0]) ** exponent
        panel.plot(ends, line, ":", color="#8c959f", linewidth=1.3, zorder=0)
        panel.text(ends[1] * 1.1, line[1], f"$n^{exponent}$", color="#57606a")
    top = max(max(measured.values()) for measured in results.values())
    panel.set(title=f"{title} of a training step", ylim=(low / 3, 30 * top))
    panel.set(xlabel="length $n$", ylabel=unit, xticks=lengths[::2])
    panel.set_xticks(lengths[::2], [f"{n:,}" for n in lengths[::2]])
    panel.minorticks_off()
    panel.legend(loc="upper left", fontsize=9.5)
save(figure, "time_and_memory.png")

# %% [markdown]
# Read the slopes (dotted: $n$ and $n^2$). Both kinds of full attention are
# quadratic in *time*: exactness has that price. In *memory* they part ways: the
# dense matrix is quadratic too, and of what is computed by blocks only the
# inputs and outputs remain. Everything else is linear.
#
# And read the heights. Attention beats the recurrent layer up to a length of
# thousands, though $n$ has long overtaken $d = 64$. Its operations are more,
# but they are done at once, in a few large products, while the recurrent layer
# waits for itself $n$ times. That is the second column.
#
# ## Sequential operations
#
# A graph of operations shows what has to wait for what. Its longest chain is
# the time that even a machine with infinitely many processors would need. Let
# us count it, with the recurrent loop written out.


# %%
def longest_chain(layer_of, n):
    """Return how many operations stand in the longest chain of a layer."""
    shape = tf.TensorSpec((1, n, WIDTH))
    graph = tf.function(layer_of).get_concrete_function(shape).graph
    depth = {}
    for operation in graph.get_operations():  # inputs come before outputs
        before = [depth[tensor.op.name] for tensor in operation.inputs]
        depth[operation.name] = 1 + max(before, default=0)
    return max(depth.values())


written_out = layers.GRU(WIDTH, return_sequences=True, unroll=True)
LAYERS = {
    "self-attention": lambda x: dense(x, x),
    "recurrent": written_out,
    "convolution": convolution,
    "restricted": lambda x: restricted(x, x),
}
SHORT = (8, 16, 32) if FAST else (16, 32, 64)
chains = {
    name: [longest_chain(layer, n) for n in SHORT]
    for name, layer in LAYERS.items()
}
print(f"operations in the longest chain, n = {SHORT}")
for name, chain in chains.items():
    print(f"{name:16}" + "".join(f"{count:6}" for count in chain))

# %% [markdown]
# ## Path length
#
# How many layers does it take until the first position can influence the last?
# A derivative knows: if $\partial y_{last} / \partial x_s$ is exactly zero,
# nothing of position $s$ arrives. We stack layers (with residuals, as in a
# Transformer) and look at the gradient of the last output after each.


# %%
def one_more_layer(kind, depth):
    """Return the depth-th layer of a stack, as a function."""
    if kind == "self-attention":
        layer = layers.MultiHeadAttention(1, WIDTH)
    elif kind == "restricted":  # sees 4 positions to each side
        layer = layers.LocalAttention(1, WIDTH, window=5)
    elif kind == "recurrent":
        layer = layers.GRU(WIDTH, return_sequences=True, unroll=True)
    else:  # sees its neighbours; dilated: those 1, 2, 4, 8, ... steps away
        gap = 2 ** min(depth, 5) if kind == "dilated" else 1
        layer = keras.layers.Conv1D(WIDTH, 3, padding="same", dilation_rate=gap)
    looks_at_itself = "attention" in kind or kind == "restricted"
    return (lambda x: layer(x, x)) if looks_at_itself else layer


def influence(kind, n, most):
    """Yield |dy_last / dx_s| for all s, after 1, 2, ... layers."""
    keras.utils.set_random_seed(0)
    first = x = tf.random.normal((1, n, WIDTH))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(first)
        for depth in range(most):
            x = x + one_more_layer(kind, depth)(x)
            last = x[:, -1]
            with tape.stop_recording():
                yield np.linalg.norm(tape.gradient(last, first)[0], axis=-1)


def layers_needed(kind, n):
    """Return after how many layers the first position arrives at the last."""
    for depth, felt in enumerate(influence(kind, n, most=n), start=1):
        if felt[0] > 0:
            return depth


KINDS = ("self-attention", "recurrent", "convolution", "dilated", "restricted")
TINY = (8, 16) if FAST else (8, 16, 32)
paths = {kind: [layers_needed(kind, n) for n in TINY] for kind in KINDS}
for kind, needed in paths.items():
    print(f"{kind:15} layers needed for n = {TINY}: {needed}")

# %%
figure, panels = plt.subplots(1, 5, figsize=(15, 3.3), sharey=True)
for panel, kind in zip(panels, KINDS, strict=True):
    strength = np.stack(list(influence(kind, n=48, most=3 if FAST else 6)))
    arrives = np.ma.masked_equal(strength, 0)  # exactly zero: left white
    scale = {"vmin": -7, "vmax": 1, "aspect": "auto", "cmap": "viridis"}
    image = panel.imshow(np.ma.log10(arrives), **scale)
    panel.set(title=kind.capitalize(), xlabel="input position")
    panel.set_yticks(range(len(strength)), range(1, len(strength) + 1))
    panel.tick_params(length=0)
panels[0].set_ylabel("layers")
bar = figure.colorbar(image, ax=panels, pad=0.01, ticks=[-6, -3, 0])
bar.ax.set_yticklabels(["$10^{-6}$", "$10^{-3}$", "1"])
figure.suptitle("What the last output can feel (white: nothing at all)")
save(figure, "reach.png")

# %% [markdown]
# Attention reaches every position in its first layer, all with about the same
# strength. The convolution crawls along, one position a layer; dilated, it
# doubles its reach each time; the window takes strides. The recurrent layer
# reaches everything at once as well, but look at its colours: the signal from
# position 0 has passed through all the states in between, and less than a
# millionth of it is left. Its path is not one layer long but $n$ steps. Short
# paths are what makes far dependencies *learnable*, and why attention won.
#
# ## The table, measured
#
# Computing by blocks has a price after all: the blocks wait for each other, so
# that its chain grows by a few operations for every 128 rows. That is a small
# price for a memory that no longer explodes.

# %%
paths["recurrent"] = list(TINY)  # steps, within one layer
chains["blocks"] = [f"{chains['self-attention'][0]} for each 128 rows"]
paths["blocks"] = paths["self-attention"]
names = ["self-attention", "blocks", "recurrent", "convolution", "restricted"]
paper = ["$n^2 d$", "$n^2 d$", "$n d^2$", "$k n d^2$", "$r n d$"]
cells = []
for model, name, operations in zip(MODELS, names, paper, strict=True):
    powers = [power_of_n(seconds[model])]
    powers += [power_of_n(megabytes[model])] if model in megabytes else []
    powers = [f"$n^{{{power:.2f}}}$" for power in powers] + ["", ""]
    counted = [", ".join(map(str, c[name])) for c in (chains, paths)]
    cells.append([model, operations, *powers[:2], *counted])
HEADER = [
    "layer",
    "operations\n(paper)",
    "time\n(measured)",
    "memory\n(measured)",
]
HEADER += [f"longest chain\n$n$ = {', '.join(map(str, SHORT))}"]
HEADER += [f"longest path (r = 5)\n$n$ = {', '.join(map(str, TINY))}"]
for row in [HEADER, *cells]:
    row = [cell.translate(str.maketrans("\n", " ", "${}")) for cell in row]
    print("{:29} {:19} {:16} {:18} {:27} {}".format(*row))

figure, axes = plt.subplots(figsize=(13, 4.2))
axes.axis("off")
shares = [0.24, 0.12, 0.12, 0.12, 0.2, 0.2]
table = axes.table(cells, colLabels=HEADER, colWidths=shares, loc="center")
table.auto_set_font_size(False)
for (row, column), cell in table.get_celld().items():
    cell.set(height=0.2 if row == 0 else 0.155, edgecolor="white", linewidth=2)
    cell.set_facecolor("#d0d7de" if row == 0 else "#f2f5f8")
    cell.set_text_props(size=12, ha="left" if column == 0 else "center")
    if row > 0 and column == 0:
        cell.set_text_props(color=list(COLOURS.values())[row - 1])
save(figure, "table.png")

# %% [markdown]
# ## What should be true now

# %%
time_power = {name: power_of_n(seconds[name]) for name in MODELS}
memory_power = {name: power_of_n(megabytes[name]) for name in megabytes}
for name in ("self-attention", "convolution", "restricted"):
    assert len(set(chains[name])) == 1, chains  # the same for every length
assert chains["recurrent"][2] > 3 * chains["recurrent"][0], chains
assert paths["self-attention"] == [1] * len(TINY)
assert paths["convolution"] == [n - 1 for n in TINY]
assert paths["dilated"][-1] == np.log2(TINY[-1])
assert memory_power[DENSE] > 1.6 and memory_power[RESTRICTED] < 1.3
if not FAST:  # stopwatches need room: other programs disturb them
    assert time_power[RESTRICTED] < time_power[DENSE], time_power
    for name, exponent in EXPECTED.items():
        assert abs(time_power[name] - exponent) < 0.4, (name, time_power)
    assert memory_power[BLOCKS] < 1.3, memory_power
    assert megabytes[DENSE][4096] > 5 * megabytes[BLOCKS][4096], megabytes
    assert seconds[BLOCKS][8192] > 3 * seconds[RESTRICTED][8192], seconds
print("All that should be true is true.")

# %% [markdown]
# ## Exercise
#
# The table has a second letter. Hold $n = 512$ and let $d$ grow from 64 to 1024
# (heads of 64). Which power of $d$ do you expect for self-attention from the
# table, and which do you find? Count again what `MultiHeadAttention` does, as
# in `multi_head`: what has Table 1 left out? For which $n$ and $d$ does it
# matter more than all the rest?
