"""A Keras model as one function that other runtimes can be taught."""

import keras
import numpy as np
import tensorflow as tf

from keras_seq.export.graph_checks import DEFAULT, check_signatures
from keras_seq.export.model_card import check_finite
from keras_seq.ops.portable import portable


class PortableModel:
    """A functional model, its names and types, and its live answers.

    Attributes:
        function: A `tf.function` of plain operations (`ops.portable`), which
            takes the inputs by name and returns a dict of outputs.
        tracked: What holds the variables of the function.
        signatures: `{"serving_default": {"inputs": ..., "outputs": ...}}`, as
            in a model card.

    Args:
        model: A functional `keras.Model`.

    Raises:
        ExportError: The batch or the length of token ids is fixed, or a float
            is not float32.
    """

    def __init__(self, model: keras.Model):
        inputs = getattr(model, "inputs", None)
        if not isinstance(model, keras.Model) or not inputs:
            raise ValueError(
                "`model` must be a functional `keras.Model`, whose inputs are "
                f"known. Received: {model!r}"
            )
        self._model = model
        self._specs = {
            x.name: tf.TensorSpec(x.shape, x.dtype, x.name) for x in inputs
        }
        self.tracked = tf.Module()
        self.tracked.variables_of_model = [v.value for v in model.variables]

        @tf.function(
            input_signature=list(self._specs.values()), autograph=False
        )
        def function(*inputs):
            with portable():
                return self._outputs(inputs)

        self.function = function
        outputs = function.get_concrete_function().structured_outputs
        self.signatures = {
            DEFAULT: {
                "inputs": _described(self._specs),
                "outputs": _described(outputs),
            }
        }
        check_signatures(self.signatures)

    def golden_pairs(self, golden: dict) -> dict:
        """Let the live model answer: as it always does, not the plain way.

        Asked are the golden inputs as they are, their first row alone, their
        first step alone, and all of them twice in a row: what was fixed to
        one batch or to one length cannot answer these.

        Args:
            golden: `{input: array}`.

        Returns:
            `{"serving_default": [{"inputs": arrays, "outputs": arrays}]}`.
        """
        if set(golden) != set(self._specs):
            raise ValueError(
                f"`golden` must have the inputs {sorted(self._specs)}. "
                f"Received: {sorted(golden)}"
            )
        whole = {
            name: np.asarray(golden[name], spec.dtype.as_numpy_dtype)
            for name, spec in self._specs.items()
        }
        trials = [whole, {name: x[:1] for name, x in whole.items()}]
        if any(_has_steps(spec) for spec in self._specs.values()):
            for change in (lambda x: x[:, :1], lambda x: np.hstack([x, x])):
                trials.append(
                    {
                        name: change(x) if _has_steps(self._specs[name]) else x
                        for name, x in whole.items()
                    }
                )
        return {DEFAULT: [self._answered(trial) for trial in trials]}

    def _answered(self, inputs):
        tensors = [tf.convert_to_tensor(inputs[name]) for name in self._specs]
        outputs = {k: v.numpy() for k, v in self._outputs(tensors).items()}
        check_finite(DEFAULT, outputs)
        return {"inputs": inputs, "outputs": outputs}

    def _outputs(self, inputs):
        model = self._model
        by_name = dict(zip(self._specs, inputs, strict=True))
        structure = keras.tree.map_structure(
            lambda x: by_name[x.name], model.input
        )
        outputs = model(structure, training=False)
        if isinstance(outputs, dict):
            return outputs
        flat = keras.tree.flatten(outputs)
        return dict(zip(model.output_names, flat, strict=True))


def _has_steps(spec):
    return spec.shape.rank > 1 and spec.shape[1] is None


def _described(tensors):
    return {
        name: {"dtype": x.dtype.name, "shape": x.shape.as_list()}
        for name, x in sorted(tensors.items())
    }
