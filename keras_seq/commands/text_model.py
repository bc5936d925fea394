"""Trained models that read text: what those of two tasks share."""

from collections.abc import Iterator

import numpy as np

from keras_seq.commands.signature_model import SignatureModel


class TextModel(SignatureModel):
    """A model of texts; a task's own has a `page(explanations)` of HTML."""

    asks_for = "a text"
    drawn_as = ("html",)

    def ask(self, signature: str, inputs: list[bytes]) -> dict:
        """Return the arrays that a signature answers texts with, by name."""
        answer = self.signature(signature)(text=np.array(inputs, object))
        return {name: np.asarray(value) for name, value in answer.items()}

    def write(self, path, explanations: list[dict]) -> list:
        """Write one page of HTML; return its path in a list."""
        path.write_text(self.page(explanations), encoding="utf-8")
        return [path]


def batches_of_like_length(
    texts, batch_size: int
) -> Iterator[tuple[list[int], list[bytes]]]:
    """Yield places in `texts` and what stands there as bytes, short first.

    >>> list(batches_of_like_length(["long", "b", "c"], 2))
    [([1, 2], [b'b', b'c']), ([0], [b'long'])]
    """
    rows = [str(text).encode("utf-8", "surrogatepass") for text in texts]
    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    for first in range(0, len(order), batch_size):
        places = order[first : first + batch_size]
        yield places, [rows[place] for place in places]
