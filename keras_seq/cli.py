"""The command line, `keras-seq COMMAND ...`: `keras-seq --help` lists them."""

import argparse
import importlib
import os
import sys

import keras_seq
from keras_seq.commands.usage_error import UsageError

# Modules of keras_seq.commands, in the order in which help shows them.
COMMANDS = (
    "train",
    "evaluate",
    "predict",
    "explain",
    "export",
    "inspect",
    "serve",
    "tutorial",
    "demo",
)

# keras_seq keeps TensorFlow's errors on the screen. What a command does wrong
# it says itself; remarks on what this processor lacks help nobody here.
_LOG_LEVEL, _ERRORS_TOO, _FATAL_ONLY = "TF_CPP_MIN_LOG_LEVEL", "2", "3"

_WRONG_USE, _STOPPED, _NO_READER = 2, 130, 141  # exit codes shells know


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: What stands after `keras-seq`; by default what was typed.

    Returns:
        The exit code: 0 if all is well, 1 if what ran failed, 2 if it was
        asked for wrongly, 130 if the user stopped it.
    """
    arguments = parse(argv)
    if arguments.command is None:
        _parser().print_help()
        return 0
    if os.environ.get(_LOG_LEVEL) == _ERRORS_TOO:
        os.environ[_LOG_LEVEL] = _FATAL_ONLY
    try:
        code = arguments.run(arguments)
        sys.stdout.flush()  # or a closed pipe shows itself too late
        return code
    except UsageError as error:
        print(f"keras-seq {arguments.command}: {error}", file=sys.stderr)
        return _WRONG_USE
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return _STOPPED
    except BrokenPipeError:  # `keras-seq ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _NO_READER


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Return what was asked for; texts may stand before and after options.

    Left alone, argparse takes the TEXTs of `predict MODEL --json TEXT` to be
    none as soon as it has seen the MODEL, and then knows no place for TEXT.
    """
    parser = _parser()
    arguments, rest = parser.parse_known_args(argv)
    options = [word for word in rest if word.startswith("-")]
    if rest and (options or not hasattr(arguments, "texts")):
        parser.error(f"unrecognized arguments: {' '.join(options or rest)}")
    if rest:
        arguments.texts += rest
    return arguments


def _parser():
    parser = argparse.ArgumentParser(
        prog="keras-seq",
        description="Attention and sequence models for Keras 3.",
        epilog="`keras-seq COMMAND --help` says more about a command.",
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"keras-seq {keras_seq.__version__}",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name in COMMANDS:
        module = importlib.import_module(f"keras_seq.commands.{name}")
        module.add_parser(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
