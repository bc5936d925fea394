"""What a server lets its clients do."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class ServerSettings:
    """Limits of a server.

    Attributes:
        max_body_bytes: Size of a request; a larger one is a 413.
        header_seconds: Time that a client has to say what it wants; else a
            408, and the connection is closed.
        body_seconds: Time that a client has to send it; else a 408.
        request_seconds: Time until the answer; else a 504.
        api_key: What `Authorization: Bearer` must carry; None for no key.
    """

    max_body_bytes: int = 16 * 2**20
    header_seconds: float = 10.0
    body_seconds: float = 10.0
    request_seconds: float = 30.0
    api_key: str | None = None

    def __post_init__(self):
        for name in (
            "max_body_bytes",
            "header_seconds",
            "body_seconds",
            "request_seconds",
        ):
            if getattr(self, name) <= 0:
                raise ValueError(
                    f"`{name}` must be positive. "
                    f"Received: {getattr(self, name)}"
                )
        if self.api_key == "":
            raise ValueError("`api_key` must not be empty. Received: ''")
