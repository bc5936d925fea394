# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 1. The sequence model: I am Bond, James ...
#
# **You will** give every sentence a probability, as a product of one factor
# for each word. First by counting: an n-gram model, which knows the last few
# words and no more. Then with a recurrent network, which carries a summary of
# *all* words so far. Both are asked to end "I am Bond, James ...", and you will
# see exactly where the one fails and the other does not. At the end the models
# talk.
#
# **You need** a little NumPy, and to know what softmax does. **Takes** 1 minute
# on 2 CPU cores.
#
# **Library code:** `keras_seq/layers/gru.py`, `keras_seq/layers/gru_cell.py`
# and `keras_seq/ops/rnn_cells.py`.

# %%
import collections
import itertools
import os
import pathlib

from keras_seq import layers  # first: it keeps TensorFlow quiet

# isort: split
import keras
import matplotlib.pyplot as plt
import numpy as np

FAST = os.environ.get("KERAS_SEQ_FAST") == "1"  # set by the test suite
OUTPUT = pathlib.Path(
    os.environ.get("KERAS_SEQ_OUTPUT", "outputs/sequence_model")
)
OUTPUT.mkdir(parents=True, exist_ok=True)
plt.style.use("keras_seq.course")
palette = plt.rcParams["axes.prop_cycle"].by_key()["color"]
BLUE, ORANGE, GREEN, PURPLE, RED, GREY = palette
DIM = "#57606a"
keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)


def save(figure, name):
    figure.savefig(OUTPUT / name)
    print(f"picture: {OUTPUT / name}")


# %% [markdown]
# ## One factor for each word
#
# How probable is a sentence $y = (y_1, \dots, y_T)$? There are far too many
# sentences to count them. But any joint probability is a product of conditional
# ones, word by word; this is no assumption, it is the chain rule:
#
# $$ p(y) = \prod_{t=1}^{T} p(y_t \mid y_1, \dots, y_{t-1})
#         = \prod_t p(y_t \mid y_{<t}). $$
#
# So one function is enough: given the words so far, a distribution over the
# next word. The end of a sentence is a word too; without it, the probabilities
# of all sentences together would not be 1.
#
# Here is a language small enough to look through. People introduce themselves,
# and say their surname, which is the point, twice.

# %%
first_names = "james mary peter anna oscar ruth felix clara hugo vera".split()
surnames = "bond baker stone fisher woods hill marsh frost lane field".split()
templates = [
    "i am {s} , {f} {s} .",
    "my name is {s} , {f} {s} .",
    "good evening , {s} is my name , {f} {s} .",
    "they call me {s} , which you will not forget , {f} {s} .",
    "{s} , if you please , and to my friends , of whom i have few , {f} {s} .",
]
pairs = [
    pair
    for pair in itertools.product(first_names, surnames)
    if pair != ("james", "bond")
]
rng.shuffle(pairs)
known, unknown = pairs[:70], [*pairs[70:], ("james", "bond")]


def write(pairs):
    return [
        template.format(f=first, s=last).split()
        for first, last in pairs
        for template in templates
    ]


train, test = write(known), write(unknown)
START, END = "<start>", "."
vocabulary = ["<pad>", START, *sorted({w for s in train for w in s})]
print(f"{len(train)} sentences to learn from, {len(test)} to be tested with,")
print(f"{len(vocabulary)} words; one of the sentences:")
print("  " + " ".join(train[3]))
assert "i am bond , james bond .".split() in test  # and never in training
assert {w for s in test for w in s} <= set(vocabulary)

# %% [markdown]
# ## By counting: the n-gram model
#
# Markov's shortcut: of all the words so far keep the last $n - 1$,
#
# $$ p(y_t \mid y_{<t}) \approx p(y_t \mid y_{t-n+1}, \dots, y_{t-1})
#    = \frac{\#(y_{t-n+1}, \dots, y_t)}{\#(y_{t-n+1}, \dots, y_{t-1})}. $$
#
# A context that never occurred has no count. Then a little of the next shorter
# one helps out: `counts + PRIOR * p_shorter`, divided by its sum.


