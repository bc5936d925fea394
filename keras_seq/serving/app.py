"""The HTTP server's application: TensorFlow Serving's REST contract.

Nothing here runs a model: a request is decoded, put into the queue of its
model, and answered when the model's thread has done so.
"""

import asyncio
import hmac
import json
import logging
import pathlib
import time

from keras_seq.serving.json_body import decode_json, encode_json
from keras_seq.serving.metrics import Metrics
from keras_seq.serving.model_list import list_models
from keras_seq.serving.model_path import parse_model_path
from keras_seq.serving.predict_codec import decode_request, encode_answer
from keras_seq.serving.repository import END, ModelRepository
from keras_seq.serving.request_body import read_body
from keras_seq.serving.serving_error import ServingError, not_found
from keras_seq.serving.settings import ServerSettings

PAGE = pathlib.Path(__file__).parent / "page"
_PAGE_TYPES = {
    "index.html": "text/html; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
}
# The page loads its own files and asks its own server, and nothing else.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
# The others are answered too, by a 405 in the contract's format.
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_LARGE = 64 * 1024  # bytes of JSON that are worth a thread
_log = logging.getLogger("keras_seq.serving.access")


def create_app(
    repository: ModelRepository,
    settings: ServerSettings | None = None,
    metrics: Metrics | None = None,
):
    """Return the ASGI application that serves a repository.

    Args:
        repository: The models, started by the caller.
        settings: Limits and key.
        metrics: What it counts into; give the repository
            `observe=metrics.batch` to count batches too.
    """
    from fastapi import FastAPI, Request

    handler = _Handler(repository, settings or ServerSettings(), metrics)
    app = FastAPI(
        title="keras_seq", docs_url=None, redoc_url=None, openapi_url=None
    )

    async def answer(request: Request):
        return await handler.answer(request)

    app.add_route("/{path:path}", answer, methods=_METHODS)
    return app


class _Handler:
    def __init__(self, repository, settings, metrics):
        self.repository = repository
        self.settings = settings
        self.metrics = metrics or Metrics()

    async def answer(self, request):
        """Answer any request; what goes wrong is `{"error": ...}`."""
        start = time.perf_counter()
        headers = dict(_HEADERS)
        try:
            body, kind, status = await self._route(request)
        except ServingError as error:
            status, kind = error.status, "application/json"
            body = encode_json({"error": error.message})
            if error.retry_after is not None:
                headers["Retry-After"] = str(error.retry_after)
            if status == 401:
                headers["WWW-Authenticate"] = "Bearer"
        except Exception:  # ours, not the client's: it goes to the log
            logging.getLogger("keras_seq.serving").exception("a request failed")
            status, kind = 500, "application/json"
            body = encode_json({"error": "Internal error"})
        self._count(request, status, time.perf_counter() - start)
        from starlette.responses import Response

        return Response(body, status, headers, media_type=kind)

    async def _route(self, request):
        path = request.scope["path"]
        if request.method not in ("GET", "HEAD", "POST"):
            raise ServingError(405, "The methods are GET, HEAD and POST")
        if path == "/healthz":
            return b'{"status":"ok"}', "application/json", 200
        if path == "/readyz":
            ready = self.repository.is_ready
            text = b'{"ready":true}' if ready else b'{"ready":false}'
            return text, "application/json", 200 if ready else 503
        if path[1:] in ("", *_PAGE_TYPES) or path.startswith("/static/"):
            return _page(path)
        self._check_key(request)
        if path == "/metrics":
            names = self.repository.names
            waiting = {name: self.repository.waiting(name) for name in names}
            return self.metrics.text(waiting), Metrics.content_type, 200
        if path == "/v1/models":
            names = {"models": self.repository.names}
            return encode_json(names), "application/json", 200
        if path == "/api/models":
            models = {"models": list_models(self.repository)}
            return encode_json(models), "application/json", 200
        if path.startswith("/v1/models/"):
            wanted = parse_model_path(path.removeprefix("/v1/models/"))
            value = await self._model(request, wanted)
            return value, "application/json", 200
        raise not_found("Malformed request: no such path")

    async def _model(self, request, wanted):
        which = wanted.name, wanted.version, wanted.label
        reads = {"": self._status, "/metadata": self._metadata}
        if wanted.method in reads:
            if request.method == "POST":
                raise ServingError(405, "This path is read with GET")
            return encode_json(reads[wanted.method](*which))
        if wanted.method != ":predict":
            raise not_found(f"Malformed request: no method {wanted.method}")
        if request.method != "POST":
            raise ServingError(405, "This path is asked with POST")
        return await self._predict(request, which)

    def _status(self, *which):
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
                for version in self.repository.status(*which)
            ]
        }

    def _metadata(self, *which):
        from google.protobuf.json_format import MessageToDict

        with self.repository.use(*which) as version:
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

    async def _predict(self, request, which):
        limits = self.settings
        body = await read_body(
            request, limits.max_body_bytes, limits.body_seconds
        )
        with self.repository.use(*which) as version:
            signatures = version.servable.signatures

            def decode():
                return decode_request(decode_json(body), signatures)

            large = len(body) > _LARGE
            asked = await asyncio.to_thread(decode) if large else decode()
            future = version.batcher.submit(
                asked.signature, asked.inputs, limits.request_seconds
            )
            try:
                outputs = await asyncio.wait_for(
                    asyncio.wrap_future(future), limits.request_seconds
                )
            except TimeoutError as error:
                raise ServingError(
                    504, f"No answer within {limits.request_seconds:g} seconds"
                ) from error
        return encode_json(encode_answer(outputs, asked))

    def _check_key(self, request):
        key = self.settings.api_key
        if key is None:
            return
        said = request.headers.get("authorization", "")
        said = said.removeprefix("Bearer ").encode("utf-8", "replace")
        if not hmac.compare_digest(said, key.encode()):
            raise ServingError(401, "The API key is missing or wrong")

    def _count(self, request, status, seconds):
        path = request.scope["path"]
        rest = path.removeprefix("/v1/models/")
        name = rest.partition("/")[0].partition(":")[0]
        if rest == path or name not in self.repository.names:
            name = "none"  # strangers cannot make up labels
        method = "predict" if path.endswith(":predict") else "other"
        self.metrics.answered(name, method, status, seconds)
        _log.info(
            json.dumps(
                {
                    "method": request.method,
                    "path": path[:200],
                    "status": status,
                    "milliseconds": round(1e3 * seconds, 2),
                }
            )
        )


def _page(path):
    name = path[1:].removeprefix("static/") or "index.html"
    file = PAGE / name
    if name not in _PAGE_TYPES or not file.is_file():
        raise not_found("Malformed request: no such file")
    return file.read_bytes(), _PAGE_TYPES[name], 200
