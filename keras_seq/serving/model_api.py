"""What can be asked of a model: status, metadata, and an answer."""

import asyncio

from keras_seq.serving.input_limits import check_images
from keras_seq.serving.json_body import decode_json, encode_json
from keras_seq.serving.mailbox import Mailbox
from keras_seq.serving.predict_codec import (
    check_method,
    decode_request,
    encode_answer,
)
from keras_seq.serving.repository import END, ModelRepository
from keras_seq.serving.settings import ServerSettings

_LARGE = 64 * 1024  # bytes of JSON, or a few thousand numbers: worth a thread
_MANY_VALUES = 10_000


def describe_status(repository: ModelRepository, *which) -> dict:
    """Return the versions of a model as TensorFlow Serving lists them."""
    return {
        "model_version_status": [
            {
                "version": str(version.number),
                "state": version.state,
                "status": {
                    "error_code": "UNKNOWN"
                    if version.state == END and version.error
                    else "OK",
                    "error_message": version.error,
                },
            }
            for version in repository.status(*which)
        ]
    }


def describe_signatures(repository: ModelRepository, *which) -> dict:
    """Return the signatures of a model as TensorFlow Serving writes them."""
    from google.protobuf.json_format import MessageToDict

    with repository.use(*which) as version:
        definitions = {
            name: MessageToDict(
                definition,
                preserving_proto_field_name=True,
                always_print_fields_with_no_presence=True,
            )
            for name, definition in version.servable.signature_defs.items()
        }
        spec = {
            "name": version.name,
            "signature_name": "",
            "version": str(version.number),
        }
    inner = {"signature_def": definitions}
    return {"model_spec": spec, "metadata": {"signature_def": inner}}


async def predict(
    version, body: bytes, limits: ServerSettings, mailbox: Mailbox
) -> bytes:
    """Return the answer to the body of a `:predict`, as JSON."""

    def decode():
        said = decode_json(body, limits.max_values)
        asked = decode_request(said, version.servable.signatures)
        check_images(asked.inputs, limits.max_image_pixels)
        return asked

    large = len(body) > _LARGE
    asked = await asyncio.to_thread(decode) if large else decode()
    future = version.batcher.submit(
        asked.signature, asked.inputs, limits.request_seconds
    )
    outputs = await mailbox.wait_for(future, limits.request_seconds)

    def encode():
        return encode_json(encode_answer(outputs, asked))

    large = sum(array.size for array in outputs.values()) > _MANY_VALUES
    return await asyncio.to_thread(encode) if large else encode()


def refuse_examples(version, body: bytes, method: str, max_values: int):
    """Answer `:classify` and `:regress` as they are for such a signature.

    Raises:
        ServingError: Always.
    """
    said = decode_json(body, max_values)
    name = said.get("signature_name", "") if isinstance(said, dict) else ""
    check_method(version.servable, name, method)
