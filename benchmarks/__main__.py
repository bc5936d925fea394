"""Run benchmarks and print their tables: `python -m benchmarks [NAME ...]`."""

import argparse
import importlib
import json
import os
import pathlib
import platform

BENCHMARKS = (
    "attention",
    "long_attention",
    "local_attention",
    "recurrent",
    "training",
    "decoding",
    "serving",
)
BY_NAME_ONLY = ("soak",)  # ten minutes


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument(
        "names", nargs="*", help=f"of {', '.join(BENCHMARKS + BY_NAME_ONLY)}"
    )
    parser.add_argument("--output", default="outputs/benchmarks")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {*BENCHMARKS, *BY_NAME_ONLY}
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    output = pathlib.Path(arguments.output)
    output.mkdir(parents=True, exist_ok=True)
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}")
    for name in arguments.names or BENCHMARKS:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n## {module.__doc__.strip()}\n")
        rows = module.run()
        print_tables(rows)
        path = output / f"{name}.json"
        path.write_text(json.dumps(rows, indent=1))
        print(f"\n({path})", flush=True)


def print_tables(rows):
    """Print rows as Markdown tables, a new one where the columns change."""
    columns = None
    for row in rows:
        if list(row) != columns:
            print("" if columns else "", end="\n" if columns else "")
            columns = list(row)
            print("| " + " | ".join(columns) + " |")
            print("|" + "---|" * len(columns))
        cells = (
            f"{value:.3g}" if isinstance(value, float) else str(value)
            for value in row.values()
        )
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
