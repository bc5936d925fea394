"""Train and score every row, and write the page of results.

    python -m results [--data-dir DIR] [--only NAME ...] [--again] [--fast]

Each finished row is kept as JSON below `--output` and used again, so a run
that was stopped goes on where it was; `--again` measures anew. The page has
these rows, and for the others what `results/measured` holds.
"""

import argparse
import pathlib

from results import captioning, sentiment, translation
from results.kept_rows import MEASURED, find_rows, has_row, keep_row
from results.page import write_page

# The name of each row, and the module that measures it.
ROWS = {
    name: module
    for module in (sentiment, translation, captioning)
    for name in module.ROWS
}


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
    parser.add_argument(
        "--measured",
        default=MEASURED,
        help="where the rows of the page are kept (default: results/measured)",
    )
    parser.add_argument("--page", default="docs/results.md")
    arguments = parser.parse_args(arguments)
    rows = _chosen(parser, arguments.only)
    output = pathlib.Path(arguments.output)
    # Trials on slices stay out of what the project keeps, and it out of them.
    kept = [output] if arguments.fast else [output, arguments.measured]
    for name in rows:
        if has_row(name, output) and not arguments.again:
            continue
        print(f"{name} ...", flush=True)
        row = ROWS[name].measure(
            name,
            data_dir=arguments.data_dir,
            folder=output / "runs" / name,
            fast=arguments.fast,
        )
        keep_row(row, *kept)
        print(f"{name}: {row['scores']}, {row['wall_seconds']} s", flush=True)
    found = find_rows(ROWS, *kept)
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
