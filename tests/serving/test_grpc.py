"""TensorFlow Serving's own stubs against our server."""

import pytest
import tensorflow as tf

pytestmark = pytest.mark.tensorflow
grpc = pytest.importorskip("grpc", reason="needs keras_seq[grpc]")
pytest.importorskip("tensorflow_serving", reason="needs keras_seq[grpc]")

from tensorflow_serving.apis import (  # noqa: E402
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

from keras_seq.serving.grpc_server import start_grpc  # noqa: E402
from keras_seq.serving.metrics import Metrics  # noqa: E402
from keras_seq.serving.settings import ServerSettings  # noqa: E402

ROW = [1.0, 2.0, 3.5]
CODE = grpc.StatusCode


def serving(repository, **limits):
    return start_grpc(
        repository, "127.0.0.1:0", ServerSettings(**limits), Metrics()
    )


@pytest.fixture(scope="module")
def channel(repository):
    server, port = serving(repository, max_body_bytes=100_000)
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel
    server.stop(0).wait()


@pytest.fixture(scope="module")
def stub(channel):
    return prediction_service_pb2_grpc.PredictionServiceStub(channel)


def question(value=(ROW,), model="tiny", dtype=tf.float32, key="x", **spec):
    request = predict_pb2.PredictRequest()
    request.model_spec.name = model
    for name, setting in spec.items():
        setattr(request.model_spec, name, setting)
    proto = tf.make_tensor_proto(value, dtype)
    request.inputs[key].CopyFrom(proto)
    return request


def code_of(call):
    with pytest.raises(grpc.RpcError) as refusal:
        call()
    return refusal.value.code()


def test_predict_numbers_and_strings(stub):
    answer = stub.Predict(question([ROW, ROW]), timeout=10)
    assert tf.make_ndarray(answer.outputs["y"]).tolist() == [[2, 4, 7]] * 2
    assert tf.make_ndarray(answer.outputs["total"]).tolist() == [6.5, 6.5]
    assert answer.model_spec.version.value == 1
    assert answer.model_spec.signature_name == "serving_default"
    texts = question(
        ["ab"], dtype=tf.string, key="text", signature_name="letters"
    )
    answer = stub.Predict(texts, timeout=10)
    letters = tf.make_ndarray(answer.outputs["letters"])
    assert letters.tolist() == [[b"a", b"b"]]


def test_outputs_can_be_chosen_and_versions_named(stub):
    request = question(version_label="stable")
    request.output_filter.append("total")
    assert list(stub.Predict(request, timeout=10).outputs) == ["total"]
    request = question()
    request.model_spec.version.value = 7
    assert code_of(lambda: stub.Predict(request, timeout=10)) == CODE.NOT_FOUND


def test_metadata_and_status(channel, stub):
    request = get_model_metadata_pb2.GetModelMetadataRequest()
    request.model_spec.name = "tiny"
    bad = code_of(lambda: stub.GetModelMetadata(request, timeout=10))
    assert bad == CODE.INVALID_ARGUMENT
    request.metadata_field.append("signature_def")
    packed = stub.GetModelMetadata(request, timeout=10).metadata
    signatures = get_model_metadata_pb2.SignatureDefMap()
    assert packed["signature_def"].Unpack(signatures)
    assert set(signatures.signature_def) >= {"serving_default", "letters"}
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "tiny"
    models = model_service_pb2_grpc.ModelServiceStub(channel)
    (status,) = models.GetModelStatus(request, timeout=10).model_version_status
    assert (status.version, status.state) == (1, status.AVAILABLE)


def test_classify_and_regress_are_refused_as_for_such_a_signature(stub):
    for request, ask in (
        (classification_pb2.ClassificationRequest(), stub.Classify),
        (regression_pb2.RegressionRequest(), stub.Regress),
    ):
        request.model_spec.name = "tiny"
        with pytest.raises(grpc.RpcError) as refusal:
            ask(request, timeout=10)
        assert refusal.value.code() == CODE.INVALID_ARGUMENT
        assert "signature method_name to be" in refusal.value.details()
        request.model_spec.name = "nope"
        assert code_of(lambda: ask(request, timeout=10)) == CODE.NOT_FOUND  # noqa: B023


def test_refusals_are_worded_as_over_rest(stub, channel):
    models = model_service_pb2_grpc.ModelServiceStub(channel)
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "nope"
    with pytest.raises(grpc.RpcError) as refusal:
        models.GetModelStatus(request, timeout=10)
    assert refusal.value.code() == CODE.NOT_FOUND
    said = "Could not find any versions of model nope"
    assert refusal.value.details() == said
    unknown = question(version_label="nope")
    with pytest.raises(grpc.RpcError) as refusal:
        stub.Predict(unknown, timeout=10)
    assert refusal.value.code() == CODE.INVALID_ARGUMENT
    said = "Unrecognized servable version label: nope"
    assert refusal.value.details() == said
    image = b"\x89PNG\r\n\x1a\n" + bytes(8) + b"\0\1\0\0" * 2 + bytes(9)
    huge = question(
        [image], dtype=tf.string, key="text", signature_name="letters"
    )
    with pytest.raises(grpc.RpcError) as refusal:
        stub.Predict(huge, timeout=10)
    assert "pixels" in refusal.value.details()


def bomb():
    """One value that claims to stand a thousand million times."""
    request = question()
    proto = request.inputs["x"]
    proto.Clear()
    proto.dtype = tf.float32.as_datatype_enum
    proto.tensor_shape.dim.add(size=10**9)
    proto.tensor_shape.dim.add(size=3)
    proto.float_val.append(1.0)
    return request


def garbled():
    request = question()
    request.inputs["x"].tensor_content = b"12345"
    return request


@pytest.mark.parametrize(
    "request_of",
    [
        bomb,
        garbled,
        lambda: question([[13.0, 1, 2]]),
        lambda: question([[1.0, 2]]),
        lambda: question([[1, 2, 3]], dtype=tf.int32),
        lambda: question(key="z"),
        lambda: question(signature_name="nope"),
    ],
)
def test_bad_input_is_the_clients_fault(stub, request_of):
    request = request_of()
    code = code_of(lambda: stub.Predict(request, timeout=10))
    assert code == CODE.INVALID_ARGUMENT
    assert stub.Predict(question(), timeout=10).outputs  # and it lives


def test_unknown_models_and_large_messages(stub):
    request = question(model="nope")
    assert code_of(lambda: stub.Predict(request, timeout=10)) == CODE.NOT_FOUND
    large = question([[1.0, i, 2.0] for i in range(20_000)])
    code = code_of(lambda: stub.Predict(large, timeout=10))
    assert code == CODE.RESOURCE_EXHAUSTED


def test_the_key_is_asked_for(repository):
    server, port = serving(repository, api_key="secret")
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
        code = code_of(lambda: stub.Predict(question(), timeout=10))
        assert code == CODE.UNAUTHENTICATED
        key = [("authorization", "Bearer secret")]
        assert stub.Predict(question(), timeout=10, metadata=key).outputs
    server.stop(0).wait()
