"""A server process: models, HTTP, and a stop that leaves nobody waiting."""

import logging
import socket
import sys

from keras_seq.serving.app import create_app
from keras_seq.serving.batcher import BatchingOptions
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
        **repository_options: Passed to `ModelRepository`.
    """
    import uvicorn

    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(message)s"
    )
    metrics = Metrics()
    repository = ModelRepository(
        folders, batching, observe=metrics.batch, **repository_options
    )
    listener = _listen(host, port)
    config = uvicorn.Config(
        create_app(repository, settings, metrics),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    repository.start()
    shown = f"[{host}]" if ":" in host else host
    print(f"Serving on http://{shown}:{listener.getsockname()[1]}", flush=True)
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        repository.stop()
        listener.close()


def _listen(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(1024)
    return listener
