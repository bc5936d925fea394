"""`keras-seq serve DIR...`: models behind HTTP, as TensorFlow Serving does."""

import argparse
import importlib.util
import os

from keras_seq.commands.usage_error import UsageError

_KEY = "KERAS_SEQ_API_KEY"
_EXAMPLES = f"""examples:
  keras-seq serve saved_models
  keras-seq serve outputs/exported/sentiment --port 0 --keep 2

A new version folder is picked up by itself. If the environment variable
{_KEY} is set, clients must send it as `Authorization: Bearer`."""


def add_parser(commands) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "serve",
        help="serve SavedModels over HTTP",
        description="Serve SavedModels over HTTP, with the REST contract of "
        "TensorFlow Serving and dynamic batching.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "folders",
        metavar="DIR",
        nargs="+",
        help="a folder of versions (1, 2, ...), or a folder of such folders",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="where to listen (default: 127.0.0.1, this machine only)",
    )
    parser.add_argument(
        "--port", type=int, default=8501, help="0 for any (default: 8501)"
    )
    parser.add_argument(
        "--grpc-port",
        type=int,
        metavar="PORT",
        help="speak TensorFlow Serving's gRPC here as well; 0 for any "
        "(default: no gRPC)",
    )
    parser.add_argument(
        "--keep",
        type=int,
        default=1,
        metavar="N",
        help="newest versions of a model to serve (default: 1)",
    )
    parser.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="MODEL:LABEL=VERSION",
        help="give a version a label; it is served too",
    )
    parser.add_argument(
        "--max-batch-size",
        type=int,
        default=64,
        metavar="ROWS",
        help="rows that share a call; 1 for no batching (default: 64)",
    )
    parser.add_argument(
        "--batch-milliseconds",
        type=float,
        default=5.0,
        metavar="MS",
        help="time a request may wait for company (default: 5)",
    )
    parser.add_argument(
        "--queue",
        type=int,
        default=512,
        metavar="N",
        help="requests that may wait; the next get a 503 (default: 512)",
    )
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Serve until stopped; return the exit code."""
    try:
        from keras_seq.serving.batching_options import BatchingOptions
        from keras_seq.serving.model_folders import find_models
        from keras_seq.serving.server import serve
        from keras_seq.serving.settings import ServerSettings
    except ImportError as error:
        raise UsageError(
            f"serving needs {error.name}: pip install 'keras_seq[serving]'"
        ) from error
    wants_grpc = arguments.grpc_port is not None
    if wants_grpc and not importlib.util.find_spec("tensorflow_serving"):
        raise UsageError(
            "--grpc-port needs tensorflow_serving: "
            "pip install 'keras_seq[grpc]'"
        )
    try:
        if not find_models(arguments.folders):
            raise UsageError(
                "DIR must hold versions (1, 2, ...) that are SavedModels, or "
                f"folders that do. Received: {' '.join(arguments.folders)}"
            )
        serve(
            arguments.folders,
            host=arguments.host,
            port=arguments.port,
            settings=ServerSettings(api_key=os.environ.get(_KEY)),
            batching=BatchingOptions(
                arguments.max_batch_size,
                arguments.batch_milliseconds / 1e3,
                arguments.queue,
            ),
            grpc_port=arguments.grpc_port,
            keep=arguments.keep,
            labels=_labels(arguments.label),
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    except (OSError, OverflowError) as error:
        raise UsageError(
            "--host, --port and --grpc-port must be free to listen on. "
            f"Received: {arguments.host}, {arguments.port}, "
            f"{arguments.grpc_port} ({error})"
        ) from error
    return 0


def _labels(texts):
    labels = {}
    for text in texts:
        name, _, rest = text.partition(":")
        label, _, version = rest.partition("=")
        if not (name and label and version.isascii() and version.isdigit()):
            raise UsageError(
                f"--label must be MODEL:LABEL=VERSION. Received: {text}"
            )
        labels.setdefault(name, {})[label] = int(version)
    return labels
