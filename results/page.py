"""docs/results.md, made from the measured rows and from nothing else."""

import os
import pathlib
import platform

TITLES = {
    "reviews": "Built-in reviews, 2,000 test reviews",
    "sst2": "SST-2, 872 dev sentences, learned from the 6,920 alone",
    "rotten_tomatoes": "Rotten Tomatoes, 10-fold cross-validation",
    "imdb": "IMDB, 20,000 of the 25,000 test reviews",
}
HEAD = """\
# Results

Written by `make results`; each row says how to measure it again. Scores are
on the test part named in the heading. The recipes of the real data sets were
chosen on held-out parts of their training data; early settings of the preset
"attention" were compared on the built-in test reviews, so its rationale scores
there are somewhat flattered (another seed gave a P@1 of 0.87 on validation).
Times are of the training, on {cores} CPU cores, with reading and encoding the
texts; for ten folds they are the sum of all. "recipe" is what
`keras-seq train sentiment --data NAME` does by itself.
"""


def write_page(rows, path):
    """Write the page; rows are dicts as `results.sentiment.measure` gives."""
    lines = [HEAD.format(cores=os.cpu_count())]
    if any(row["fast"] for row in rows):
        lines.append("**These are from `--fast`, on slices: no results.**\n")
    for data, title in TITLES.items():
        found = [row for row in rows if row["data"] == data]
        if found:
            lines += [f"## {title}\n", *_table(found), ""]
    lines.append(f"Python {platform.python_version()}, {platform.machine()}.")
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def _table(rows):
    names = [name for name in rows[0]["scores"] if name != "crossentropy"]
    header = [
        "model",
        *names,
        "cross-entropy",
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
            *(_score(name, row["scores"][name]) for name in names),
            f"{row['scores']['crossentropy']:.3f}",
            f"{row['parameters']:,}",
            f"{row['wall_seconds']:.0f}",
            f"{row['cpu_seconds']:.0f}",
            f"`{row['command']}`",
        ]
        yield "| " + " | ".join(cells) + " |"


def _score(name, value):
    if "accuracy" in name:
        return f"{100 * value:.1f} %"
    return f"{value:.3f}"
