"""deploy/: the files parse, and agree with each other and with the project."""

import argparse
import configparser
import json
import pathlib
import re

import pytest

from keras_seq.commands import serve

yaml = pytest.importorskip("yaml")
PROJECT = pathlib.Path(__file__).parents[2]
DEPLOY = PROJECT / "deploy"
MODELS = {"sentiment", "translation", "captioning"}
REST, GRPC = 8501, 8500


def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]


def manifests(kind):
    found = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    return {m["metadata"]["name"]: m for m in found if m["kind"] == kind}


def check_serve_arguments(words):
    """Let the command itself read them."""
    parser = argparse.ArgumentParser()
    serve.add_parser(parser.add_subparsers())
    said = parser.parse_args(["serve", *words])
    assert said.folders == ["/models"]
    assert (said.host, said.port, said.grpc_port) == ("0.0.0.0", REST, GRPC)


def dockerfile(word):
    text = (DEPLOY / "Dockerfile").read_text()
    return re.findall(rf"^{word} (.*)$", text, re.MULTILINE)


def test_tensorflow_serving_reads_the_models():
    config = pytest.importorskip(
        "tensorflow_serving.config.model_server_config_pb2"
    )
    from google.protobuf import text_format

    text = (DEPLOY / "models.config").read_text()
    parsed = text_format.Parse(text, config.ModelServerConfig())
    found = {c.name: c for c in parsed.model_config_list.config}
    assert set(found) == MODELS
    for name, model in found.items():
        assert model.base_path == f"/models/{name}"
        assert model.model_platform == "tensorflow"
    shipped = {p.name for p in (PROJECT / "saved_models").iterdir()}
    assert shipped - {"README.md"} <= MODELS


def test_batching_is_that_of_our_server():
    parser = argparse.ArgumentParser()
    serve.add_parser(parser.add_subparsers())
    ours = parser.parse_args(["serve", "DIR"])
    text = (DEPLOY / "batching.config").read_text()
    values = dict(re.findall(r"^(\w+) \{ value: (\d+) \}$", text, re.M))
    assert int(values["max_batch_size"]) == ours.max_batch_size
    wait = ours.batch_milliseconds * 1000
    assert int(values["batch_timeout_micros"]) == wait
    assert {"max_enqueued_batches", "num_batch_threads"} <= set(values)
    assert "\npad_variable_length_inputs: true\n" in text


def test_the_image_has_what_the_server_needs():
    words = [json.loads(line) for line in dockerfile("(?:ENTRYPOINT|CMD)")]
    assert words[0] == ["keras-seq", "serve"]
    check_serve_arguments(words[1])
    assert dockerfile("EXPOSE") == [f"{REST} {GRPC}"]
    assert any("/healthz" in line for line in dockerfile("HEALTHCHECK"))
    setup = configparser.ConfigParser()
    setup.read(PROJECT / "setup.cfg")
    (extras,) = re.findall(r"\[([\w,]+)\]", " ".join(dockerfile("RUN")))
    assert set(extras.split(",")) <= set(setup["options.extras_require"])
    allowed = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    for line in dockerfile("COPY"):
        for source in line.split()[:-1]:
            assert (PROJECT / source).exists(), source
            assert f"!{source}" in allowed


def test_compose_mounts_and_publishes_what_is_there():
    services = compose()
    assert set(services) == {"keras-seq", "tensorflow-serving"}
    for service in services.values():
        assert service["ports"] == [
            f"127.0.0.1:{port}:{port}" for port in (REST, GRPC)
        ]
        mounted = {}
        for volume in service["volumes"]:
            source, target, mode = volume.split(":")
            assert mode == "ro"
            assert (DEPLOY / source).exists(), source
            mounted[target] = source
        assert mounted["/models"] == "../saved_models"
        for flag in service.get("command", ()):
            name, value = flag.split("=")
            if name.endswith("_file"):
                assert value in mounted
    build = services["keras-seq"]["build"]
    dockerfile = DEPLOY / build["context"] / build["dockerfile"]
    assert dockerfile.resolve() == DEPLOY / "Dockerfile"


def test_kubernetes_repeats_the_files_to_the_letter():
    data = manifests("ConfigMap")["tensorflow-serving"]["data"]
    for name in ("models.config", "batching.config"):
        assert data[name] == (DEPLOY / name).read_text()


@pytest.mark.parametrize("name", ["keras-seq", "tensorflow-serving"])
def test_kubernetes_names_and_ports_agree(name):
    deployment = manifests("Deployment")[name]["spec"]
    service = manifests("Service")[name]["spec"]
    pod = deployment["template"]["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"] == labels
    assert service["selector"] == labels
    (container,) = pod["containers"]
    ports = {p["name"]: p["containerPort"] for p in container["ports"]}
    assert ports == {"rest": REST, "grpc": GRPC}
    for port in service["ports"]:
        assert ports[port["targetPort"]] == port["port"]
    image = compose()[name]["image"]
    assert container["image"] == image
    assert container["resources"]["requests"]["memory"]
    assert container["resources"]["limits"]["memory"]
    volumes = {v["name"]: v for v in pod["volumes"]}
    mounts = {m["mountPath"]: m for m in container["volumeMounts"]}
    assert {m["name"] for m in mounts.values()} == set(volumes)
    assert mounts["/models"]["readOnly"]
    claim = volumes["models"]["persistentVolumeClaim"]["claimName"]
    assert claim in manifests("PersistentVolumeClaim")
    probed = {
        probe: container[f"{probe}Probe"]
        for probe in ("startup", "readiness", "liveness")
    }
    for probe in probed.values():
        (how,) = (
            probe[key] for key in ("httpGet", "tcpSocket") if key in probe
        )
        assert how["port"] in ports
    if name == "keras-seq":
        check_serve_arguments(container["args"])
        assert probed["readiness"]["httpGet"]["path"] == "/readyz"
        assert probed["liveness"]["httpGet"]["path"] == "/healthz"
        user = pod["securityContext"]["runAsUser"]
        assert dockerfile("USER") == [str(user)]
    else:
        assert container["args"] == compose()[name]["command"]
        path = probed["readiness"]["httpGet"]["path"]
        assert path.removeprefix("/v1/models/") in MODELS


def test_images_have_plain_names():
    images = [s["image"] for s in compose().values()]
    images += dockerfile("FROM")
    for image in images:
        assert re.fullmatch(r"[a-z-]+(/[a-z-]+)?(:[\w.-]+)?", image), image
