"""Where a model makes its masks, and where it loses them."""

import textwrap

_WIDTH = 96


def trace_masks(model, strict=False, file=None):
    """Print what each operation of `model` does to the mask of its inputs.

    A mask that gets lost is silent: padding is then read like any other
    token. The trace has a line for each operation, in running order, and
    indents what runs inside a model inside the model. Its verdicts are

    - `made`: a mask begins here (`Embedding(mask_zero=True)`, `Masking`),
    - `carried`: the output has the mask of an input,
    - `merged`: the output has a mask made from those of several inputs,
    - `used`: the mask ends here, with the time axis, in a layer that takes it
      into account (a pooling layer, a recurrent layer's last state), or hides
      the keys of an attention,
    - `unused`: the time axis ends in something that knows no masks, such as
      `x[:, 0]`, which is right, or `ops.mean(x, axis=1)`, which is not,
    - `LOST`: the time axis goes on, and the mask does not,
    - `-`: there is no mask.

    Args:
        model: A functional or sequential Keras model.
        strict: Whether to raise an error where a mask is first lost.
        file: Where to print, as in `print`; default is the screen.

    Returns:
        A list of `MaskEvent` with the fields `path`, `kind`, `event`,
        `inputs`, `depth` and `remedy`.

    Raises:
        ValueError: If `strict` and a mask is lost, or if `model` is not a
            model whose operations can be followed.

    Example:
        >>> import keras
        >>> ids = keras.Input((None,), dtype="int32", name="ids")
        >>> embed = keras.layers.Embedding(9, 4, mask_zero=True, name="embed")
        >>> x = embed(ids)
        >>> x = keras.layers.Dense(4, name="dense")(x)
        >>> x = keras.layers.LSTM(5, name="lstm")(x)
        >>> events = trace_masks(keras.Model(ids, x, name="reader"))
        Masks in model 'reader' (* has a mask)
        operation  type       mask     inputs
        embed      Embedding  made     ids
        dense      Dense      carried  *embed
        lstm       LSTM       used     *dense
        >>> [event.event for event in events]
        ['made', 'carried', 'used']
    """
    # Here and not above, so that drawing attention does not load Keras.
    from keras_seq.explain.mask_tracer import mask_events

    events = mask_events(model)
    print(_table(model, events), file=file)
    lost = next((event for event in events if event.event == "lost"), None)
    if strict and lost:
        raise ValueError(
            f"The mask is lost at '{lost.path}' ({lost.kind}). {lost.remedy} "
            f"Received: inputs {_inputs(lost)} (* has a mask)"
        )
    return events


def _table(model, events):
    rows = [("operation", "type", "mask", "inputs")] + [
        (
            "  " * event.depth + event.name,
            event.kind,
            {"lost": "LOST", "none": "-", "model": ""}.get(
                event.event, event.event
            ),
            _inputs(event),
        )
        for event in events
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"Masks in model '{model.name}' (* has a mask)"]
    for row, event in zip(rows, [None, *events], strict=True):
        cells = [c.ljust(w) for c, w in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
        if event and event.remedy:
            indent = "  " * (event.depth + 1)
            lines += textwrap.wrap(
                event.remedy,
                _WIDTH,
                initial_indent=f"{indent}-> ",
                subsequent_indent=f"{indent}   ",
            )
    return "\n".join(lines)


def _inputs(event):
    return ", ".join(("*" if has else "") + name for name, has in event.inputs)
