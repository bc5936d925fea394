"""Tokenizers in a SavedModel, read where keras_seq is not."""

import json
import subprocess
import sys

import keras
import pytest
import tensorflow as tf

from tests.text.awkward import AWKWARD_BYTES
from tests.text.conftest import CORPUS

pytestmark = pytest.mark.tensorflow

# tensorflow-text registers the ops of SentencePiece; words need none of it.
CHILD = """
import json, sys
import tensorflow as tf
if sys.argv[3] == "subword":
    import tensorflow_text
loaded = tf.saved_model.load(sys.argv[1])
texts = [bytes.fromhex(text) for text in json.load(open(sys.argv[2]))]
encoded = loaded.signatures["encode"](text=tf.constant(texts))
decoded = loaded.signatures["decode"](token_ids=encoded["token_ids"])
answer = {key: value.numpy().tolist() for key, value in encoded.items()}
answer["text"] = decoded["text"].numpy().tolist()
assert "keras_seq" not in sys.modules
assert ("tensorflow_text" in sys.modules) == (sys.argv[3] == "subword")
print(json.dumps(answer, default=bytes.hex))
"""


def encode(tokenizer, text):
    spans = tokenizer.tokenize_with_offsets(text)
    return {
        "token_ids": tokenizer(text, add_start=True, add_end=True),
        "tokens": spans.tokens.to_tensor(""),
        "starts": spans.starts.to_tensor(-1),
        "ends": spans.ends.to_tensor(-1),
    }


def export(tokenizer, folder, track):
    archive = keras.export.ExportArchive()
    if track:
        archive.track(tokenizer)
    archive.add_endpoint(
        "encode",
        lambda text: encode(tokenizer, text),
        input_signature=[tf.TensorSpec((None,), tf.string, name="text")],
    )
    archive.add_endpoint(
        "decode",
        lambda token_ids: {"text": tokenizer.detokenize(token_ids)},
        input_signature=[
            tf.TensorSpec((None, None), tf.int32, name="token_ids")
        ],
    )
    archive.write_out(folder, verbose=False)


@pytest.mark.parametrize("kind", ["subword", "word"])
def test_a_process_without_keras_seq_gives_the_same_answers(
    kind, request, tmp_path
):
    tokenizer = request.getfixturevalue(kind)
    export(tokenizer, tmp_path / "model", track=kind == "word")
    texts = [*(text.encode() for text in CORPUS[:6]), *AWKWARD_BYTES]
    (tmp_path / "texts.json").write_text(
        json.dumps([text.hex() for text in texts])
    )
    arguments = [str(tmp_path / "model"), str(tmp_path / "texts.json"), kind]
    child = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments],
        cwd=tmp_path,  # where keras_seq cannot be imported by accident
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, child.stderr
    want = encode(tokenizer, tf.constant(texts))
    want["text"] = tokenizer.detokenize(want["token_ids"])
    want = {key: value.numpy().tolist() for key, value in want.items()}
    assert json.loads(child.stdout) == json.loads(
        json.dumps(want, default=bytes.hex)
    )
