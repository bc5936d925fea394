"""One line of a mask trace."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class MaskEvent:
    """One operation of a model, and what became of the mask there.

    Attributes:
        path: Where it stands, e.g. `encoder/add`.
        kind: Its class; `ops.` stands before what is not a layer.
        event: `made`, `carried`, `merged`, `used`, `unused`, `lost`, `none`
            (there was no mask), or `model` for a model whose operations
            follow. `keras_seq.explain.trace_masks` says what they mean.
        inputs: What it is given, as pairs of name and whether it has a mask.
        depth: How many models or layers it stands in.
        remedy: What to do about it; empty unless `event` is `lost`.
    """

    path: str
    kind: str
    event: str
    inputs: tuple[tuple[str, bool], ...]
    depth: int
    remedy: str = ""

    @property
    def name(self):
        """The last part of `path`."""
        return self.path.rpartition("/")[2]
