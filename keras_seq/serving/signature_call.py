"""A signature of a loaded SavedModel, called with little around it.

Calling the function that `signatures` holds takes a tenth of a millisecond
longer. And if the graph refuses its inputs, that call looks up for every node
where in whose source code it was made, which takes seconds of a thread that has
other requests to answer.
"""

import re

import numpy as np

_TAGS = re.compile(r"\{\{[^}]*\}\}|\[\[.*", re.DOTALL)
_OPERATION = re.compile(r"\s*\[Op:\w+\]\s*(name:.*)?$", re.DOTALL)
_LONGEST = 500


class SignatureCall:
    """A callable from arrays by name to arrays by name.

    Args:
        function: What `signatures` of a loaded SavedModel holds.
        inputs: Names of its inputs.
    """

    def __init__(self, function, inputs):
        self._function = function
        self._names = [
            tensor.name.split(":")[0]
            for tensor in function.inputs[: len(inputs)]
        ]
        self._is_plain = set(self._names) == set(inputs)
        self._captures = list(function.captured_inputs)
        self._outputs = sorted(function.structured_outputs)
        self._types = [
            function.structured_outputs[name].dtype for name in self._outputs
        ]

    def __call__(self, tensors: dict) -> dict[str, np.ndarray]:
        """Call it; what TensorFlow raises is raised."""
        import tensorflow as tf

        if not self._is_plain:  # names of another export
            outputs = self._function(**tensors)
            return {key: value.numpy() for key, value in outputs.items()}
        outputs = tf.raw_ops.StatefulPartitionedCall(
            args=[tensors[name] for name in self._names] + self._captures,
            Tout=self._types,
            f=self._function,
        )
        return {
            key: value.numpy()
            for key, value in zip(self._outputs, outputs, strict=True)
        }


def graph_message(error) -> str:
    r"""Return what TensorFlow says of an error, without names of nodes.

    >>> import tensorflow as tf
    >>> said = "{{function_node f}} assertion failed: [13]\n [[{{node a}}]]"
    >>> graph_message(tf.errors.InvalidArgumentError(None, None, said))
    'assertion failed: [13]'
    """
    said = _OPERATION.sub("", _TAGS.sub("", str(error.message))).strip()
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if lines[:1] == ["Graph execution error:"]:
        lines = lines[-1:]
    return " ".join(lines)[:_LONGEST] if lines else type(error).__name__
