"""TensorFlow Serving's gRPC services, over the same models and queues.

The messages and stubs are those of `tensorflow-serving-api`, so a client
written for TensorFlow Serving works unmodified.
"""

import concurrent.futures
import logging
import time

import grpc
from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
)

from keras_seq.serving.api_key import check_key
from keras_seq.serving.input_limits import check_images
from keras_seq.serving.metrics import Metrics
from keras_seq.serving.predict_codec import DEFAULT_SIGNATURE, check_method
from keras_seq.serving.repository import END, ModelRepository
from keras_seq.serving.serving_error import ServingError, bad_request
from keras_seq.serving.settings import ServerSettings
from keras_seq.serving.tensor_proto import decode_proto

# A thread waits for each answer: as many as may share a call, and some.
_THREADS = 128
_CODES = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    404: grpc.StatusCode.NOT_FOUND,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    501: grpc.StatusCode.UNIMPLEMENTED,
    503: grpc.StatusCode.UNAVAILABLE,
    504: grpc.StatusCode.DEADLINE_EXCEEDED,
}
_SIGNATURE_DEF = "signature_def"
_UNKNOWN = 2  # of TensorFlow's error codes


def start_grpc(
    repository: ModelRepository,
    address: str,
    settings: ServerSettings,
    metrics: Metrics,
):
    """Start to answer; return the server and its port.

    Raises:
        OSError: The address is not free.
    """
    server = grpc.server(
        concurrent.futures.ThreadPoolExecutor(_THREADS, "keras-seq-grpc"),
        options=[
            ("grpc.max_receive_message_length", settings.max_body_bytes),
            ("grpc.max_send_message_length", -1),
            ("grpc.so_reuseport", 0),  # a port in use is an error
        ],
    )
    service = _Service(repository, settings, metrics)
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(
        service, server
    )
    model_service_pb2_grpc.add_ModelServiceServicer_to_server(service, server)
    try:
        port = server.add_insecure_port(address)
    except RuntimeError as error:
        raise OSError(str(error)) from error
    if port == 0:
        raise OSError(f"cannot listen on {address}")
    server.start()
    return server, port


class _Service:
    """The methods, by the names that the stubs look for."""

    def __init__(self, repository, settings, metrics):
        self._repository = repository
        self._settings = settings
        self._metrics = metrics

    def Predict(self, request, context):
        return self._answer(self._predict, request, context)

    def GetModelMetadata(self, request, context):
        return self._answer(self._metadata, request, context)

    def GetModelStatus(self, request, context):
        return self._answer(self._status, request, context)

    def Classify(self, request, context):
        return self._answer(self._classify, request, context)

    def Regress(self, request, context):
        return self._answer(self._regress, request, context)

    def MultiInference(self, request, context):
        self._not_here(context, "MultiInference")

    def HandleReloadConfigRequest(self, request, context):
        self._not_here(context, "HandleReloadConfigRequest")

    def _answer(self, method, request, context):
        start = time.perf_counter()
        status, refusal = 200, None
        try:
            self._check_key(context)
            return method(request, context)
        except ServingError as error:
            status, refusal = error.status, error.message
        except Exception:  # ours, not the client's: it goes to the log
            logging.getLogger("keras_seq.serving").exception("a request failed")
            status, refusal = 500, "Internal error"
        finally:
            name = request.model_spec.name
            known = name if name in self._repository.names else "none"
            seconds = time.perf_counter() - start
            self._metrics.answered(known, "grpc", status, seconds)
        # `abort` raises, so it stands outside of what catches exceptions.
        context.abort(_CODES.get(status, grpc.StatusCode.INTERNAL), refusal)

    def _predict(self, request, context):
        limits = self._settings
        left = context.time_remaining()
        seconds = min(limits.request_seconds, left or limits.request_seconds)
        with self._repository.use(*_which(request.model_spec)) as version:
            name = request.model_spec.signature_name or DEFAULT_SIGNATURE
            signatures = version.servable.signatures
            if name not in signatures:
                raise bad_request(
                    f"Serving signature name: {name[:100]!r} not found in "
                    f"signature def; there are {sorted(signatures)}"
                )
            inputs = self._inputs(request, signatures[name])
            wanted = set(request.output_filter) or set(signatures[name].outputs)
            if not wanted <= set(signatures[name].outputs):
                raise bad_request(
                    "output_filter must name outputs of the signature: "
                    f"{sorted(signatures[name].outputs)}"
                )
            future = version.batcher.submit(name, inputs, seconds)
            try:
                outputs = future.result(seconds)
            except TimeoutError as error:
                future.cancel()
                raise ServingError(
                    504, f"No answer within {seconds:g} seconds"
                ) from error
            return _prediction(outputs, wanted, version, name)

    def _inputs(self, request, signature):
        found, specs = set(request.inputs), set(signature.inputs)
        if found != specs:
            raise bad_request(
                f"The inputs must be {sorted(specs)}. Received: "
                f"{[name[:100] for name in sorted(found)[:5]]}"
            )
        limits = self._settings
        inputs = {
            key: decode_proto(
                key, request.inputs[key], spec, limits.max_body_bytes
            )
            for key, spec in signature.inputs.items()
        }
        check_images(inputs, limits.max_image_pixels)
        return inputs

    def _classify(self, request, context):
        self._refuse_examples(request.model_spec, ":classify")

    def _regress(self, request, context):
        self._refuse_examples(request.model_spec, ":regress")

    def _refuse_examples(self, spec, method):
        with self._repository.use(*_which(spec)) as version:
            check_method(version.servable, spec.signature_name, method)

    def _metadata(self, request, context):
        if list(request.metadata_field) != [_SIGNATURE_DEF]:
            raise bad_request(f"metadata_field must be [{_SIGNATURE_DEF!r}]")
        answer = get_model_metadata_pb2.GetModelMetadataResponse()
        signatures = get_model_metadata_pb2.SignatureDefMap()
        with self._repository.use(*_which(request.model_spec)) as version:
            for name, definition in version.servable.signature_defs.items():
                signatures.signature_def[name].CopyFrom(definition)
            answer.model_spec.name = version.name
            answer.model_spec.version.value = version.number
        answer.metadata[_SIGNATURE_DEF].Pack(signatures)
        return answer

    def _status(self, request, context):
        answer = get_model_status_pb2.GetModelStatusResponse()
        state_of = get_model_status_pb2.ModelVersionStatus.State.Value
        for version in self._repository.status(*_which(request.model_spec)):
            status = answer.model_version_status.add(
                version=version.number, state=state_of(version.state)
            )
            if version.state == END and version.error:
                status.status.error_code = _UNKNOWN
            status.status.error_message = version.error
        return answer

    def _check_key(self, context):
        key = self._settings.api_key
        if key is None:
            return
        said = dict(context.invocation_metadata()).get("authorization", "")
        check_key(said, key)

    def _not_here(self, context, method):
        context.abort(
            grpc.StatusCode.UNIMPLEMENTED, f"{method} is not offered here"
        )


def _which(spec):
    return (
        spec.name,
        spec.version.value if spec.HasField("version") else None,
        spec.version_label or None,
    )


def _prediction(outputs, wanted, version, signature):
    import tensorflow as tf

    answer = predict_pb2.PredictResponse()
    answer.model_spec.name = version.name
    answer.model_spec.version.value = version.number
    answer.model_spec.signature_name = signature
    for key in wanted:
        answer.outputs[key].CopyFrom(tf.make_tensor_proto(outputs[key]))
    return answer
