"""Train and score every row, and write the page of results.

    python -m results [--data-dir DIR] [--only NAME ...] [--again] [--fast]

Each finished row is kept as JSON below `--output` and used again, so a run
that was stopped goes on where it was; `--again` measures anew.
"""

import argparse
import json
import pathlib

from results.page import write_page
from results.sentiment import ROWS, measure


def main(arguments=None):
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m results", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--data-dir", help="real data sets (default: KERAS_SEQ_DATA)"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        help="rows, like sst2/lstm, or groups of them, like sst2",
    )
    parser.add_argument(
        "--again", action="store_true", help="measure finished rows anew"
    )
    parser.add_argument(
        "--fast",
        action="store_true",
        help="a tiny slice of everything, to see that it runs",
    )
    parser.add_argument("--output", default="outputs/results")
    parser.add_argument("--page", default="docs/results.md")
    arguments = parser.parse_args(arguments)
    rows = _chosen(parser, arguments.only)
    output = pathlib.Path(arguments.output)
    for name in rows:
        path = output / f"{name}.json"
        if path.is_file() and not arguments.again:
            continue
        print(f"{name} ...", flush=True)
        row = measure(
            name,
            data_dir=arguments.data_dir,
            folder=output / "runs" / name,
            fast=arguments.fast,
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(row, indent=1) + "\n")
        unfinished.replace(path)
        print(f"{name}: {row['scores']}, {row['wall_seconds']} s", flush=True)
    found = [
        json.loads(path.read_text())
        for name in ROWS
        if (path := output / f"{name}.json").is_file()
    ]
    write_page(found, arguments.page)
    print(f"{len(found)} of {len(ROWS)} rows are in {arguments.page}")


def _chosen(parser, only):
    if only is None:
        return list(ROWS)
    for name in only:
        if not any(_is_of(row, name) for row in ROWS):
            groups = sorted({row.split("/")[0] for row in ROWS})
            parser.error(
                f"--only must name a row or a group of {', '.join(groups)}. "
                f"Received: {name}"
            )
    return [row for row in ROWS if any(_is_of(row, name) for name in only)]


def _is_of(row, name):
    return name in (row, row.split("/")[0])


if __name__ == "__main__":
    main()
