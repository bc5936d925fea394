"""A server process: models, HTTP, and a stop that leaves nobody waiting."""

import socket

from keras_seq.serving.access_log import AccessLog
from keras_seq.serving.app import create_app
from keras_seq.serving.batching_options import BatchingOptions
from keras_seq.serving.json_log import log_as_json
from keras_seq.serving.memory import use_few_arenas
from keras_seq.serving.metrics import Metrics
from keras_seq.serving.repository import ModelRepository
from keras_seq.serving.settings import ServerSettings

_STOP_SECONDS = 30


def serve(
    folders,
    host: str = "127.0.0.1",
    port: int = 8501,
    settings: ServerSettings | None = None,
    batching: BatchingOptions | None = None,
    grpc_port: int | None = None,
    **repository_options,
) -> None:
    """Serve models until the process is told to stop.

    The address is printed once it can be connected to; `/readyz` says when
    the models can answer.

    Args:
        folders: Folders of models, or of versions.
        host: Where to listen; the default can be reached from here only.
        port: The port; 0 for any that is free.
        settings: Limits and key.
        batching: How requests are put together.
        grpc_port: Where to speak gRPC as well; 0 for any port, None for none.
        **repository_options: Passed to `ModelRepository`.
    """
    # TensorFlow's notes on this machine, here and not in the loading thread,
    # where holding them back would hold back the log.
    from keras_seq import _startup  # noqa: F401

    use_few_arenas()
    log_as_json()
    settings = settings or ServerSettings()
    metrics = Metrics()
    repository = ModelRepository(
        folders,
        batching,
        observe=metrics.batch,
        owns_process=True,
        **repository_options,
    )
    listener = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    grpc_server = None
    if grpc_port is not None:
        from keras_seq.serving.grpc_server import start_grpc

        grpc_server, grpc_port = start_grpc(
            repository, f"{shown}:{grpc_port}", settings, metrics
        )
    repository.start()
    print(f"Serving on http://{shown}:{listener.getsockname()[1]}", flush=True)
    if grpc_server is not None:
        print(f"Serving gRPC on {shown}:{grpc_port}", flush=True)
    access_log = AccessLog()
    app = create_app(repository, settings, metrics, access_log)
    try:
        http_server(app, settings).run(sockets=[listener])
    finally:
        if grpc_server is not None:
            grpc_server.stop(_STOP_SECONDS).wait()
        repository.stop()
        listener.close()
        access_log.flush()


def http_server(app, settings: ServerSettings):
    """Return the uvicorn server of an application, not yet running."""
    import uvicorn

    from keras_seq.serving.http_protocol import protocol_class

    config = uvicorn.Config(
        app,
        http=protocol_class(settings.header_seconds),
        ws="none",
        proxy_headers=False,  # nobody here asks where a client is
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    return uvicorn.Server(config)


def _listen(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(1024)
    return listener
