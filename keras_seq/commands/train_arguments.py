"""What can be said about every training, whatever the task."""

from keras_seq.commands.usage_error import UsageError


def add_data_dir(parser) -> None:
    """Add where the real data sets are."""
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        help="folder of the real data sets (default: KERAS_SEQ_DATA)",
    )


def add_epochs(parser) -> None:
    """Add how often to go through the data."""
    parser.add_argument(
        "--epochs",
        metavar="N",
        type=int,
        help="how often to go through the data (default: what suits it)",
    )


def add_minutes(parser) -> None:
    """Add how long to learn."""
    parser.add_argument(
        "--minutes",
        metavar="N",
        type=float,
        help="stop learning after so many (default: no limit)",
    )


def add_seed(parser) -> None:
    """Add the seed."""
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        help="the same number gives the same model (default: 0)",
    )


def check_numbers(settings: dict) -> None:
    """Refuse epochs, minutes and seeds that cannot be meant."""
    for name, least in (("epochs", 1), ("seed", 0)):
        value = settings[name]
        if value is not None and value < least:
            raise UsageError(
                f"--{name} must be at least {least}. Received: {value}"
            )
    if settings["minutes"] is not None and not settings["minutes"] > 0:
        raise UsageError(
            f"--minutes must be positive. Received: {settings['minutes']}"
        )


def final_metrics(train, folder, resume: bool, settings: dict) -> dict:
    """Train with what was said; return how well it went, by name.

    Args:
        train: The `train` of a task.
        folder: The folder of the run.
        resume: Whether to go on with it.
        settings: Its arguments by name, but `minutes` in the place of
            `time_limit`; None is what was not said.
    """
    settings = {k: v for k, v in settings.items() if v is not None}
    if "minutes" in settings:
        settings["time_limit"] = 60 * settings.pop("minutes")
    _, result = train(**settings, folder=folder, resume=resume, verbose=1)
    return result.final_metrics
