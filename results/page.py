"""docs/results.md, made from the measured rows and from nothing else."""

import os
import pathlib
import platform

TITLES = {
    "reviews": "Built-in reviews, 2,000 test reviews",
    "sst2": "SST-2, 872 dev sentences, learned from the 6,920 alone",
    "rotten_tomatoes": "Rotten Tomatoes, 10-fold cross-validation",
    "imdb": "IMDB, 20,000 of the 25,000 test reviews",
    "grammar": "Built-in English-French grammar, 1,000 unseen combinations",
    "multi30k": "Multi30k, test_2016_flickr",
    "tatoeba": "Tatoeba, English-French, split by English sentence",
    "scenes": "Built-in painted scenes, 500 test pictures",
    "flickr8k": "Flickr8k, 500 test pictures, beam search",
}
# What stands under a heading: how the settings were chosen.
NOTES = {
    "reviews": """\
The Transformer's settings were chosen on the validation reviews, 4 epochs,
seed 0: 72.7 % at 1e-3 with dropout 0.2, 76.7 % at 1e-3 with none, 83.8 % at
3e-3 with none, which stayed. Maximum and attention pooling (72.5 to 77.3 %)
were tried at 1e-3 and 2e-3 with dropout 0.05 only, so the poolings have not
been compared at the settings that stayed.
""",
    "sst2": """\
The recipe was chosen by 5-fold cross-validation on the 6,920 sentences, seed
0; a score has a standard error of 0.5 points. n-grams of words and a bag of
embeddings: 80.1 %; the same of 8,000 subwords: 79.9 %; n-grams of nearly
single letters, alone: 80.4 %; words with `SpellingBag`: 81.0 %; subwords with
it: 81.3 %, with 40 % silence 81.3 %, with label smoothing 0.2 and dropout 0.7
73.1 %, with 4 epochs at 1.5e-3 and strength 0.01 81.4 %, the recipe. The last
is the best of eight, not clearly better than its neighbours. Before that, 10
logistic regressions and their mixtures on the same folds had pointed to
letters. This recipe met the dev sentences when all was chosen. The table has
seed 0, which passes 82 % by a single sentence; seeds 1 to 4, looked at for
this note alone, give 82.6, 81.5, 82.2 and 82.9 %.

The Transformer was compared on two of the folds, without its being the best
that can be had: 66.9 % at 5e-4; at 3e-3 77.0 %, without dropout 76.2 %, with
one layer and token dropout 0.5 73.6 %.
""",
    "grammar": """\
Sentences of `long` have 21 to 32 words, those of the training at most 20. How
the Transformer knows positions was chosen on the validation pairs and on long
ones of other seeds. After 3 epochs: rotary, 95.9 BLEU and 68.5 on long ones
(71 %); sinusoids that begin anywhere up to 32, 89.8 and 74.8 (83 %); both,
anywhere up to 16, 97.4 and 80.5 (83 %). With more epochs the ways part: both
has 99.1 and 74.8 (75 %) after 6, why is not known; shifted sinusoids have 98.7
after 10, and 14 of them are in the table. The sinusoids of the paper, which
always begin at 0, had 98.5 on the test part and 76.0 on long ones (77 %) after
10. A coverage penalty of 0.2 took 0.2 from the validation pairs, and was left
out.
""",
    "multi30k": """\
The rows say how long they may take; a time limit holds them to it. The ten
minutes are the first setting that was tried. Of the hour two were tried, both
with 3 + 3 layers, dropout 0.3 and 30 epochs: 256 wide, in the table; and 192
wide, with a tenth of the merges of the words left out by chance
(`subword_dropout`), which had 53.0 BLEU, 54.2 by lower-cased Moses tokens,
after 42 minutes: too much was left to chance for so small a model (its loss
was higher in training, 2.78, than in validation, 2.43).
""",
    "scenes": """\
"Over that of people": BLEU-4 divided by what one of the five captions scores
against the other four, the same four for both. `unseen` has things in colours
and textures that they have in no other part. Two readers were compared on 200
validation pictures, learned from 3,000, seed 0: state 48, embeddings 64 and
dropout 0.2 gave BLEU-4 47.3 and pointed right in 77.1 %; 128, 128 and 0.1 gave
49.3 and 83.1 %, and stayed. A small network learned from scratch, with tied
embeddings, had BLEU-4 27.3 after 200 CPU seconds, and was given up. Times are
without painting the pictures and computing their features.
""",
    "flickr8k": """\
Scores are those of the COCO evaluation, with the brevity penalty, which Xu et
al. leave out (soft: 67 / 44.8 / 29.9 / 19.5). Times are after the features of
the pictures were made. The length penalty is the best of 0.6, 1.0, 1.4 and 1.8
on the 1,000 dev pictures, rounded to 1.2. Hard attention's reward weighs a
tenth of what it does by default, its length penalty is the best of 0.4, 0.8
and 1.2 on 500 dev pictures after 4 epochs, and outside of training it sees the
expected value, as in the code of the paper's authors. With the defaults of all
three, and a baseline of the rewards that began at 0, it had BLEU-4 17.7 here,
which is why another weight was tried; the two were not compared on the dev
pictures. There the model in the table has 60.2 / 41.1 / 27.3 / 18.3, and by
the likeliest place 59.2 / 40.3 / 27.0 / 18.2, so that is not what made the
difference. No other setting was compared.
""",
}
IN_PERCENT = ("BLEU", "chrF", "CIDEr", "ROUGE", "METEOR")
HEAD = """\
# Results

Written by `make results`; each row says how to measure it again. Scores are
on the test part named in the heading. The recipes of the real data sets were
chosen on held-out parts of their training data; early settings of the preset
"attention" were compared on the built-in test reviews, so its rationale scores
there are somewhat flattered (another seed gave a P@1 of 0.87 on validation).
Times are of the training, on {cores} CPU cores, with reading and encoding the
texts; for ten folds they are the sum of all. Some trainings shared the cores
with others, or stood still meanwhile: their wall seconds are too many. "recipe"
is what `keras-seq train sentiment --data NAME` does by itself.
"""


