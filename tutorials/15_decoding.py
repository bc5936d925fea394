# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 15. Decoding: from probabilities to a sentence
#
# **You will** see that the likeliest word at each step need not make the
# likeliest sentence, find the better one by beam search, by hand, and check it
# against all sentences there are. You learn why a search that is *too* good
# writes sentences that are too short, what temperature, top-k and top-p do to a
# distribution, and what each strategy makes of a trained translator. In the end
# you count what a cache saves.
#
# **You need** `sequence_model` and `transformer`. **Takes** 4 minutes on 2 CPU
# cores.
#
# **Library code:** `keras_seq/decoding/greedy_path.py`,
# `keras_seq/decoding/beams.py`, `keras_seq/decoding/sampled_path.py`,
# `keras_seq/decoding/penalties.py`, `keras_seq/models/transformer_steps.py`.

# %%
import itertools
import os
import pathlib
import tempfile
import time

from keras_seq import data, decoding, models  # first: it quiets TensorFlow

# isort: split
import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf

from keras_seq.tasks import translation
from keras_seq.tasks.translation_scores import corpus_scores
from keras_seq.tasks.translator import pad_rows

FAST = os.environ.get("KERAS_SEQ_FAST") == "1"  # set by the test suite
OUTPUT = pathlib.Path(os.environ.get("KERAS_SEQ_OUTPUT", "outputs/decoding"))
OUTPUT.mkdir(parents=True, exist_ok=True)
plt.style.use("keras_seq.course")
palette = plt.rcParams["axes.prop_cycle"].by_key()["color"]
BLUE, ORANGE, GREEN = palette[:3]
PALE, DIM = "#d0d7de", "#57606a"


def save(figure, name):
    figure.savefig(OUTPUT / name)
    print(f"picture: {OUTPUT / name}")


# %% [markdown]
# ## A tree in which greedy is wrong
#
# A model gives the probability of the next word, after whatever has been
# written. So all it can write is a tree, and a sentence is a path from the root
# to a full stop; its probability is the product along the path:
#
# $$ p(y \mid x) = \prod_t p(y_t \mid y_{<t}, x), \qquad
#    \hat y = \arg\max_y \; \log p(y \mid x) . $$
#
# A real tree has some $1500^{20}$ paths. This one has ten.

# %%
TREE = {
    (): {"le": 0.5, "un": 0.4, "ce": 0.1},
    ("le",): {"chat": 0.4, "chien": 0.35, "loup": 0.25},
    ("un",): {"chat": 0.8, "chien": 0.2},
    ("ce",): {"chat": 1.0},
    ("le", "chat"): {".": 0.5, "dort": 0.3, "court": 0.2},
    ("le", "chien"): {".": 0.6, "court": 0.4},
    ("un", "chat"): {".": 0.52, "dort": 0.48},
}
for beginning in ("le loup", "un chien", "ce chat", "le chat dort",
                  "le chat court", "le chien court",
                  "un chat dort"):  # fmt: skip
    TREE[tuple(beginning.split())] = {".": 1.0}  # here it can only end


def all_sentences(prefix=(), log_p=0.0):
    """Yield every (sentence, log-probability) below a prefix."""
    if prefix[-1:] == (".",):
        yield prefix, log_p
        return
    for word, p in TREE[prefix].items():
        yield from all_sentences((*prefix, word), log_p + np.log(p))


def greedy():
    sentence, log_p = (), 0.0
    while sentence[-1:] != (".",):
        word = max(TREE[sentence], key=TREE[sentence].get)
        log_p += np.log(TREE[sentence][word])
        sentence = (*sentence, word)
    return sentence, log_p


everything = dict(all_sentences())
assert np.isclose(np.exp([*everything.values()]).sum(), 1)
for sentence, log_p in sorted(everything.items(), key=lambda x: -x[1]):
    print(f"{np.exp(log_p):.3f}  {' '.join(sentence)}")
print("greedy finds:", *greedy()[0])

# %% [markdown]
# Greedy takes *le*, since 0.5 is more than 0.4, and can never go back.
#
# **Beam search** keeps the $K$ best beginnings instead of one. At each step it
# tries all continuations of all of them, and keeps the $K$ best again. What has
# ended keeps its place.
#
# **Length.** Each word makes a sentence less likely, so the search likes short
# ones. The remedy of Wu et al. (2016) is to divide by a power of the length:
#
# $$ score(y) = \frac{\log p(y \mid x)}{lp(y)}, \qquad
#    lp(y) = \left(\frac{5 + |y|}{6}\right)^\alpha . $$


