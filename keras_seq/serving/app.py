"""The HTTP server's application: TensorFlow Serving's REST contract.

Nothing here runs a model: a request is decoded, put into the queue of its
model, and answered when the model's thread has done so.
"""

import asyncio
import logging
import time

from keras_seq.serving import model_api
from keras_seq.serving.access_log import AccessLog
from keras_seq.serving.api_key import check_key
from keras_seq.serving.json_body import encode_json
from keras_seq.serving.mailbox import Mailbox
from keras_seq.serving.metrics import Metrics
from keras_seq.serving.model_list import list_models
from keras_seq.serving.model_path import parse_model_path
from keras_seq.serving.page_files import is_page, read_page
from keras_seq.serving.pending_bytes import PendingBytes
from keras_seq.serving.reply import Reply
from keras_seq.serving.repository import ModelRepository
from keras_seq.serving.request_body import read_body
from keras_seq.serving.serving_error import (
    ServingError,
    bad_request,
    not_found,
)
from keras_seq.serving.settings import ServerSettings

_MODELS = "/v1/models"


def create_app(
    repository: ModelRepository,
    settings: ServerSettings | None = None,
    metrics: Metrics | None = None,
    access_log: AccessLog | None = None,
):
    """Return the ASGI application that serves a repository.

    Args:
        repository: The models, started by the caller.
        settings: Limits and key.
        metrics: What it counts into; give the repository
            `observe=metrics.batch` to count batches too.
        access_log: Where each request is noted; None for nowhere.
    """
    from fastapi import FastAPI

    app = FastAPI(
        title="keras_seq", docs_url=None, redoc_url=None, openapi_url=None
    )
    # There are no routes: every path and every method comes here, so that
    # whatever is wrong with them is answered in the contract's format.
    app.router.default = _Handler(repository, settings, metrics, access_log)
    return app


class _Handler:
    def __init__(self, repository, settings, metrics, access_log):
        self._repository = repository
        self._settings = settings or ServerSettings()
        self._metrics = metrics or Metrics()
        self._access_log = access_log
        self._pending = PendingBytes(self._settings.max_pending_bytes)
        self._mailbox = None

    async def __call__(self, scope, receive, send):
        """Answer any request; what goes wrong is `{"error": ...}`."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1000})
            return
        start = time.perf_counter()
        try:
            reply = await self._route(scope, receive)
        except ServingError as error:
            reply = _refusal(error)
        except Exception:  # ours, not the client's: it goes to the log
            logging.getLogger("keras_seq.serving").exception("a request failed")
            reply = Reply(encode_json({"error": "Internal error"}), status=500)
        seconds = time.perf_counter() - start
        self._note(scope, reply.status, seconds)
        await reply.send(send, with_body=scope["method"] != "HEAD")

    async def _route(self, scope, receive):
        path, method = scope["path"], scope["method"]
        if path.startswith(_MODELS + "/"):
            headers = dict(scope["headers"])
            self._check_key(headers)
            wanted = parse_model_path(method, path)
            which = wanted.name, wanted.version, wanted.label
            if wanted.method == "":
                read = model_api.describe_status
            elif wanted.method == "/metadata":
                read = model_api.describe_signatures
            else:
                return await self._ask(headers, receive, wanted, which)
            return Reply(encode_json(read(self._repository, *which)))
        if method not in ("GET", "HEAD"):
            raise _malformed(method, path)
        if path == "/healthz":
            return Reply(b'{"status":"ok"}')
        if path == "/readyz":
            if self._repository.is_ready:
                return Reply(b'{"ready":true}')
            return Reply(b'{"ready":false}', status=503)
        if is_page(path):
            return read_page(path)
        self._check_key(dict(scope["headers"]))
        if path == "/metrics":
            names = self._repository.names
            waiting = {name: self._repository.waiting(name) for name in names}
            kind = Metrics.content_type.encode("ascii")
            return Reply(self._metrics.text(waiting), kind)
        if path == _MODELS:
            return Reply(encode_json({"models": self._repository.names}))
        if path == "/api/models":
            models = {"models": list_models(self._repository)}
            return Reply(encode_json(models))
        raise not_found(f"Malformed request: {method} {path[:200]}")

    async def _ask(self, headers, receive, wanted, which):
        limits = self._settings
        announced = headers.get(b"content-length")
        known = announced is not None and announced.isdigit()
        size = int(announced) if known else limits.max_body_bytes
        with self._pending.hold(min(size, limits.max_body_bytes)):
            body = await read_body(
                receive, announced, limits.max_body_bytes, limits.body_seconds
            )
            with self._repository.use(*which) as version:
                if wanted.method != ":predict":
                    model_api.refuse_examples(
                        version, body, wanted.method, limits.max_values
                    )
                return Reply(
                    await model_api.predict(
                        version, body, limits, self._mailbox_of_loop()
                    )
                )

    def _mailbox_of_loop(self):
        loop = asyncio.get_running_loop()
        if self._mailbox is None or self._mailbox.loop is not loop:
            self._mailbox = Mailbox(loop)
        return self._mailbox

    def _check_key(self, headers):
        if self._settings.api_key is not None:
            said = headers.get(b"authorization", b"").decode("latin-1")
            check_key(said, self._settings.api_key)

    def _note(self, scope, status, seconds):
        path = scope["path"]
        name = "none"  # strangers cannot make up labels
        if path.startswith(_MODELS + "/"):
            said = path[len(_MODELS) + 1 :].split("/", 1)[0].split(":", 1)[0]
            name = said if self._repository.has(said) else name
        method = "predict" if path.endswith(":predict") else "other"
        self._metrics.answered(name, method, status, seconds)
        if self._access_log is not None:
            self._access_log.note(scope["method"], path, status, seconds)


def _refusal(error):
    headers = []
    if error.retry_after is not None:
        headers.append((b"retry-after", b"%d" % error.retry_after))
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    body = encode_json({"error": error.message})
    return Reply(body, status=error.status, headers=tuple(headers))


def _malformed(method, path):
    return bad_request(f"Malformed request: {method} {path[:200]}")