# %%
class NGram:
    """Counts of what follows each context of up to `n - 1` words."""

    PRIOR = 0.5

    def __init__(self, n, sentences):
        self.n = n
        self.counts = collections.defaultdict(collections.Counter)
        for sentence in sentences:
            words = [START, *sentence]
            for t in range(1, len(words)):
                for size in range(min(n - 1, t) + 1):
                    context = tuple(words[t - size : t])
                    self.counts[context][words[t]] += 1

    def next_word(self, words):
        """Return p over the vocabulary, given all words so far."""
        p = np.array([w not in ("<pad>", START) for w in vocabulary], float)
        p /= p.sum()
        words = [START, *words]
        for size in range(min(self.n - 1, len(words)) + 1):
            context = tuple(words[len(words) - size :])
            counts = np.array([self.counts[context][w] for w in vocabulary])
            p = (counts + self.PRIOR * p) / (counts.sum() + self.PRIOR)
        return p


def factors(next_word, sentence):
    """Return p(y_t | y_<t) of each word of a sentence."""
    return np.array(
        [
            next_word(sentence[:t])[vocabulary.index(word)]
            for t, word in enumerate(sentence)
        ]
    )


bigram, trigram, five_gram = (NGram(n, train) for n in (2, 3, 5))
bond = "i am bond , james bond .".split()
for n, model in ((2, bigram), (3, trigram), (5, five_gram)):
    p = factors(model.next_word, bond)
    product = " x ".join(f"{one:.2f}" for one in p)
    print(f"{n}-gram: p = {product} = {p.prod():.1e}")

# A distribution, whatever came before; and a product of them is one as well.
np.testing.assert_allclose(trigram.next_word(["i", "am"]).sum(), 1)
two_words = sum(
    first * trigram.next_word([word]).sum()
    for word, first in zip(vocabulary, trigram.next_word([]), strict=True)
)
np.testing.assert_allclose(two_words, 1)

# %% [markdown]
# All three stumble at the same place, the surname after "james". It stood there
# three words before, but "bond , james" was never seen in training, and so
# counting has nothing to say. A longer $n$ makes it worse, not better: the
# longer a context, the more surely it is a new one.
#
# ## With a memory: the recurrent network
#
# The network reads one word at a time into a state $h$ of fixed size, and
# predicts from the state:
#
# $$ h_t = \mathrm{GRU}(x_t, h_{t-1}), \qquad
#    p(y_{t+1} \mid y_{\le t}) = \mathrm{softmax}(W h_t + b). $$
#
# There is no $n$ in it. To train it, all positions of a sentence are asked at
# once: the input is the sentence behind `<start>`, the target is the sentence,
# and the loss is the mean of $-\log p(y_t \mid y_{<t})$. The causal direction
# needs no mask here: $h_t$ has seen nothing later.

# %%
LONGEST = max(map(len, train + test))


def token_ids(sentences):
    """Return inputs and targets `(B, LONGEST)`, 0 where there is no word."""
    ids = np.zeros((len(sentences), LONGEST + 1), "int32")
    for row, sentence in zip(ids, sentences, strict=True):
        found = [vocabulary.index(word) for word in [START, *sentence]]
        row[: len(found)] = found
    inputs = np.where(ids[:, 1:] > 0, ids[:, :-1], 0)  # not behind the last
    return inputs, ids[:, 1:]


tokens = keras.Input((None,), dtype="int32")
x = keras.layers.Embedding(len(vocabulary), 32, mask_zero=True)(tokens)
states = layers.GRU(32 if FAST else 96, return_sequences=True)(x)
states = keras.layers.Dropout(0.2)(states)
network = keras.Model(tokens, keras.layers.Dense(len(vocabulary))(states))
network.compile(
    keras.optimizers.Adam(1e-2, global_clipnorm=1.0),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    jit_compile=False,
)
history = network.fit(
    *token_ids(train),
    batch_size=32,
    epochs=2 if FAST else 60,
    verbose=0,
)
print(f"loss: {history.history['loss'][0]:.2f} at first, ", end="")
print(f"{history.history['loss'][-1]:.2f} at last")


