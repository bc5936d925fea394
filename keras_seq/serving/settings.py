"""What a server lets its clients do."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class ServerSettings:
    """Limits of a server.

    Attributes:
        max_body_bytes: Size of a request; a larger one is a 413.
        max_pending_bytes: Size of all requests that are not answered yet;
            one more is a 503.
        max_values: Numbers and strings in a request, roughly.
        max_image_pixels: Pixels of all images in a request.
        header_seconds: Time that a client has to say what it wants; else a
            408, and the connection is closed.
        body_seconds: Time that a client has to send it; else a 408.
        request_seconds: Time until the answer; else a 504.
        api_key: What `Authorization: Bearer` must carry; None for no key.
    """

    max_body_bytes: int = 16 * 2**20
    max_pending_bytes: int = 256 * 2**20
    max_values: int = 1_000_000
    max_image_pixels: int = 36_000_000
    header_seconds: float = 10.0
    body_seconds: float = 10.0
    request_seconds: float = 30.0
    api_key: str | None = None

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name != "api_key" and value <= 0:
                raise ValueError(
                    f"`{field.name}` must be positive. Received: {value}"
                )
        if self.api_key == "":
            raise ValueError("`api_key` must not be empty. Received: ''")
