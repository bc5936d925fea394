"""What was measured of a run, each number with the command that did it."""

import json
import pathlib
import shlex

from keras_seq.commands.run_folders import read_settings

_EVALUATIONS = "evaluations.json"


class RunNotes:
    """Notes in the folder of a run, for its model card.

    Args:
        folder: The folder of the run.
        task: Name of its task.
        defaults: What a training is started with unless something is said.
    """

    def __init__(self, folder, task: str, defaults: dict):
        self.folder = pathlib.Path(folder)
        self.task = task
        self.defaults = defaults

    def note(self, said: dict, names, numbers: dict) -> None:
        """Note the numbers that an evaluation gave."""
        where = self.folder if not self.folder.is_absolute() else self.task
        command = command_line(f"evaluate {where}", said, names)
        noted = {**self._evaluations(), command: numbers}
        path = self.folder / _EVALUATIONS
        path.write_text(json.dumps(noted, indent=2) + "\n", encoding="utf-8")

    def metrics(self) -> list[dict]:
        """Return `name`, `value` and `command` of all that was measured."""
        found = [
            {"name": name, "value": value, "command": command}
            for command, numbers in self._evaluations().items()
            for name, value in numbers.items()
            if not isinstance(value, dict)  # by length, say: too much
        ]
        path = self.folder / "run.json"
        if path.is_file():
            record = json.loads(path.read_text(encoding="utf-8"))
            said = read_settings(self.folder) or {}
            said = {k: v for k, v in said.items() if v != self.defaults.get(k)}
            command = command_line(f"train {self.task}", said, self.defaults)
            found += [
                {"name": name, "value": value, "command": command}
                for name, value in record.get("final_metrics", {}).items()
                if name.startswith("val_") and value is not None
            ]
        return found

    def card(self, settings: dict, credits=(), **data) -> dict:
        """Return what the model card of an export says of the training.

        Args:
            settings: Those of the trained model.
            credits: Whom else than the data to thank.
            data: What else to say of the data, by name.
        """
        name = base_name(settings.get("data", "unknown"))
        licence = settings.get("licence", "unknown")
        return {
            "data": {"name": name, **data, "licence": licence},
            "metrics": self.metrics(),
            "settings": {**settings, "data": name},
            "licence": licence,
            "credits": [f"trained on {name} ({licence})", *credits],
        }

    def load_data(self, load, settings: dict, names):
        """Load the data that the run was trained with.

        Args:
            load: A task's `load_data`.
            settings: Those of the trained model.
            names: Arguments of `load` that `keras-seq train` can be told.
        """
        noted = read_settings(self.folder) or {}
        how = {k: noted[k] for k in names if noted.get(k) is not None}
        return load(noted.get("data") or settings["data"], **how)

    def _evaluations(self):
        path = self.folder / _EVALUATIONS
        if not path.is_file():
            return {}
        return json.loads(path.read_text(encoding="utf-8"))


def command_line(words: str, said: dict, names) -> str:
    """Write down a command, with what was said of `names`.

    >>> command_line("train sentiment", {"data": "imdb", "seed": 3}, ["data"])
    'keras-seq train sentiment --data imdb'
    """
    for name in names:
        if said.get(name) is None:
            continue
        words += f" --{name.replace('_', '-')}"
        if said[name] is not True:  # a switch has no value
            value = "DIR" if name.endswith("_dir") else base_name(said[name])
            words += f" {shlex.quote(value)}"
    return "keras-seq " + words


def base_name(data) -> str:
    """Leave out where files are: that is nobody else's business.

    >>> base_name("mine/train.en,mine/train.fr")
    'train.en,train.fr'
    """
    parts = str(data).split(",")
    return ",".join(pathlib.PurePath(part).name for part in parts)


def short(number) -> float:
    """Return a Python float without digits that mean nothing."""
    return float(f"{number:.6g}")
