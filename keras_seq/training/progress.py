"""One line that says how far a run is."""

import shutil
import sys
import time

BAR = 20


class Progress:
    """A bar on a terminal; elsewhere one line per epoch, or nothing.

    Args:
        epochs: Epochs of the run.
        verbose: 0 is silent, 1 speaks, and `"auto"` speaks to a terminal
            only.
        stream: Where to write; standard output by default.
    """

    def __init__(self, epochs, verbose="auto", stream=None):
        if verbose not in ("auto", 0, 1):
            raise ValueError(
                f'`verbose` must be "auto", 0 or 1. Received: {verbose!r}'
            )
        self.epochs = epochs
        self.steps_per_epoch = None
        self.stream = sys.stdout if stream is None else stream
        self.has_bar = bool(verbose) and self.stream.isatty()
        self.speaks = self.has_bar or verbose == 1
        self._steps = 0
        self._seconds = 0.0
        self._since: float | None = None

    def start_epoch(self, steps: int | None):
        """Start the clock; the time between epochs is not training.

        Args:
            steps: Batches of this epoch; None if not known, which is taken to
                be as many as in the one before.
        """
        self.steps_per_epoch = steps or self.steps_per_epoch
        self._since = time.perf_counter()

    def show(self, epoch: int, step: int, done_now: int, logs: dict):
        """Draw the bar.

        Args:
            epoch: Number of the epoch, from 1.
            step: Batches of this epoch that are done.
            done_now: Those of them that were done since `start_epoch`.
            logs: Numbers to show.
        """
        if not self.has_bar:
            return
        words = [f"epoch {epoch}/{self.epochs}", self._bar(step)]
        words += [f"{k} {_short(v)}" for k, v in logs.items()]
        left = self._seconds_left(epoch, step, done_now)
        if left is not None:
            words.append(f"{clock(left)} left")
        self._rewrite("  ".join(words))

    def end_epoch(self, step: int, done_now: int):
        """Stop the clock and remember the pace."""
        self._seconds += time.perf_counter() - self._since
        self._steps += done_now
        self.steps_per_epoch = self.steps_per_epoch or step

    def note(self, text: str):
        """Say what is being done while no bar moves."""
        if self.has_bar:
            self._rewrite(text)

    def epoch_line(self, seconds: float, logs: dict):
        """Leave a line that stays about an epoch that is over."""
        if not self.speaks:
            return
        if self.has_bar:
            self._rewrite("")
        words = [f"epoch {logs['epoch']}/{self.epochs}", clock(seconds)]
        words += [
            f"{name} {_short(value)}"
            for name, value in logs.items()
            if name != "epoch"
        ]
        print("  ".join(words), file=self.stream, flush=True)

    def _bar(self, step):
        if not self.steps_per_epoch:
            return f"step {step}"
        share = min(1.0, step / self.steps_per_epoch)
        full = round(BAR * share)
        return f"[{'#' * full}{'.' * (BAR - full)}] {100 * share:3.0f}%"

    def _seconds_left(self, epoch, step, done_now):
        steps = self._steps + done_now
        if not steps or not self.steps_per_epoch:
            return None
        seconds = self._seconds + time.perf_counter() - self._since
        left = (self.epochs - epoch + 1) * self.steps_per_epoch - step
        return max(0, left) * seconds / steps

    def _rewrite(self, text):
        width = shutil.get_terminal_size().columns - 1
        self.stream.write("\r\x1b[K" + text[:width])
        self.stream.flush()


def clock(seconds: float) -> str:
    """Write a time the way a clock does.

    >>> clock(5), clock(75), clock(3725)
    ('0:05', '1:15', '1:02:05')
    """
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02d}:{seconds:02d}"
    return f"{minutes}:{seconds:02d}"


def _short(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)
