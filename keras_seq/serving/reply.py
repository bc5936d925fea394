"""What goes back to a client, as ASGI messages."""

import dataclasses

JSON = b"application/json"
# The page loads its own files and asks its own server, and nothing else.
_SAFETY = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; "
        b"img-src 'self' data: blob:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


@dataclasses.dataclass(frozen=True)
class Reply:
    """An answer.

    Attributes:
        body: Its bytes.
        kind: Their media type.
        status: The HTTP status.
        headers: More headers, as pairs of bytes.
    """

    body: bytes
    kind: bytes = JSON
    status: int = 200
    headers: tuple = ()

    async def send(self, send, with_body: bool = True) -> None:
        """Send it; a HEAD request gets no body."""
        headers = [
            (b"content-type", self.kind),
            (b"content-length", b"%d" % len(self.body)),
            *_SAFETY,
            *self.headers,
        ]
        start = {"status": self.status, "headers": headers}
        await send({"type": "http.response.start", **start})
        body = self.body if with_body else b""
        await send({"type": "http.response.body", "body": body})