# %%
def lp(sentence, alpha):
    return ((5 + len(sentence)) / 6) ** alpha


def beam_search(K, alpha):
    """Return the best of the K sentences that stayed in the beam."""
    beam = {(): 0.0}
    while not all(sentence[-1:] == (".",) for sentence in beam):
        ended = {s: log_p for s, log_p in beam.items() if s[-1:] == (".",)}
        tried = {
            (*s, word): log_p + np.log(p)
            for s, log_p in beam.items()
            if s not in ended
            for word, p in TREE[s].items()
        }
        best = sorted(tried, key=tried.get, reverse=True)[: K - len(ended)]
        beam = {**ended, **{s: tried[s] for s in best}}
    return max(beam, key=lambda s: beam[s] / lp(s, alpha))


def brute_force(alpha):
    return max(everything, key=lambda s: everything[s] / lp(s, alpha))


# %% [markdown]
# The library drives any function `step(token_ids, state)`. Ours walks the tree:
# the state is the node where each row stands. `decoding.beam_search` reorders
# it as hypotheses come and go. Of the ids, 0 is padding, 1 starts, 2 ends.

# %%
WORDS = ["", "^", *". le un ce chat chien loup dort court".split()]
nodes = [("^",), *TREE, *everything]  # before the root, then all prefixes
log_p = np.full((len(nodes), len(WORDS)), -1e9, "float32")
follow = np.zeros((len(nodes), len(WORDS)), "int32")
follow[0, 1] = 1  # the start token leads to the root
for prefix, words in TREE.items():
    for word, p in words.items():
        at = nodes.index(prefix), WORDS.index(word)
        log_p[at], follow[at] = np.log(p), nodes.index((*prefix, word))


def step(token_ids, state):
    flat = state["node"] * len(WORDS) + token_ids
    node = keras.ops.take(follow.reshape(-1), flat)
    return keras.ops.take(log_p, node, axis=0), {"node": node}, {}


def spoken(token_ids):
    return tuple(WORDS[i] for i in np.array(token_ids).reshape(-1) if i)


at_root = {"node": np.zeros(1, "int32")}
found = decoding.greedy(step, at_root, [1], end_id=2, max_length=5)
assert spoken(found.token_ids) == greedy()[0]
np.testing.assert_allclose(found.scores[0], greedy()[1], rtol=1e-5)
for K in (1, 2, 3, 8):
    for alpha in (0.0, 0.6, 1.0, 2.0):
        by_hand = beam_search(K, alpha)
        found = decoding.beam_search(
            step, at_root, [1], 2, 5, beam_size=K, length_penalty=alpha
        )
        assert spoken(found.token_ids) == by_hand, (K, alpha)
        assert K == 1 or by_hand == brute_force(alpha), (K, alpha)
        assert K > 1 or by_hand == greedy()[0]
print("by hand == decoding.greedy, decoding.beam_search == brute force")
for alpha in (0.0, 0.6):
    print(f"best with alpha = {alpha}:", *beam_search(2, alpha))

# %%
leaves = {s: n for n, s in enumerate(everything)}


def height(prefix):
    """A node stands in the middle of the leaves below it."""
    below = [n for s, n in leaves.items() if s[: len(prefix)] == prefix]
    return -np.mean(below)


paths = {"greedy": (greedy()[0], ORANGE)}
paths |= {"beam, α = 0": (beam_search(2, 0.0), BLUE)}
paths |= {"beam, α = 0.6": (beam_search(2, 0.6), GREEN)}
figure, axes = plt.subplots(figsize=(11, 5.6))
for prefix, words in TREE.items():
    for word, p in words.items():
        ends = (prefix, (*prefix, word))
        line = [len(s) for s in ends], [height(s) for s in ends]
        axes.plot(*line, color=PALE, lw=1 + 9 * p, zorder=1,
                  solid_capstyle="round")  # fmt: skip
        for n, (path, colour) in enumerate(paths.values()):
            if path[: len(ends[1])] == ends[1]:
                shift = (n - 1) * 0.07
                axes.plot(line[0], np.array(line[1]) + shift, color=colour,
                          zorder=2)  # fmt: skip
        axes.text(
            np.mean(line[0]), np.mean(line[1]) + 0.2, f"{p:g}", ha="center",
            color=DIM, size=9,
        )  # fmt: skip
        box = {"boxstyle": "round,pad=0.35", "fc": "white", "ec": PALE}
        axes.text(line[0][1], line[1][1], word, ha="center", va="center",
                  bbox=box, zorder=3)  # fmt: skip
