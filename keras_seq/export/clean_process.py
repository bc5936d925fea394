"""Ask an exported folder its golden questions where keras_seq is not."""

import json
import os
import subprocess
import sys
import tempfile

from keras_seq.export import standalone
from keras_seq.export.export_error import ExportError


def replay_in_clean_process(folder) -> list[str]:
    """Load `folder` in a new process and compare its answers.

    The process has TensorFlow, tensorflow-text if the model needs it, and no
    GPU; importing keras_seq fails in it.

    Returns:
        The packages that the folder needs.

    Raises:
        ExportError: It did not load, or answered otherwise.
    """
    return _run(folder)


def ask_in_clean_process(folder, signature, texts) -> dict:
    """Let a process without keras_seq load `folder` and answer texts.

    Returns:
        What the signature says, `{name: nested lists}`.

    Raises:
        ExportError: It did not load, or could not answer.
    """
    return _run(folder, signature, *texts)


def _run(folder, *question):
    environment = {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "-1",  # what is exported runs anywhere
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "PYTHONIOENCODING": "utf-8",
    }
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(
            # -P: the folder of the script is no place to import from.
            [
                *(sys.executable, "-P"),
                *(standalone.__file__, os.path.abspath(folder), *question),
            ],
            cwd=elsewhere,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
        )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise ExportError(
            "the exported model must answer in a process without keras_seq as "
            f"it does here. Received, with exit code {done.returncode}: "
            f"{said[-1]}"
        )
    return json.loads(done.stdout.strip().splitlines()[-1])
