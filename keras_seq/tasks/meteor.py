"""METEOR, by its authors' own program, where that and Java are installed."""

import importlib.util
import pathlib
import shutil
import subprocess
import threading

_JAR = pathlib.Path("meteor", "meteor-1.5.jar")


def find_meteor() -> pathlib.Path | None:
    """Return the program: part of `pycocoevalcap` (extra `[meteor]`).

    `None` where it is not installed, or where there is no Java to run it.
    """
    found = importlib.util.find_spec("pycocoevalcap")
    places = found.submodule_search_locations if found else []
    for place in places or []:
        jar = pathlib.Path(place) / _JAR
        if jar.is_file() and shutil.which("java"):
            return jar
    return None


def meteor(predictions, references, jar, seconds=600) -> float:
    """Return METEOR 1.5 of a corpus (Denkowski and Lavie, 2014), 0 to 1.

    Args:
        predictions: N lists of words.
        references: For each the lists of words of its references.
        jar: What `find_meteor` found.
        seconds: How long Java may take; it needs about ten to start.
    """
    command = ["java", "-Xmx2G", "-jar", str(jar)]
    command += ["-", "-", "-stdio", "-l", "en", "-norm"]
    process = subprocess.Popen(
        command,
        cwd=pathlib.Path(jar).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    watch = threading.Timer(seconds, process.kill)
    watch.start()

    def ask(*parts):
        lines = [" ".join(part).replace("|||", " ") for part in parts[1:]]
        process.stdin.write(" ||| ".join([parts[0], *lines]) + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    try:
        counted = [
            ask("SCORE", *given, words).split()
            for words, given in zip(predictions, references, strict=True)
        ]
        ask("EVAL", *counted)
        # One line for each caption, the first of which is read; then the sum.
        for _ in counted:
            last = process.stdout.readline()
        return float(last)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise RuntimeError(
            f"METEOR must answer with a number within {seconds} seconds. "
            f"Received: {error}"
        ) from error
    finally:
        watch.cancel()
        process.kill()
        process.communicate()