for sentence, total in everything.items():
    axes.text(len(sentence) + 0.18, height(sentence), f"{np.exp(total):.3f}",
              va="center", weight="bold")  # fmt: skip
for label, (_, colour) in paths.items():
    axes.plot([], [], color=colour, label=label)
axes.legend(loc="lower left")
axes.plot(0, height(()), "o", color=DIM, ms=9, zorder=3)
axes.axis("off")
axes.set_title("Greedy takes the thicker branch and misses the better one")
save(figure, "tree.png")

# %% [markdown]
# ## Sampling
#
# Where there is no one right answer, draw one. Three ways to keep away from
# nonsense: a **temperature** $\tau$ below 1 makes likely tokens likelier still,
# $q \propto p^{1/\tau}$; **top-k** draws among the $k$ likeliest; **top-p**
# among the fewest that make up a share $p$, many where the model is unsure and
# few where it is certain.


# %%
def adjusted(p, temperature=1.0, top_k=None, top_p=None):
    """Return the distribution that is drawn from."""
    q = p ** (1 / temperature)
    order = np.argsort(-q, kind="stable")
    if top_k is not None:
        q[order[top_k:]] = 0
    q /= q.sum()
    if top_p is not None:
        before = np.cumsum(q[order]) - q[order]
        q[order[before >= top_p]] = 0
    return q / q.sum()


DRAWS = 2_000 if FAST else 20_000
p = np.array([0.32, 0.22, 0.15, 0.11, 0.08, 0.06, 0.04, 0.02])
ways = {
    "as it is": {},
    "temperature 0.5": {"temperature": 0.5},
    "temperature 2": {"temperature": 2.0},
    "top-k 3": {"top_k": 3},
    "top-p 0.75": {"top_p": 0.75},
}
logits = np.log(np.concatenate([[1e-30, 1e-30], p])).astype("float32")


def one_word(token_ids, state):
    return keras.ops.repeat(logits[None], len(token_ids), 0), state, {}


figure, panels = plt.subplots(1, len(ways), figsize=(14, 3.2), sharey=True)
for axes, (name, options) in zip(panels, ways.items(), strict=True):
    q = adjusted(p.copy(), **options)
    drawn = decoding.sample(
        one_word, {}, [1] * DRAWS, end_id=9, max_length=1, seed=1, **options
    )
    counts = np.bincount(np.array(drawn.token_ids)[:, 0], minlength=10)[2:]
    np.testing.assert_allclose(counts / DRAWS, q, atol=2 / DRAWS**0.5)
    axes.bar(range(len(p)), p, color=PALE)
    axes.bar(range(len(p)), q, 0.5, color=BLUE)
    axes.plot(range(len(p)), counts / DRAWS, "_", color=ORANGE, ms=10, mew=2)
    axes.set_title(name)
    axes.set(xticks=[])
panels[0].set(ylabel="probability")
panels[0].plot([], [], "_", color=ORANGE, mew=2, label="drawn")
panels[0].legend()
save(figure, "sampling.png")
print("distributions by hand == what decoding.sample draws")

# %% [markdown]
# ## On a translator
#
# A small Transformer, from English to French, that has not learned all there is
# to learn, so that it has choices to make.

# %%
pairs = data.load_grammar_pairs(
    num_train=200 if FAST else 40_000,
    num_validation=20 if FAST else 300,
    num_test=10 if FAST else 300,
    max_words=14,
)
how = {"epochs": 2, "learning_rate": 4e-3, "schedule": "cosine"}
how |= {"positions": "sinusoidal", "max_shift": 0}
if FAST:
    how |= {"epochs": 1, "preset": "test", "vocabulary_size": 400}
with tempfile.TemporaryDirectory() as folder:
    translator, _ = translation.train(
        pairs, "transformer", folder=folder, verbose=1, **how
    )
model, tokenizer = translator.model, translator.tokenizer
test = pairs.columns("test")
rows = translator.encode_rows(test["source"])
ids = pad_rows([np.append(row, tokenizer.end_id) for row in rows])
references = [[text] for text in test["target"]]
MOST = 12 if FAST else 40  # tokens


def decode(strategy, source_ids=ids, **options):
    """Return `Decoded`, from a graph made for this strategy."""

    def run(source_ids):
        starts = tf.fill(tf.shape(source_ids)[:1], tokenizer.start_id)
        state = model.start(source_ids)
        return strategy(
            model.stepper(), state, starts, tokenizer.end_id, MOST, **options
        )

    spec = tf.TensorSpec((None, None), tf.int32)
    graph = tf.function(run, autograph=False).get_concrete_function(spec)
    return graph(tf.constant(source_ids))


