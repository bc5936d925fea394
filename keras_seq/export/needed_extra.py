"""What is said where the packages of an extra are not installed."""

import contextlib


@contextlib.contextmanager
def needed_extra(who: str, extra: str, packages: str):
    """Name the extra that is missing when an import inside fails.

    Args:
        who: The function that needs it.
        extra: Its name.
        packages: What it brings, in words.

    >>> with needed_extra("draw", "drawing", "easel and pencils"):
    ...     import easel
    Traceback (most recent call last):
    ImportError: `draw` needs the extra [drawing]: easel and pencils.
    Received: No module named 'easel'
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"`{who}` needs the extra [{extra}]: {packages}. Received: {error}"
        ) from error
