"""The one door through which every task exports its models."""

import pathlib

import keras
import numpy as np
import tensorflow as tf

from keras_seq.export.clean_process import replay_in_clean_process
from keras_seq.export.export_error import ExportError
from keras_seq.export.graph_checks import (
    check_graph,
    check_precision,
    check_signatures,
    describe_signatures,
    read_meta_graph,
)
from keras_seq.export.half_precision import (
    HalfWeight,
    note_on_half,
    rounded_to_half,
    weights_to_halve,
)
from keras_seq.export.model_card import check_card, check_finite, write_card
from keras_seq.export.unused_gradients import forget_gradients
from keras_seq.export.version_folders import new_version
from keras_seq.export.warmup_requests import write_warmup_requests


def save(
    folder,
    signatures: dict,
    *,
    tracked,
    card: dict,
    golden: dict,
    version: int | None = None,
    half: bool = False,
) -> pathlib.Path:
    """Write `folder/<version>`, a SavedModel that answers without keras_seq.

    The version appears in one step, complete and checked, or not at all:

    1. The model is written under a name that no server takes for a version,
       with `model_card.json` and `assets.extra/tf_serving_warmup_requests`.
    2. Refused: operations of cuDNN and of Python (`CudnnRNN*`, `PyFunc`);
       tables or variables that are not tracked; signatures whose tensors have
       no name, a fixed batch, or floats other than float32; float64
       anywhere; XLA (`jit_compile=True`) in `serving_default`.
    3. A new process with TensorFlow (and tensorflow-text if the model needs
       it), on the CPU and without keras_seq, loads it and has to give, for
       every signature, the answers that the functions here give: for the
       golden inputs together, and for the first row of them alone.

    Differs from `keras.Model.export`: several signatures, nothing inferred
    from the first call, and a folder that has been tried.

    Args:
        folder: The folder of all versions of this model.
        signatures: `{name: function}`: each a `tf.function` with an
            `input_signature` of `tf.TensorSpec`s, which returns a dict of
            tensors. `serving_default` is what a server answers by itself.
        tracked: The models, tokenizers and tables that the functions use.
        card: What a stranger has to know, see `model_card.check_card`:
            `task`, `data`, `metrics`, `licence`, `credits`, and more.
        golden: `{signature: {input: array}}`, real questions for each.
        version: Default: the next after the highest there is.
        half: Whether to write large float32 weights as float16. They are
            float32 again as soon as the folder is loaded. The golden answers
            of `serving_default` have to stay: text and whole numbers equal,
            floats within 0.02, relative or absolute. Where there is a `score`
            that stays, its text may be another. The card says `half`.

    Returns:
        The version folder.

    Raises:
        ExportError: The model was refused, and why. No version was made.

    Example:
        >>> import tempfile
        >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        >>> @tf.function(
        ...     input_signature=[tf.TensorSpec((None, 3), name="features")]
        ... )
        ... def serving_default(features):
        ...     return {"scores": model(features)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = save(
        ...         folder,
        ...         {"serving_default": serving_default},
        ...         tracked=[model],
        ...         card={"task": "example", "data": {}, "metrics": [],
        ...               "licence": "CC0-1.0", "credits": []},
        ...         golden={"serving_default": {"features": np.ones((2, 3))}},
        ...     )
        ...     path.name, (path / "model_card.json").exists()
        ('1', True)
    """
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            "`save` needs the TensorFlow backend. "
            f"Received: KERAS_BACKEND={keras.backend.backend()}"
        )
    folder = pathlib.Path(folder)
    check_card(card)
    functions = {
        name: _concrete(name, function) for name, function in signatures.items()
    }
    if set(golden) != set(functions):
        raise ValueError(
            "`golden` must have inputs for each signature, "
            f"{sorted(functions)}. Received: for {sorted(golden)}"
        )
    with new_version(folder, version) as unfinished:
        halved = weights_to_halve(tracked) if half else []
        _write(unfinished, signatures, tracked, halved)
        meta_graph = read_meta_graph(unfinished)
        check_graph(meta_graph)
        described = describe_signatures(meta_graph)
        check_signatures(described)
        check_precision(meta_graph)
        with rounded_to_half(halved):  # as a process that loads it has them
            pairs = _golden_pairs(functions, golden)
        if half:
            exact = _golden_pairs(functions, golden)
            card = {**card, "half": note_on_half(halved, exact, pairs)}
        write_card(unfinished, card, described, pairs, needs=[])
        write_warmup_requests(unfinished, card["task"], pairs)
        needs = replay_in_clean_process(unfinished)
        write_card(unfinished, card, described, pairs, needs=needs)
        number = unfinished.name.split("-")[1]
    return folder / number


def _concrete(name, function):
    if getattr(function, "input_signature", None) is None:
        raise ValueError(
            f"`signatures[{name!r}]` must be a tf.function with an "
            f"`input_signature`. Received: {function!r}"
        )
    concrete = function.get_concrete_function()
    if not isinstance(concrete.structured_outputs, dict):
        raise ExportError(
            f"signature {name!r} must return a dict that names its outputs. "
            f"Received: {type(concrete.structured_outputs).__name__}"
        )
    return concrete


def _golden_pairs(functions, golden):
    """Let the live functions answer the golden questions."""
    return {
        name: [
            _answered(name, function, golden[name], rows)
            for rows in (slice(None), slice(1))
        ]
        for name, function in functions.items()
    }


def _answered(name, function, inputs, rows):
    structure = function.structured_input_signature
    specs = {spec.name: spec for spec in tf.nest.flatten(structure)}
    if set(inputs) != set(specs):
        raise ValueError(
            f"`golden[{name!r}]` must have the inputs {sorted(specs)}. "
            f"Received: {sorted(inputs)}"
        )
    tensors = {
        key: tf.convert_to_tensor(inputs[key], spec.dtype)[rows]
        for key, spec in specs.items()
    }
    args, kwargs = tf.nest.map_structure(lambda s: tensors[s.name], structure)
    outputs = function(*args, **kwargs)
    outputs = {key: np.asarray(value) for key, value in outputs.items()}
    check_finite(name, outputs)
    arrays = {key: tensor.numpy() for key, tensor in tensors.items()}
    return {"inputs": arrays, "outputs": outputs}


def _write(path, signatures, tracked, halved):
    # Not `keras.export.ExportArchive`, which writes every weight twice: as
    # Keras's variable and as TensorFlow's, which the functions use.
    module = tf.Module()
    smaller = {id(variable) for variable in halved}
    module.weights = [
        variable.value
        for resource in tracked
        for variable in getattr(resource, "variables", ())
        if id(variable.value) not in smaller
    ]
    module.halves = [
        HalfWeight(variable, f"half_{number}")
        for number, variable in enumerate(halved)
    ]
    module.stored_halves = [half.stored for half in module.halves]
    module.tables = [r for r in tracked if not isinstance(r, keras.Model)]
    try:
        # Nobody trains what is exported: gradients would be a tenth of it.
        options = tf.saved_model.SaveOptions(
            experimental_custom_gradients=False
        )
        tf.saved_model.save(module, str(path), signatures, options)
        forget_gradients(path)
    except AssertionError as error:  # so TensorFlow speaks of a lost table
        if "untracked" not in str(error):
            raise
        raise ExportError(
            "`tracked` must hold every table and variable that the signatures "
            f"use. Received: {str(error).splitlines()[0]}"
        ) from error
