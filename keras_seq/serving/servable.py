"""A version of a model in memory: its signatures, described and callable."""

import json
import pathlib

import numpy as np

from keras_seq.serving.serving_error import ServingError, bad_request
from keras_seq.serving.signature import Signature, TensorSpec
from keras_seq.serving.signature_call import SignatureCall, graph_message

FILE = "saved_model.pb"
CARD = "model_card.json"


class Servable:
    """A SavedModel, loaded with TensorFlow alone.

    Args:
        name: Name of the model.
        version: Its version.
        folder: The version folder.

    Attributes:
        signatures: `{name: Signature}`.
        signature_defs: The same as the protobuf messages of the folder.
        card: What `model_card.json` says, or {}.
    """

    def __init__(self, name: str, version: int, folder):
        self.name = name
        self.version = version
        self.folder = pathlib.Path(folder)
        self.card = _card(self.folder / CARD)
        # Functions do not keep their variables alive; this object does.
        self._loaded = _load(self.folder)
        self.signature_defs = {
            key: definition
            for key, definition in _signature_defs(self.folder).items()
            if key in self._loaded.signatures
        }
        self.signatures = {
            key: Signature(_specs(sig.inputs), _specs(sig.outputs))
            for key, sig in self.signature_defs.items()
        }
        self._calls = {
            key: SignatureCall(self._loaded.signatures[key], signature.inputs)
            for key, signature in self.signatures.items()
        }

    def run(
        self, signature: str, inputs: dict[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Call a signature.

        Raises:
            ServingError: 400 if the graph refuses these inputs, 429 if they
                need more memory than there is, else 500.
        """
        import tensorflow as tf

        specs = self.signatures[signature].inputs
        try:
            tensors = {
                key: tf.convert_to_tensor(value, specs[key].dtype)
                for key, value in inputs.items()
            }
            return self._calls[signature](tensors)
        except (tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError) as e:
            raise bad_request(graph_message(e)) from e
        except tf.errors.ResourceExhaustedError as error:
            raise ServingError(429, graph_message(error)) from error
        except tf.errors.OpError as error:
            raise ServingError(500, graph_message(error)) from error


def _card(path):
    """Read a model card; a model is served without one, too."""
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return card if isinstance(card, dict) else {}


def _load(folder):
    import tensorflow as tf

    try:
        return tf.saved_model.load(str(folder))
    except Exception as error:
        if "Op type not registered" not in str(error):
            raise
    import tensorflow_text  # noqa: F401  (registers its operations)

    return tf.saved_model.load(str(folder))


def _signature_defs(folder):
    from tensorflow.core.protobuf import saved_model_pb2

    message = saved_model_pb2.SavedModel()
    message.ParseFromString((folder / FILE).read_bytes())
    return dict(message.meta_graphs[0].signature_def)


def _specs(tensors):
    import tensorflow as tf

    return {
        key: TensorSpec(
            tf.as_dtype(info.dtype).name,
            None
            if info.tensor_shape.unknown_rank
            else tf.TensorShape(info.tensor_shape).as_list(),
        )
        for key, info in sorted(tensors.items())
    }
