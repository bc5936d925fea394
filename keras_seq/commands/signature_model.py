"""Trained models behind their signatures: what those of all tasks share."""

from keras_seq.commands.usage_error import UsageError, in_options


class SignatureModel:
    """A model behind its signatures, from a run or from an export.

    A task's own has, besides what `task.OpenModel` asks for, `known_data()`,
    names of data sets that can be loaded, and `scores(said)`.

    Args:
        signatures: `{name: function}` of arrays by name, as `export.load` has
            them.
        card: What the model card says.

    Attributes:
        options: What the library may refuse that is an option of a command.
    """

    options: tuple[str, ...] = ()

    def __init__(self, signatures: dict, card: dict):
        self.signatures = signatures
        self.card = card

    def evaluate(self, said: dict) -> dict:
        """Score the model on the data that was named."""
        if "data" not in said:
            said = {**self.own_data(), **said}
        with in_options(self.options):
            return self.scores(said)

    def own_data(self) -> dict:
        """Return what says which data the model was trained with."""
        name = self.card.get("data", {}).get("name")
        if name not in self.known_data():
            raise UsageError(
                "--data must name what to score on: this model was trained "
                f"with {name!r}, which is not at hand"
            )
        return {"data": name}

    def signature(self, name: str):
        """Return the function of a signature, or say that there is none."""
        if name not in self.signatures:
            raise UsageError(
                f"the model must have the signature {name!r}. "
                f"Received: {sorted(self.signatures)}"
            )
        return self.signatures[name]


def refuse_beam_size(said: dict) -> None:
    """Refuse to search otherwise than an export was made to."""
    if "beam_size" in said:
        raise UsageError(
            "--beam-size is chosen when a model is exported; this one has "
            "its own. Name the run it was made from"
        )
