"""HTTP that does not wait for ever for what a client wants.

uvicorn closes connections that idle after an answer, but not those that never
finish their first line: a few hundred of them would use up the server's
connections. It also sends an answer in two packets, and says in plain text what
is wrong with a request that is no HTTP.
"""

import json


def protocol_class(header_seconds: float):
    """Return uvicorn's HTTP protocol with a time limit for the headers."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class ImpatientProtocol(AutoHTTPProtocol):
        _too_late = None

        def connection_made(self, transport):
            super().connection_made(_JoinedWrites(transport))
            self._wait_for_headers()

        def data_received(self, data):
            if not self._is_answering():
                self._wait_for_headers()
            super().data_received(data)
            if self._is_answering():
                self._stop_waiting()

        def connection_lost(self, exc):
            self._stop_waiting()
            super().connection_lost(exc)

        def on_response_complete(self):
            self.transport.flush()
            super().on_response_complete()

        def send_400_response(self, msg):
            if not self.transport.is_closing():
                self.transport.write(_answer(b"400 Bad Request", msg))
                self.transport.close()

        def _is_answering(self):
            return self.cycle is not None and not self.cycle.response_complete

        def _wait_for_headers(self):
            if self._too_late is None:
                self._too_late = self.loop.call_later(
                    header_seconds, self._give_up
                )

        def _stop_waiting(self):
            if self._too_late is not None:
                self._too_late.cancel()
                self._too_late = None

        def _give_up(self):
            self._too_late = None
            if not self.transport.is_closing():
                said = "The request did not arrive in time"
                self.transport.write(_answer(b"408 Request Timeout", said))
                self.transport.close()

    return ImpatientProtocol


class _JoinedWrites:
    """A transport that sends the headers of an answer with its body."""

    def __init__(self, transport):
        self._transport = transport
        self._headers = b""

    def __getattr__(self, name):
        return getattr(self._transport, name)

    def write(self, data):
        if data.startswith(b"HTTP/1.1 ") and data.endswith(b"\r\n\r\n"):
            if not data.startswith(b"HTTP/1.1 100"):
                self._headers += data
                return
        data = self._headers + data if self._headers else data
        self._headers = b""
        self._transport.write(data)

    def flush(self):
        if self._headers:
            self.write(b"")

    def close(self):
        self.flush()
        self._transport.close()


def _answer(status, said):
    body = json.dumps({"error": said}).encode()
    return (
        b"HTTP/1.1 %s\r\nconnection: close\r\n"
        b"content-type: application/json\r\n"
        b"content-length: %d\r\n\r\n%s" % (status, len(body), body)
    )
