"""The way a command says that it was asked for something it cannot do."""

import contextlib


class UsageError(Exception):
    """Shown to the user as one message without a traceback; exit code 2."""


@contextlib.contextmanager
def in_options(names):
    """Say what the library refuses in the words of the command line.

    Args:
        names: Arguments of the library that are options of a command.

    >>> with in_options(["data_dir"]):
    ...     raise ValueError("`data_dir` must be a folder.")
    Traceback (most recent call last):
    keras_seq.commands.usage_error.UsageError: --data-dir must be a folder.
    """
    try:
        yield
    except ValueError as error:
        message = str(error)
        for name in names:
            option = "--" + name.replace("_", "-")
            message = message.replace(f"`{name}`", option)
        raise UsageError(message) from error
