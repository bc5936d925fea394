"""Load the Keras backend without its start-up notes on the user's screen.

TensorFlow writes remarks about CPU features and absent GPUs to file descriptor
2 before any log level applies, so the descriptor itself is set aside while it
loads. If loading fails, what was said is shown after all.
"""

import contextlib
import os
import sys
import tempfile


@contextlib.contextmanager
def quiet_stderr():
    """Hold back what C++ writes to stderr; replay it if the body raises."""
    try:
        descriptor = sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):  # a notebook, a test, no tty
        descriptor = 2
    try:
        saved = os.dup(descriptor)
    except OSError:  # stderr is closed: there is no screen to keep clean
        yield
        return
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), descriptor)
        try:
            yield
        except BaseException:
            os.dup2(saved, descriptor)
            said.seek(0)
            os.write(descriptor, said.read())
            raise
        finally:
            os.dup2(saved, descriptor)
            os.close(saved)


def load_backend() -> None:
    """Import Keras, and let TensorFlow look for GPUs, in silence."""
    if "keras" in sys.modules:
        return  # whoever imported it has seen its notes already
    with quiet_stderr():
        import keras

        if keras.backend.backend() == "tensorflow":
            import tensorflow as tf

            tf.config.list_physical_devices("GPU")


load_backend()