def texts_of(token_ids):
    return [x.decode("utf-8", "replace")
            for x in tokenizer.detokenize(token_ids).numpy()]  # fmt: skip


def bleu_of(texts):
    return corpus_scores(texts, references)["bleu"]


# %% [markdown]
# **How wide a beam, and which $\alpha$?** For each: BLEU, and the length of
# what is written against that of the references.

# %%
BEAMS = (1, 2) if FAST else (1, 2, 4, 8, 16)
ALPHAS = (0.0,) if FAST else (0.0, 0.6, 1.0, 2.0)
wanted = np.mean([len(row) + 1 for row in translator.encode_rows(
    test["target"])])  # fmt: skip
results = {}  # (beam, alpha): BLEU, length, log-probabilities


def note(beam, alpha, token_ids, scores, lengths):
    results[beam, alpha] = (
        bleu_of(texts_of(token_ids)),
        lengths.mean() / wanted,
        scores * ((5 + lengths) / 6) ** alpha,  # the penalty taken back
    )


note(1, 0.0, *(np.array(x) for x in decode(decoding.greedy)))
for K, alpha in itertools.product(BEAMS[1:], ALPHAS):
    found = decode(decoding.beam_search, beam_size=K, length_penalty=alpha)
    note(K, alpha, *(np.array(x)[:, 0] for x in found))
for (K, alpha), (bleu, length, log_p) in results.items():
    print(
        f"beam {K:2}, alpha {alpha:.1f}: BLEU {bleu:5.1f}, length "
        f"{length:.3f}, log p {log_p.mean():.3f}"
    )

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4))
for alpha, colour in zip(ALPHAS, palette, strict=False):
    line = [results.get((K, alpha), results[1, 0.0]) for K in BEAMS]
    for axes, place in ((left, 0), (right, 1)):
        axes.plot(BEAMS, [x[place] for x in line], "o-", color=colour,
                  label=f"α = {alpha:g}")  # fmt: skip
right.axhline(1, color=DIM, lw=1, ls=":")
right.text(BEAMS[-1], 1.001, "as long as the references", color=DIM, ha="right")
for axes, title in ((left, "BLEU"), (right, "Length, of the references'")):
    axes.set_xscale("log", base=2)
    axes.set_xticks(BEAMS, BEAMS)
    axes.set(xlabel="beam")
    axes.set_title(title)
right.legend()
save(figure, "beams.png")

# %% [markdown]
# In our run a beam of 2 is worth 3 BLEU over greedy, and that is nearly all
# there is to gain. The wider the beam, the *likelier* what it finds, and the
# shorter: without a penalty a beam of 16 leaves out 4 % of the words, and is no
# better than a beam of 2 (the *beam search curse*). The penalty mends the
# length. Which $\alpha$ has the best BLEU, 300 sentences cannot tell.
#
# **Diversity.** Ask for the same sentence several times. How many different
# answers are there, and how good are they?

# %%
ANSWERS = 2 if FAST else 5
settings = {
    "temperature": [{"temperature": x} for x in (0.2, 0.5, 0.8, 1.0, 1.3)],
    "top-k": [{"top_k": x} for x in (1, 2, 5, 20)],
    "top-p": [{"top_p": x} for x in (0.2, 0.5, 0.8, 0.95)],
}
if FAST:
    settings = {"temperature": [{"temperature": 0.5}], "top-k": [{"top_k": 2}]}
curves = {}
for name, choices in settings.items():
    curves[name] = []
    for options in choices:
        drawn = decode(
            decoding.sample, np.repeat(ids, ANSWERS, axis=0), seed=1, **options
        )
        texts = texts_of(drawn.token_ids)
        answers = [texts[n::ANSWERS] for n in range(ANSWERS)]
        different = np.mean([len({*row}) for row in zip(*answers, strict=True)])
        bleu = np.mean([bleu_of(some) for some in answers])
        curves[name].append((different, bleu, *options.values()))
        print(f"{options}: {different:.2f} different, BLEU {bleu:.1f}")

figure, axes = plt.subplots(figsize=(9, 5))
looks = {"temperature": (BLUE, 5), "top-k": (ORANGE, -14), "top-p": (GREEN, 5)}
for name, points in curves.items():
    colour, shift = looks[name]
    axes.plot(*np.transpose(points)[:2], "o-", color=colour, label=name)
    for different, bleu, value in points:
        axes.annotate(
            f"{value:g}", (different, bleu), (shift, shift), color=colour,
            textcoords="offset points", size=9,
        )  # fmt: skip
