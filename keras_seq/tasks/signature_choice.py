"""Which of a model's signatures are exported."""


def chosen_signatures(signatures: dict, only=None) -> dict:
    """Return those of `signatures` that `only` names; None is all of them.

    >>> chosen_signatures({"serving_default": 1, "fast": 2}, ["fast"])
    {'fast': 2}
    """
    names = tuple(signatures) if only is None else tuple(only)
    if not names or not set(names) <= set(signatures):
        raise ValueError(
            f"`only` must be names of {list(signatures)}. Received: {only!r}"
        )
    return {name: signatures[name] for name in names}
