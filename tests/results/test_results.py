"""`python -m results` on slices: every row runs, is kept, and is written."""

import gzip
import json

import pytest

from results.__main__ import main
from results.page import write_page
from results.sentiment import ROWS

pytestmark = pytest.mark.tensorflow
COUNT = range(30)


@pytest.fixture
def small_data(tmp_path):
    """Real data sets of a few rows, in the folders of the real ones."""
    lines = [
        f"{i % 2}\t{'good' if i % 2 else 'bad'} film {i}" for i in range(60)
    ]
    folder = tmp_path / "data"
    for name in ("sst2", "imdb", "rt_polarity"):
        (folder / name).mkdir(parents=True)

    def write(path, header, rows):
        with gzip.open(folder / f"{path}.gz", "wt") as file:
            file.write("\n".join([header, *rows]) + "\n")

    for part in ("sst2/train", "sst2/dev", "imdb/train", "imdb/test"):
        write(f"{part}.tsv", "label\ttext", lines)
    folds = [f"{i // 2 % 10}\t{line}" for i, line in enumerate(lines)]
    write("rt_polarity/rt_polarity.tsv", "fold\tlabel\ttext", folds)
    (folder / "multi30k").mkdir()
    for part in ("train", "val", "test_2016_flickr"):
        pairs = [(f"The dog no. {i} runs.", f"L'âne {i} court.") for i in COUNT]
        for language, column in zip(
            ("en", "fr"), zip(*pairs, strict=True), strict=True
        ):
            write(f"multi30k/{part}.{language}", *column[:1], column[1:])
    return folder


def run(tmp_path, data, *arguments):
    main(
        [
            "--fast",
            "--data-dir",
            str(data),
            "--output",
            str(tmp_path / "out"),
            "--page",
            str(tmp_path / "page.md"),
            *arguments,
        ]
    )
    return (tmp_path / "page.md").read_text()


def test_rows_are_measured_once_and_written(tmp_path, small_data, capsys):
    only = ["--only", "reviews/attention", "sst2/recipe", "rotten_tomatoes/bag"]
    page = run(tmp_path, small_data, *only)
    row = json.loads((tmp_path / "out/reviews/attention.json").read_text())
    assert {"rationale P@1", "rationale AUC", "hard accuracy"} <= {
        *row["scores"]
    }
    assert row["cpu_seconds"] > 0 and row["parameters"] > 0
    folds = json.loads((tmp_path / "out/rotten_tomatoes/bag.json").read_text())
    assert len(folds["folds"]) == 2
    for name in only[1:]:
        assert f"`python -m results --only {name} --again`" in page
    assert "from `--fast`" in page
    row["scores"]["accuracy"] = 0.1234
    (tmp_path / "out/reviews/attention.json").write_text(json.dumps(row))
    capsys.readouterr()
    assert "12.3 %" in run(tmp_path, small_data, "--only", "reviews/attention")
    assert "..." not in capsys.readouterr().out  # nothing was measured


def test_an_unknown_row_says_what_there_is(tmp_path, small_data, capsys):
    with pytest.raises(SystemExit):
        run(tmp_path, small_data, "--only", "yelp")
    assert "imdb, multi30k, reviews" in capsys.readouterr().err


def test_every_family_has_a_row_for_every_data_set():
    groups = {name.split("/")[0] for name in ROWS}
    assert groups == {"reviews", "sst2", "imdb", "rotten_tomatoes"}
    assert {f"{g}/recipe" for g in groups - {"reviews"}} <= set(ROWS)


def test_a_page_without_rows_is_a_page(tmp_path):
    write_page([], tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text().startswith("# Results")


def test_multi30k_is_scored_as_its_papers_do_too(tmp_path, small_data):
    page = run(tmp_path, small_data, "--only", "multi30k/en-fr_10min")
    row = json.loads((tmp_path / "out/multi30k/en-fr_10min.json").read_text())
    names = {"BLEU", "BLEU lower-cased", "BLEU of Moses tokens"}
    assert row["signatures"].keys() - {"chrF"} == names
    assert row["scores"].keys() - {"chrF"} == names
    assert "| BLEU of Moses tokens |" in page
    assert "moses:lc.norm.tok.fr`" in page


def test_captions_are_scored_by_word_and_by_look(tmp_path, small_data):
    page = run(tmp_path, small_data, "--only", "scenes/soft")
    row = json.loads((tmp_path / "out/scenes/soft.json").read_text())
    assert {"BLEU-1", "BLEU-4", "CIDEr", "ROUGE-L"} <= {*row["scores"]}
    for name in ("pointing accuracy", "BLEU-4 over that of people"):
        assert name in row["scores"] and f"{name}, unseen" in row["scores"]
    assert row["epochs"] == 1 and "## Built-in painted scenes" in page
