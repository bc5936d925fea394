"""What a signature of a SavedModel takes and gives."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """Type and shape of an input or an output.

    Attributes:
        dtype: "string", "float32", ...
        shape: One entry per axis, None for any size; None for any rank.
    """

    dtype: str
    shape: list[int | None] | None


@dataclasses.dataclass(frozen=True)
class Signature:
    """A question that a model answers.

    Attributes:
        inputs: `{name: TensorSpec}`.
        outputs: `{name: TensorSpec}`.
    """

    inputs: dict[str, TensorSpec]
    outputs: dict[str, TensorSpec]

    @property
    def can_batch(self) -> bool:
        """Whether strangers' rows may share a call.

        Every tensor needs the batch as its first axis. And no other axis of
        an output may be of any size: it would be as long as the longest row
        of the batch wants it, and an answer would depend on who else asked.
        """
        return all(
            spec.shape and spec.shape[0] is None
            for spec in (*self.inputs.values(), *self.outputs.values())
        ) and all(None not in spec.shape[1:] for spec in self.outputs.values())
