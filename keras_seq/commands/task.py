"""The tasks of the command line, and what a task has to offer.

`keras-seq train TASK`, and `evaluate`, `predict`, `explain` and `export` of
what was trained, are the same for every task. What differs is in a module
`keras_seq.commands.<task>_task`, listed in `TASKS`, with

- `SUMMARY`: one line for `keras-seq train --help`; `EXAMPLES`: lines for
  `keras-seq train TASK --help`;
- `DEFAULTS`: `{argument: default}` of what can be said about a training; the
  names are those of `add_train_arguments`;
- `add_train_arguments(parser)`: adds them, each with the default None, so
  that a run that goes on knows what was said again;
- `check(settings)`: refuses what cannot be meant, with `UsageError`;
- `EVALUATE`: names of what `keras-seq evaluate` can be told of this task;
- `train(folder, resume, settings)`: trains into a run folder; returns a
  sentence on how well it went; `next_command(model, run)`: what to try with
  it then, or with an export of it; `run` is the folder it was trained in;
- `is_run(folder)`: whether a folder holds a trained model of this task;
- `open_run(folder, method)` and `open_export(exported)`: return an
  `OpenModel`.

Such a module imports nothing heavy before one of its functions runs.
"""

import importlib
import pathlib
from collections.abc import Iterable
from typing import Protocol

TASKS = ("sentiment", "translation", "captioning")


class OpenModel(Protocol):
    """A trained model, from a run or from an export, ready to answer.

    Attributes:
        asks_for: What an input is, in words.
        drawn_as: The kinds of files that `write` can make.
    """

    asks_for: str
    drawn_as: tuple[str, ...]

    def predict(self, inputs: list[bytes]) -> Iterable[dict]:
        """Return one answer for each input: what `--json` prints.

        An input may stand for several, as a folder does. One that cannot be
        answered has an `error`, and does not stop the others.
        """

    def line(self, answer: dict) -> str:
        """Return an answer in a line for people."""

    def explain(self, inputs: list[bytes]) -> Iterable[dict]:
        """Return explanations: what `--json` prints; else as `predict`."""

    def draw(self, explanation: dict) -> str:
        """Return an explanation for a terminal, coloured if it can be."""

    def write(
        self, path: pathlib.Path, explanations: list[dict]
    ) -> list[pathlib.Path]:
        """Draw explanations as the path's ending says; return the files."""

    def evaluate(self, settings: dict) -> dict:
        """Return `{name: number}` for the data that `settings` name."""

    def export(self, folder, *, half: bool = False) -> object:
        """Export, with float16 weights if `half`; return the version."""

    # A task whose models are encoders or classifiers may also have
    # `export_file(folder, file_format)`, for "onnx" and "litert".


def load_task(name: str):
    """Import the module of a task; see above for what it has."""
    return importlib.import_module(f"keras_seq.commands.{name}_task")
