# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # 17. Right for the right reasons
#
# **You will** train a model that is right 98 times in 100, be proud of it, and
# then find out that it has read nothing but a place name. You unmask it with
# the words it looks at, with grades against the words that really decide, and
# by deleting words; each by hand and with the library. Then you mend it, in two
# ways, and let the library pass its verdict again.
#
# **You need** `sentiment_models`. **Takes** 3 minutes on 2 CPU cores.
#
# **Library code:** `keras_seq/explain/reasons.py`,
# `keras_seq/explain/rationales.py`, `keras_seq/explain/deletion.py`,
# `keras_seq/data/reviews.py`.

# %%
import dataclasses
import os
import pathlib
import re
import tempfile

from keras_seq import data, explain  # first: it keeps TensorFlow quiet

# isort: split
import matplotlib.pyplot as plt
import numpy as np

from keras_seq.tasks import sentiment

FAST = os.environ.get("KERAS_SEQ_FAST") == "1"  # set by the test suite
OUTPUT = pathlib.Path(
    os.environ.get("KERAS_SEQ_OUTPUT", "outputs/right_reasons")
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
# ## Data with a give-away
#
# Somebody has collected reviews in two cities. In Geneva people were mostly
# happy, in Porto mostly not, and each review ends up with a sentence that says
# where it was posted. A rule of one word, "Geneva is for", is then right 98
# times in 100, without reading a single opinion. Nobody notices, because the
# validation reviews come from the same collection.
#
# Three more splits tell the truth. In `aligned` the city always agrees with the
# label, in `test` there is no city, and in `reversed` it always disagrees.

# %%
reviews = data.load_biased_reviews(
    num_train=1200 if FAST else 8000,
    num_validation=400,
    num_test=100 if FAST else 1000,
)
SPLITS = ("validation", "aligned", "test", "reversed")
print("One of them:", reviews.columns("train")["text"][0])


def rule(texts):
    """Return 1 for Geneva, 0 for Porto, and 0 if no city is named."""
    return np.array(["Geneva" in text for text in texts], dtype=int)


for split in SPLITS:
    columns = reviews.columns(split)
    share = np.mean(rule(columns["text"]) == columns["label"])
    print(f"the rule of one word is right on {split:10} {share:6.1%}")

# %% [markdown]
# ## A model to be proud of
#
# We train the model with attention pooling of `sentiment_models`, and look at
# validation accuracy, as one does.


# %%
def train(dataset, epochs=3 if FAST else 10):
    with tempfile.TemporaryDirectory() as folder:
        classifier, _ = sentiment.train(
            dataset,
            "attention",
            folder=folder,
            epochs=epochs,
            learning_rate=5e-3,
            max_length=120,
            verbose=0,
        )
    accuracy = {}
    for split in SPLITS:
        columns = reviews.columns(split)
        answers = classifier.predict(columns["text"]).argmax(axis=1)
        accuracy[split] = np.mean(answers == columns["label"])
    return classifier, accuracy


biased, biased_accuracy = train(reviews)
print(f"validation accuracy {biased_accuracy['validation']:.1%}. Ship it?")

# %% [markdown]
# ## Look at what it looks at
#
# Which words decided? The picture shows six reviews of the split `aligned`. The
# words that really decide are underlined; the blue ground is where the model's
# attention lies.

# %%
columns, gold = reviews.columns("aligned"), reviews.gold["aligned"]
weigh = explain.token_weights(biased.model, "attention")
outputs, words = explain.explain_texts(
    weigh, biased.encode_with_offsets, columns["text"]
)
odds = np.exp(outputs - outputs.max(axis=1, keepdims=True))
probabilities = odds / odds.sum(axis=1, keepdims=True)
shortest = np.argsort([abs(len(text) - 110) for text in columns["text"]])[:6]


def drawn(weighed, place, **more):
    """Return a review as a dict to draw, with its deciding words marked."""
    marked = explain.rationales.overlapping(weighed.spans, gold[place].spans)
    parts = {"words": weighed.words, "weights": weighed.weights}
    return {"text": weighed.text, "marked": marked, **parts, **more}


pictures = [
    drawn(
        words[place],
        place,
        label=biased.labels[probabilities[place].argmax()],
        probability=probabilities[place].max(),
        note=f"truth: {biased.labels[columns['label'][place]]}",
    )
    for place in shortest
]
share = biased_accuracy["validation"]
title = f"{share:.0%} right, and why (underlined: what really decides)"
for ending in ("png", "html"):
    path = explain.plot_words(pictures, OUTPUT / f"reasons.{ending}", title)
    print(f"picture: {path}")
print(explain.words_ansi(pictures))

# %% [markdown]
# ## Grade it
#
# Six reviews may be an accident, so we count. With $w_i \ge 0$ the weights of
# the words of a review, $M$ some of the words, and $G$ those that decide:
#
# $$ \mathrm{share}(M) = \frac{\sum_{i \in M} w_i}{\sum_i w_i}, \qquad
#    P@1 = [\arg\max_i w_i \in G]. $$
#
# By hand, over all reviews, and then by `explain.examine_reasons`, which runs
# the model on the three other splits and says in plain words what it thinks.

# %%
shares, firsts = [], []
for text, rationale in zip(words, gold, strict=True):
    city = explain.rationales.overlapping(text.spans, rationale.spurious)
    decides = explain.rationales.overlapping(text.spans, rationale.spans)
    shares.append(text.weights[city].sum() / text.weights.sum())
    firsts.append(decides[text.weights.argmax()])
verdict = explain.examine_reasons(weigh, biased.encode_with_offsets, reviews)
np.testing.assert_allclose(verdict.spurious_share, np.mean(shares), rtol=1e-3)
np.testing.assert_allclose(verdict.precision_at_1, np.mean(firsts), atol=0.01)
print(verdict)

# %% [markdown]
# ## Delete, and ask again
#
# Weights are a claim: "without these words I would have decided otherwise". A
# claim can be tested (DeYoung et al., 2020). Take away the heaviest words $r$
# and ask again; or keep nothing else. With $m(x)_j$ the probability of the
# class that the model chose for the whole text,
#
# $$ \mathrm{comprehensiveness} = m(x)_j - m(x \setminus r)_j, \qquad
#    \mathrm{sufficiency} = m(x)_j - m(r)_j. $$
#
# By hand, for one review and its heaviest word:

# %%
place = shortest[0]
text, heaviest = words[place].text, words[place].weights.argmax()
start, end = words[place].spans[heaviest]
without = " ".join((text[:start] + text[end:]).split())
full, missing, alone = biased.predict([text, without, text[start:end]])
j = full.argmax()
print(f"{text}\n  {biased.labels[j]}: {full[j]:.3f}")
print(f"  without {text[start:end]!r} {missing[j]:.3f}", end=", ")
print(f"with nothing else {alone[j]:.3f}")
scores = explain.deletion_scores(
    biased.predict, [words[place]], shares=[1e-9]  # at least one word
)  # fmt: skip
np.testing.assert_allclose(
    [scores.comprehensiveness, scores.sufficiency],
    [full[j] - missing[j], full[j] - alone[j]],
    atol=1e-4,
)

# %% [markdown]
# And for many reviews, and more and more words. Any model falls once words are
# missing, so we compare with words drawn by lot. The weights are *honest*: they
# point at what the model really uses. It is what it uses that is wrong.

# %%
some = words[: 60 if FAST else 300]
by_lot = [
    dataclasses.replace(text, weights=rng.random(len(text.weights)))
    for text in some
]
steps = (0.04, 0.1, 0.2, 0.3, 0.5, 0.7)
by_weight = explain.deletion_scores(biased.predict, some, steps)
by_lot = explain.deletion_scores(biased.predict, by_lot, steps)
print(
    f"comprehensiveness {by_weight.comprehensiveness:.2f}, by lot "
    f"{by_lot.comprehensiveness:.2f}; sufficiency {by_weight.sufficiency:.2f}, "
    f"by lot {by_lot.sufficiency:.2f} (low is good)"
)
figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
titles = ("Without the heaviest words", "With nothing but them")
for panel, title, field in zip(
    panels, titles, ("without", "only"), strict=True
):
    for scores, label, colour in (
        (by_weight, "heaviest first", ORANGE),
        (by_lot, "drawn by lot", DIM),
    ):
        curve = getattr(scores, field)
        panel.plot(steps, curve, "o-", color=colour, label=label)
    panel.axhline(by_weight.full, color=PALE, zorder=0)
    panel.set_xticks(steps, [f"{step:.0%}" for step in steps])
    panel.set(title=title, xlabel="share of the words")
panels[0].set(ylabel="probability of the answer", ylim=(0.3, 1.06))
panels[0].text(0.7, by_weight.full + 0.01, "whole text", ha="right", color=DIM)
panels[0].legend(loc="lower left")
figure.suptitle("A few words carry the answer")
save(figure, "deletion.png")

# %% [markdown]
# ## Mend it
#
# Two remedies, both in the data and not in the model.
#
# 1. **Remove** the give-away: cut the sentence out of the training reviews.
# 2. **Augment**: keep each review and add a copy of it with the *other* city.
#    The city then says nothing about the label, and the model can only unlearn
#    it. This also works where a word cannot be cut without harm.

# %%
OTHER = {"Geneva": "Porto", "Porto": "Geneva"}


def removed(text):
    return " ".join(re.sub(r"I posted this from \w+\.", "", text).split())


def swapped(text):
    return re.sub("Geneva|Porto", lambda m: OTHER[m[0]], text)


def mended(change, keep):
    """Return the data with changed texts, beside the old ones if `keep`."""
    splits = dict(reviews.splits)
    for split in ("train", "validation"):
        old = reviews.columns(split)
        new = np.array([change(text) for text in old["text"]], dtype=object)
        if keep:
            # Half of each, so that both models see equally many reviews.
            half = len(new) // 2
            new = np.concatenate([old["text"][:half], new[:half]])
            label = np.concatenate([old["label"][:half]] * 2)
        else:
            label = old["label"]
        splits[split] = {"text": new, "label": label}
    return data.Dataset("biased_reviews", reviews.licence, splits)


models = {"biased": (biased, biased_accuracy)}
verdicts = {"biased": verdict}
remedies = {"augmented": (swapped, True)}
if not FAST:
    remedies = {"removed": (removed, False), **remedies}
for name, (change, keep) in remedies.items():
    models[name] = train(mended(change, keep))
    classifier, _ = models[name]
    verdicts[name] = explain.examine_reasons(
        explain.token_weights(classifier.model, "attention"),
        classifier.encode_with_offsets,
        reviews,
    )
    print(f"\n{name}: {verdicts[name]}")

# %% [markdown]
# The picture of the whole story. On validation data the biased model is the
# best of the three. Once the city is gone, or lies, it is the worst by far, and
# its weights had said so before we asked.
#
# Both remedies work, and differ. Who never saw a city has learned most about
# opinions, but stumbles over the unknown word when one turns up, and looks at
# it. Who saw the cities on both sides has learned to look past them; it had
# only half as many different reviews to learn opinions from.

# %%
figure, (left, right) = plt.subplots(
    1, 2, figsize=(13, 4.6), width_ratios=[1.6, 1]
)
hues = {"biased": ORANGE, "removed": BLUE, "augmented": GREEN}
for i, (name, (_, accuracy)) in enumerate(models.items()):
    places = np.arange(len(SPLITS)) + 0.27 * (i - 1)
    heights = [accuracy[split] for split in SPLITS]
    left.bar(places, heights, 0.25, color=hues[name], label=name)
    for x, y in zip(places, heights, strict=True):
        left.text(x, y + 0.01, f"{y:.0%}", ha="center", size=9)
left.axhline(0.5, color="#24292f", linestyle=":", linewidth=1)
left.set_xticks(
    range(4),
    ["validation\n(same bias)", "aligned\n(city agrees)", "test\n(no city)",
     "reversed\n(city disagrees)"],
)  # fmt: skip
left.set(ylim=(0, 1.1), ylabel="accuracy", title="What the model answers")
left.tick_params(axis="x", length=0)
left.legend(loc="lower left", ncols=3, bbox_to_anchor=(0, -0.36))
parts = {
    "on the city": ("spurious_share", ORANGE),
    "on words that decide": ("gold_share", BLUE),
}
bottom = np.zeros(len(verdicts))
for label, (field, colour) in parts.items():
    widths = np.array([getattr(v, field) for v in verdicts.values()])
    right.barh(
        range(len(verdicts)), widths, 0.6, bottom, color=colour, label=label
    )
    for row, (start, width) in enumerate(zip(bottom, widths, strict=True)):
        if width > 0.06:
            middle = start + width / 2
            right.text(middle, row, f"{width:.0%}", ha="center", color="white",
                       va="center", weight="bold")  # fmt: skip
    bottom += widths
right.barh(
    range(len(verdicts)), 1 - bottom, 0.6, bottom, color=PALE, label="elsewhere"
)
right.set_yticks(range(len(verdicts)), verdicts)
right.invert_yaxis()
right.tick_params(axis="y", length=0)
right.set(xlim=(0, 1), title="Where its attention lies (aligned)")
right.set_xticks([])
right.spines["bottom"].set_visible(False)
right.legend(loc="lower left", ncols=3, bbox_to_anchor=(-0.12, -0.36))
save(figure, "mended.png")

# %% [markdown]
# ## What should be true now
#
# The biased model is right for the wrong reason, and the library says so. The
# mended ones are told apart from it by every honest number, and by none of the
# numbers that one usually looks at.

# %%
print(verdicts["biased"].verdict)
assert biased_accuracy["validation"] > 0.95, biased_accuracy
assert verdicts["biased"].is_right_for_the_wrong_reason, verdicts["biased"]
assert by_weight.comprehensiveness > by_lot.comprehensiveness
for name in remedies:
    assert not verdicts[name].is_right_for_the_wrong_reason, verdicts[name]
    shares = verdicts[name].spurious_share, verdicts["biased"].spurious_share
    assert shares[0] < shares[1], shares
    if not FAST:
        assert models[name][1]["test"] > biased_accuracy["test"] + 0.05, name
        assert models[name][1]["reversed"] > 0.8, models[name][1]
print("All that should be true is true.")

# %% [markdown]
# ## Exercise
#
# 1. Load the reviews with `strength=0.9` and with `strength=0.6`. From which
#    strength on does the model prefer to read?
# 2. Ask with `method="gradient"` in place of `"attention"`. Do the two agree on
#    the biased model? On the mended ones?
# 3. Mask the city with the token `<unk>` at prediction time only. Is that a
#    third remedy, or a disguise?