def write_page(rows, path):
    """Write the page; rows are dicts as the modules' `measure` gives them."""
    lines = [HEAD.format(cores=os.cpu_count())]
    if any(row["fast"] for row in rows):
        lines.append("**These are from `--fast`, on slices: no results.**\n")
    for data, title in TITLES.items():
        found = [row for row in rows if row["data"] == data]
        if found:
            lines += [f"## {title}\n"]
            lines += [NOTES[data]] if data in NOTES else []
            lines += [*_table(found), "", *_signatures(found)]
    lines.append(f"Python {platform.python_version()}, {platform.machine()}.")
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def _table(rows):
    scores = [name for row in rows for name in row["scores"]]
    # In the order of the first row, but how sure a model is comes last.
    names = sorted(dict.fromkeys(scores), key=lambda n: n == "crossentropy")
    header = [
        "model",
        *(name.replace("crossentropy", "cross-entropy") for name in names),
        "parameters",
        "wall s",
        "CPU s",
        "command",
    ]
    yield "| " + " | ".join(header) + " |"
    yield "|---" + "|---:" * (len(header) - 2) + "|---|"
    for row in rows:
        model = row["name"].split("/")[1]
        if model != row["preset"]:
            model = f"{model} ({row['preset']})"
        cells = [
            model,
            *(_score(name, row["scores"].get(name)) for name in names),
            f"{row['parameters']:,}",
            f"{row['wall_seconds']:.0f}",
            f"{row['cpu_seconds']:.0f}",
            f"`{row['command']}`",
        ]
        yield "| " + " | ".join(cells) + " |"


def _score(name, value):
    if value is None:
        return ""
    if "accuracy" in name or "chance" in name:
        return f"{100 * value:.1f} %"
    if "over" not in name and name.startswith(IN_PERCENT):
        return f"{value:.1f}"
    return f"{value:.3f}"


def _signatures(rows):
    """Yield how each score is to be cited."""
    found = {}
    for row in rows:
        for name, signature in row.get("signatures", {}).items():
            found.setdefault(signature, {})[name] = None
    for signature, names in found.items():
        yield f"- {', '.join(names)}: `{signature}`"
    if found:
        yield ""
