"""Judge what an operation did to the masks of its inputs."""

import dataclasses
import inspect
import typing

import keras
from keras import tree

from keras_seq.explain.tensor_masks import mask_of


@dataclasses.dataclass
class Given:
    """A tensor that an operation is given.

    Attributes:
        tensor: The tensor, `(B, T, ...)` if it has a mask.
        name: Of the operation that made it.
        mask: Its mask, or None.
        leads: Whether its mask should reappear on the output: the tensors of
            a layer's first argument, as in Keras; for attention the query
            alone, since it is the query's steps that come out. An operation
            that is not a layer (`x + y`) has no favourite.
        removed_by: The operation that took the mask off, or None.
    """

    tensor: typing.Any
    name: str
    mask: typing.Any
    leads: bool
    removed_by: str | None

    @property
    def steps_are_masked(self):
        return self.mask is not None or self.removed_by is not None


def arguments(operation, args, kwargs):
    """Return `(tensor, mask given by hand or None, leads)` of each input."""
    if not isinstance(operation, keras.layers.Layer):
        return [(x, None, True) for x in tree.flatten((args, kwargs))]
    signature = inspect.signature(operation.call)
    bound = signature.bind(*args, **kwargs).arguments
    first, *others = [
        tree.flatten(value)
        for name, value in bound.items()
        if not name.endswith("mask")
    ]
    masks = tree.flatten(bound.get("mask"))
    if len(masks) != len(first):
        masks = [None] * len(first)
    only_query = "return_attention_scores" in signature.parameters
    leading = [
        (tensor, mask, i == 0 or not only_query)
        for i, (tensor, mask) in enumerate(zip(first, masks, strict=True))
    ]
    return leading + [(x, None, False) for value in others for x in value]


def verdict(operation, given, outputs):
    """Return the event: `made`, `carried`, `merged`, `used`, ... or `none`."""
    before = [x.mask for x in given if x.mask is not None]
    after = [mask for mask in map(mask_of, outputs) if mask is not None]
    leading = [x for x in given if x.leads]
    masked = [x for x in leading if x.steps_are_masked]
    if after:
        if any(new is old for new in after for old in before):
            return "carried"
        if not before or isinstance(operation, keras.layers.Masking):
            return "made"
        return "merged" if len(leading) > 1 else "carried"
    if not before and not masked:
        return "none"
    if any(_keeps_time(x.tensor, y) for x in masked for y in outputs):
        return "lost"
    return "used" if not masked or _takes_mask(operation) else "unused"


def remedy(operation, given, outputs):
    """Say why `operation` lost the mask, and what helps."""
    for x in given:
        if x.removed_by and x.leads:
            return (
                f"'{x.removed_by}' took the mask off '{x.name}', as "
                "keras.layers.MultiHeadAttention does at run time with what "
                "it is given. keras_seq.layers.MultiHeadAttention does not."
            )
    if not isinstance(operation, keras.layers.Layer):
        return (
            "Operators and keras.ops drop masks. Use a layer instead, such as "
            "keras.layers.Add, and see that all its inputs have a mask; or do "
            "this inside a layer of your own that has supports_masking = True."
        )
    if isinstance(operation, keras.layers.Lambda):
        return "Give the Lambda layer mask=lambda inputs, mask: mask."
    leading = [x for x in given if x.leads]
    if any(x.mask is None for x in leading):
        return (
            f"{type(operation).__name__} keeps a mask only if all its inputs "
            "have one. Add the unmasked input inside a layer that passes the "
            "mask on, as keras_seq's position and Transformer layers do."
        )
    same_steps = any(
        tuple(x.tensor.shape[:2]) == tuple(y.shape[:2])
        for x in leading
        for y in outputs
    )
    if same_steps and not operation.supports_masking:
        return (
            "The layer does not pass masks on. If it works step by step, set "
            "supports_masking = True on it; if it mixes steps, mask its inputs "
            "first and give the mask by hand to the layers that follow."
        )
    return (
        "The steps that come out are not those that went in, so their mask no "
        "longer fits. Make one that does and give it by hand, mask=..., to the "
        "layers that follow."
    )


def _keeps_time(given, output):
    """Whether `output` still has the time axis of `given`, `(B, T, ...)`."""
    given, output = tuple(given.shape), tuple(output.shape)
    if len(output) < 2:
        return False
    if len(output) >= len(given):
        return True
    return output[1] == given[1] and given[1] not in given[2:]


def _takes_mask(operation):
    names = inspect.signature(operation.call).parameters
    return any(name.endswith("mask") for name in names)