def softmax(logits):
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def network_next_word(words):
    ids = np.zeros((1, LONGEST + 4), "int32")  # of one size, to be fast
    ids[0, : len(words) + 1] = [vocabulary.index(w) for w in [START, *words]]
    logits = network.predict_on_batch(ids)[0, len(words)]
    return softmax(logits.astype("float64"))


def network_factors(sentence):
    """As `factors`, in one call: every position is asked at once."""
    inputs, targets = token_ids([sentence])
    p = softmax(np.asarray(network(inputs), "float64")[0])
    return p[np.arange(len(sentence)), targets[0, : len(sentence)]]


one_by_one = factors(network_next_word, bond)
np.testing.assert_allclose(network_factors(bond), one_by_one, rtol=1e-3)
print("word by word == all positions at once")

# %%
everyone = {
    "trigram": (factors(trigram.next_word, bond), GREY),
    "5-gram": (factors(five_gram.next_word, bond), BLUE),
    "GRU": (one_by_one, ORANGE),
}
figure, axes = plt.subplots(figsize=(10.5, 4.6))
for n, (name, (p, colour)) in enumerate(everyone.items()):
    place = np.arange(len(bond)) + 0.27 * (n - 1)
    label = f"{name}: product {p.prod():.1e}"
    axes.bar(place, p, 0.25, color=colour, label=label)
axes.set_xticks(range(len(bond)), bond, size=14)
axes.set(ylim=(0, 1.05), ylabel=r"$p(y_t \mid y_{<t})$")
axes.axvspan(4.5, 5.5, color=ORANGE, alpha=0.1, zorder=0)
axes.set_title("One factor for each word of a sentence that nobody had seen")
axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
save(figure, "chain_rule.png")

# %% [markdown]
# ## I am Bond, James ...
#
# Now ask for the whole distribution at that place, and then move the two
# "bond"s apart.

# %%
prompts = {
    "i am bond , james": "3 words before",
    "they call me bond , which you will not forget , james": "8 words before",
    "bond , if you please , and to my friends , of whom i have few , james": (
        "16 words before"
    ),
}
models = {
    "trigram": (trigram.next_word, GREY),
    "5-gram": (five_gram.next_word, BLUE),
    "GRU": (network_next_word, ORANGE),
}
places = [vocabulary.index(name) for name in surnames]
figure, panels = plt.subplots(3, 3, figsize=(12, 7.4), sharex=True, sharey=True)
chance = {}
for row, (prompt, distance) in zip(panels, prompts.items(), strict=True):
    for panel, (name, (next_word, colour)) in zip(
        row, models.items(), strict=True
    ):
        p = next_word(prompt.split())[places]
        chance[name, distance] = p[0]
        shades = [colour] + ["#d0d7de"] * (len(surnames) - 1)
        panel.bar(range(len(surnames)), p, color=shades)
        panel.text(0, p[0] + 0.03, f"{p[0]:.2f}", ha="center", color=colour)
        panel.set(ylim=(0, 1.12))
        panel.set_xticks(range(len(surnames)), surnames, rotation=90)
    row[0].set_ylabel(f"“bond” stood\n{distance}")
for panel, name in zip(panels[0], models, strict=True):
    panel.set_title(name)
figure.suptitle("I am Bond, James ...", x=0.02, ha="left")
save(figure, "james_who.png")
for (name, distance), p in chance.items():
    print(f"{name:8} {distance:16}: p(bond) = {p:.2f}")

# %% [markdown]
# ## Perplexity: how many words to choose from
#
# A model is judged by the sentences that it did not see. $2^{\text{bits}}$, or
# $\exp$ of the mean of $-\log p(y_t \mid y_{<t})$, is the **perplexity**: as
# unsure as if it had to choose between so many words, all alike. In training
# more context is always better. In the test it is not.


