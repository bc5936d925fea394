"""Refuse constructor arguments that cannot work, by name and with the value."""


def check_count(name, value, optional=False):
    """Raise `ValueError` unless `value` is a positive integer."""
    if optional and value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(
            f"`{name}` must be a positive integer. Received: {name}={value}"
        )


def check_dropout(dropout, name="dropout"):
    """Raise `ValueError` unless `dropout` is a share that leaves something."""
    if not 0 <= dropout < 1:
        raise ValueError(
            f"`{name}` must be in [0, 1). Received: {name}={dropout}"
        )