axes.plot(1, results[1, 0.0][0], "*", color="black", ms=14)
axes.annotate("greedy", (1, results[1, 0.0][0]), (10, -14),
              textcoords="offset points")  # fmt: skip
axes.set(xlabel=f"different answers, of {ANSWERS}", ylabel="BLEU of one")
axes.legend()
axes.set_title("What diversity costs")
save(figure, "diversity.png")

# %% [markdown]
# The model as it is (a temperature of 1) loses 30 BLEU: after each word there
# is a long tail of tokens, each unlikely, together not. Cutting the tail helps.
# But all three knobs move along one curve: for a translator, diversity has its
# price. Where there are many right answers, in stories, it is worth it.
#
# ## What a cache saves
#
# To write token $t$, the decoder needs the keys and values of all tokens before
# it. It may compute them anew each time: $1 + 2 + \ldots + T = T (T + 1) / 2$
# tokens go through all blocks for a sentence of $T$. Or keep them: $T$. The
# source's keys and values, too, are made once.

# %%
big = models.transformer(1500, "test" if FAST else "tiny")
source_ids = np.random.default_rng(0).integers(3, 1500, size=(8, 20))
LENGTHS = (6,) if FAST else (8, 16, 32, 64)


def anew(token_ids, state):
    """A step without a cache: the whole decoder reads all tokens again."""
    so_far = tf.concat([state["so_far"], token_ids[:, None]], axis=1)
    logits = big({"source_ids": state["source"], "target_ids": so_far})
    return logits[:, -1], {**state, "so_far": so_far}, {}


def writer(length, has_cache):
    """Return a graph that writes `length` tokens."""

    def run(source):
        state = {"source": source, "so_far": source[:, :0]}
        step = anew
        if has_cache:
            state, step = big.start(source), big.stepper()
        return decoding.greedy(step, state, [2] * 8, 1, length)

    spec = tf.TensorSpec((8, None), tf.int32)
    return tf.function(run, autograph=False).get_concrete_function(spec)


counted = {"anew": [sum(range(n + 1)) for n in LENGTHS], "cached": LENGTHS}
seconds = {"anew": [], "cached": []}
for length in LENGTHS:
    source = tf.constant(source_ids, tf.int32)
    writers = {name: writer(length, name == "cached") for name in seconds}
    written = [np.array(write(source).token_ids) for write in writers.values()]
    np.testing.assert_array_equal(*written)
    assert written[0].all()  # as long as it should be
    times = {name: [] for name in writers}
    for _ in range(1 if FAST else 5):  # in turns
        for name, write in writers.items():
            start = time.perf_counter()
            write(source)
            times[name].append(time.perf_counter() - start)
    for name in seconds:
        seconds[name].append(np.median(times[name]))
    longer = seconds["anew"][-1] / seconds["cached"][-1]
    print(
        f"{length:3} tokens: to compute anew takes {longer:.1f} times as long"
    )
print("cached == computed anew")

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4))
for axes, what in ((left, counted), (right, seconds)):
    for name, colour in (("anew", ORANGE), ("cached", BLUE)):
        axes.plot(LENGTHS, what[name], "o-", color=colour, label=name)
    axes.set(xlabel="tokens written", ylim=0)
    axes.set_xticks(LENGTHS)
left.set_title("Tokens through the decoder, counted")
right.set_title("Seconds, measured")
left.legend()
save(figure, "cache.png")

# %% [markdown]
# ## What should be true now

# %%
assert everything[brute_force(0.0)] > greedy()[1]
assert counted["anew"][-1] == LENGTHS[-1] * (LENGTHS[-1] + 1) // 2
if not FAST:
    greedy_bleu, greedy_length, greedy_log_p = results[1, 0.0]
    assert results[4, 0.0][2].mean() > greedy_log_p.mean()  # searches better
    assert results[16, 0.0][1] < results[16, 2.0][1]  # and writes less
    assert seconds["anew"][-1] > 1.5 * seconds["cached"][-1], seconds
    warm = [different for different, *_ in curves["temperature"]]
    assert warm == sorted(warm), warm
print("All that should be true is true.")

# %% [markdown]
# ## Exercise
#
# 1. Change one probability of the tree so that a beam of two misses the best
#    sentence and a beam of three finds it.
# 2. For how many sentences does a beam of 16 find something likelier than a
#    beam of 4 does, and is it better? (`results` has the log-probabilities.)
# 3. `decoding.beam_search` takes a `coverage_penalty`, which asks that every
#    source word be looked at. Does it mend what $\alpha$ mends?
