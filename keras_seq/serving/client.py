"""Ask a server over REST: ours, or TensorFlow Serving itself."""

import base64
import json
import urllib.error
import urllib.request


class ClientError(Exception):
    """The server refused; `status` is the HTTP status."""

    def __init__(self, status: int, message: str):
        super().__init__(f"{status}: {message}")
        self.status = status


class Client:
    """A model behind an address.

    Args:
        address: Such as `"http://127.0.0.1:8501"`.
        model: Name of the model.
        version: The version; default: the newest.
        api_key: The key, if the server wants one.
        timeout: Seconds to wait for an answer.
    """

    def __init__(
        self,
        address: str,
        model: str,
        version: int | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
    ):
        if not address.startswith(("http://", "https://")):
            raise ValueError(
                "`address` must begin with http:// or https://. "
                f"Received: {address!r}"
            )
        which = "" if version is None else f"/versions/{version}"
        self._url = f"{address.rstrip('/')}/v1/models/{model}{which}"
        self._headers = {"Content-Type": "application/json"}
        if api_key is not None:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._timeout = timeout

    def predict(self, instances: list, signature: str | None = None) -> list:
        """Ask in rows; return one answer per row. Bytes may be sent."""
        body = {"instances": instances}
        return self._predict(body, signature)["predictions"]

    def predict_columns(self, inputs, signature: str | None = None):
        """Ask with whole tensors, by name if there are several."""
        return self._predict({"inputs": inputs}, signature)["outputs"]

    def status(self) -> list[dict]:
        """Return the versions and their states."""
        return self._ask("")["model_version_status"]

    def metadata(self) -> dict:
        """Return the signatures, as TensorFlow Serving describes them."""
        return self._ask("/metadata")["metadata"]["signature_def"][
            "signature_def"
        ]

    def _predict(self, body, signature):
        if signature is not None:
            body["signature_name"] = signature
        return self._ask(":predict", json.dumps(body, default=_b64).encode())

    def _ask(self, path, body=None):
        request = urllib.request.Request(self._url + path, body, self._headers)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as got:
                return json.load(got)
        except urllib.error.HTTPError as error:
            text = error.read()
            try:
                message = json.loads(text)["error"]
            except (ValueError, KeyError, TypeError):
                message = text[:200].decode("utf-8", "replace")
            raise ClientError(error.code, message) from error


def _b64(value):
    if isinstance(value, bytes):
        return {"b64": base64.b64encode(value).decode("ascii")}
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"JSON cannot hold a {type(value).__name__}")
