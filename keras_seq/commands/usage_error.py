"""The way a command says that it was asked for something it cannot do."""


class UsageError(Exception):
    """Shown to the user as one message without a traceback; exit code 2."""