# %%
def perplexity(of_sentence, sentences):
    p = np.concatenate([of_sentence(sentence) for sentence in sentences])
    return float(np.exp(-np.log(p).mean()))


scores = {}
seen, fresh = train[:: 7 if FAST else 2], test[:: 7 if FAST else 2]
for n in range(1, 8):
    model = NGram(n, train).next_word
    scores[f"{n}-gram"] = [
        perplexity(lambda s, model=model: factors(model, s), part)
        for part in (seen, fresh)
    ]
scores["GRU"] = [perplexity(network_factors, part) for part in (seen, fresh)]

figure, axes = plt.subplots(figsize=(9, 4.4))
place = np.arange(len(scores))
of_seen, of_fresh = np.transpose(list(scores.values()))
axes.bar(place - 0.2, of_seen, 0.38, color=GREY, label="training")
axes.bar(place + 0.2, of_fresh, 0.38, color=ORANGE, label="new names")
for x_place, value in zip(place + 0.2, of_fresh, strict=True):
    axes.text(x_place, value * 1.03, f"{value:.2f}", ha="center", size=10)
axes.set_xticks(place, list(scores))
axes.set(yscale="log", ylabel="perplexity", ylim=(1, 60))
axes.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
axes.minorticks_off()
axes.set_title("Perplexity: 1 is certain, and low is good")
axes.legend()
save(figure, "perplexity.png")
for name, (old, new) in scores.items():
    print(f"{name:7} training {old:6.2f}   new names {new:6.2f}")

# %% [markdown]
# ## Let them talk
#
# A sequence model is also a writer: draw $y_1$ from $p(y_1)$, then $y_2$ from
# $p(y_2 \mid y_1)$, until the end is drawn. That is sampling from $p(y)$, again
# by the chain rule. A *temperature* $\tau$ makes it bolder or more timid:
# $p^{1/\tau}$, scaled to sum to 1. With $\tau \to 0$ the most probable word is
# always taken.


# %%
def talk(next_word, temperature=1.0, longest=20):
    words = []
    while len(words) < longest and END not in words:
        p = next_word(words) ** (1 / temperature)
        p[:2] = 0  # neither <pad> nor <start> is a word
        words.append(str(rng.choice(vocabulary, p=p / p.sum())))
    return words


def is_true_to_itself(words):
    """Whether the surname said last was also said first."""
    said = [word for word in words if word in surnames]
    return len(said) > 1 and len(set(said)) == 1


COUNT = 10 if FAST else 60
truth = {}
for name, next_word in (
    ("bigram", bigram.next_word),
    ("trigram", trigram.next_word),
    ("GRU", network_next_word),
):
    said = [talk(next_word) for _ in range(COUNT)]
    truth[name] = np.mean([is_true_to_itself(words) for words in said])
    print(f"\n{name}: {truth[name]:.0%} keep to one surname")
    for words in said[:4]:
        print("  " + " ".join(words))

# %% [markdown]
# ## What should be true now

# %%
assert len(known) + len(unknown) == len(first_names) * len(surnames)
assert scores["1-gram"][0] > scores["2-gram"][0] > scores["5-gram"][0]
assert chance["trigram", "3 words before"] < 0.5
if not FAST:
    assert scores["GRU"][1] < min(scores[f"{n}-gram"][1] for n in range(1, 8))
    for distance in prompts.values():
        assert chance["GRU", distance] > 0.5 > chance["trigram", distance]
    assert truth["GRU"] > 0.8 > truth["trigram"]
print("all is as it should be")

# %% [markdown]
# ## Exercise
#
# How far apart may the two surnames be? Write a template with forty words in
# between, add it to the others, and train again with `layers.SimpleRNN`,
# `layers.GRU` and `layers.LSTM` in turn. One of them will disappoint you.
#
# **Next:** `vanishing_gradients` says why.
