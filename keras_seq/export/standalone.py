"""All that a process without keras_seq needs to use an exported folder.

It opens SavedModels with TensorFlow, `model.onnx` with ONNX Runtime and
`model.tflite` with LiteRT. This file imports nothing of keras_seq.
`export.save` runs it as a script, in a process where keras_seq cannot be
imported, to ask the new folder the questions of its model card; `python
standalone.py FOLDER` does so for any folder, and `python standalone.py FOLDER
SIGNATURE TEXT ...` asks a SavedModel anything.
"""

import base64
import json
import pathlib
import sys

import numpy as np

CARD = "model_card.json"
ONNX, LITERT = "model.onnx", "model.tflite"
RELATIVE, ABSOLUTE = 1e-4, 1e-5  # how far floats may be off


def open_saved_model(folder):
    """Load a SavedModel; return it and the packages that it needs."""
    import tensorflow as tf

    packages = ["tensorflow"]
    try:
        return tf.saved_model.load(str(folder)), packages
    except Exception as error:
        if "Op type not registered" not in str(error):
            raise
        first = error
    try:
        import tensorflow_text  # noqa: F401  (registers its ops)
    except ImportError:
        raise ImportError(
            f"{folder} needs operations that TensorFlow alone does not have; "
            "`pip install tensorflow-text`, in the version of TensorFlow, "
            f"has those of text. TensorFlow said: {first}"
        ) from first
    packages.append("tensorflow_text")
    return tf.saved_model.load(str(folder)), packages


def open_onnx(path):
    """Return a function from `{name: array}` to the same, by ONNX Runtime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(
        str(path), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(
        zip(names, session.run(names, inputs), strict=True)
    )


def open_litert(path):
    """Return a function from `{name: array}` to the same, by LiteRT."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(path))
    run = interpreter.get_signature_runner()
    return lambda inputs: run(**inputs)


# The file, the package that runs it, and how.
FILES = {
    ONNX: ("onnxruntime", open_onnx),
    LITERT: ("ai_edge_litert", open_litert),
}


def open_functions(folder):
    """Open what an export wrote, whatever it is.

    Returns:
        `{signature: function}` of arrays by name, and the packages needed.
    """
    for name, (package, open_file) in FILES.items():
        path = pathlib.Path(folder, name)
        if path.is_file():
            return {"serving_default": open_file(path)}, [package]
    loaded, packages = open_saved_model(folder)

    def asking(name):
        return lambda inputs: ask(loaded.signatures[name], inputs)

    return {name: asking(name) for name in loaded.signatures}, packages


def ask(function, inputs) -> dict[str, np.ndarray]:
    """Call a signature with arrays by name; return arrays by name."""
    import tensorflow as tf

    specs = function.structured_input_signature[1]
    if set(inputs) != set(specs):
        raise ValueError(
            f"the inputs must be {sorted(specs)}. Received: {sorted(inputs)}"
        )
    tensors = {
        name: tf.convert_to_tensor(value, specs[name].dtype)
        for name, value in inputs.items()
    }
    return {name: out.numpy() for name, out in function(**tensors).items()}


def to_json(array):
    r"""Turn an array into nested lists; bytes that are no text to base64.

    >>> to_json(np.array([b"fine", b"\xff"], object))
    ['fine', {'b64': '/w=='}]
    """
    array = np.asarray(array)
    if array.ndim:
        return [to_json(row) for row in array]
    value = array.item()
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return {"b64": base64.b64encode(value).decode()}
    # Nine digits are enough to tell any two numbers of 32 bits apart.
    return float(f"{value:.9g}") if isinstance(value, float) else value


def from_json(value, dtype: str) -> np.ndarray:
    """Undo `to_json`.

    Args:
        value: Nested lists.
        dtype: Name of the type, as the model card has it: "string", "int32".
    """
    if dtype != "string":
        return np.array(value, dtype)

    def to_bytes(value):
        if isinstance(value, list):
            return [to_bytes(item) for item in value]
        if isinstance(value, dict):
            return base64.b64decode(value["b64"])
        return value.encode("utf-8")

    return np.array(to_bytes(value), object)


def difference(
    got: np.ndarray, want: np.ndarray, relative=RELATIVE, absolute=ABSOLUTE
) -> str | None:
    """Say how an answer differs from the one expected; None if it does not."""
    if got.shape != want.shape:
        return f"has shape {got.shape}, where {want.shape} was expected"
    if got.dtype.kind == "f":
        same = np.isclose(got, want, rtol=relative, atol=absolute)
    else:
        same = got == want
    if np.all(same):
        return None
    place = tuple(int(axis[0]) for axis in np.nonzero(~np.asarray(same)))
    return (
        f"is {got[place]!r} at {list(place)}, where {want[place]!r} was "
        f"expected; {np.size(same) - np.sum(same)} of {np.size(same)} values "
        "differ"
    )


def replay(folder) -> list[str]:
    """Ask a folder the golden questions of its model card.

    Each question is asked as it is, and once more with its first row alone.

    Returns:
        The packages that were needed.

    Raises:
        ValueError: An answer differs, and which.
    """
    card = json.loads(pathlib.Path(folder, CARD).read_text(encoding="utf-8"))
    functions, packages = open_functions(folder)
    for name, pairs in card["golden"].items():
        signature = card["signatures"][name]
        for pair in pairs:
            inputs, want = (
                {
                    key: from_json(value, signature[side][key]["dtype"])
                    for key, value in pair[side].items()
                }
                for side in ("inputs", "outputs")
            )
            got = functions[name](inputs)
            for key in want:
                if key not in got:
                    wrong = "is missing"
                else:
                    wrong = difference(got[key], want[key])
                if wrong:
                    raise ValueError(
                        f"signature {name!r}: the output {key!r} {wrong}"
                    )
    return packages


def ask_about_texts(folder, signature, texts) -> dict:
    """Ask a folder that reads texts; return what JSON can say of it."""
    loaded, _ = open_saved_model(folder)
    rows = [text.encode("utf-8", "surrogateescape") for text in texts]
    answer = ask(loaded.signatures[signature], {"text": np.array(rows, object)})
    return {name: to_json(value) for name, value in answer.items()}


if __name__ == "__main__":
    sys.modules["keras_seq"] = None  # from here on it cannot be imported
    if any(pathlib.Path(sys.argv[1], name).is_file() for name in FILES):
        sys.modules["tensorflow"] = sys.modules["keras"] = None
    try:
        if sys.argv[2:]:
            answer = ask_about_texts(sys.argv[1], sys.argv[2], sys.argv[3:])
        else:
            answer = replay(sys.argv[1])
        print(json.dumps(answer))
    except (ImportError, ValueError) as wrong:
        # On one line: who started this process looks at the last one.
        sys.exit(f"{type(wrong).__name__}: {' '.join(str(wrong).split())}")
