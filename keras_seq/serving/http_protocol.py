"""HTTP that does not wait for ever for what a client wants.

uvicorn closes connections that idle after an answer, but not those that never
finish their first line: a few hundred of them would use up the server's
connections.
"""

import json

_BODY = json.dumps({"error": "The request did not arrive in time"}).encode()
_ANSWER = (
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n"
    b"content-type: application/json\r\n"
    b"content-length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
)


def protocol_class(header_seconds: float):
    """Return uvicorn's HTTP protocol with a time limit for the headers."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class ImpatientProtocol(AutoHTTPProtocol):
        _too_late = None

        def connection_made(self, transport):
            super().connection_made(transport)
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
                self.transport.write(_ANSWER)
                self.transport.close()

    return ImpatientProtocol
