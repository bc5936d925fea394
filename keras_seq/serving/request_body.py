"""Read what a client sends, up to a size and for a time."""

import asyncio

from keras_seq.serving.serving_error import ServingError, bad_request


async def read_body(
    receive, announced: bytes | None, max_bytes: int, seconds: float
) -> bytes:
    """Return the body of an ASGI request.

    Args:
        receive: Gives the next message.
        announced: The header `content-length`, if there is one.
        max_bytes: How large it may be.
        seconds: How long it may take.

    Raises:
        ServingError: 413 if it is too large, 408 if it comes too slowly, 400
            if the client went away.
    """
    if announced and announced.isdigit() and int(announced) > max_bytes:
        raise _too_large(max_bytes)
    parts, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise bad_request("The client went away")
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > max_bytes:
                    raise _too_large(max_bytes)
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError as error:
        raise ServingError(
            408, f"The body did not arrive within {seconds:g} seconds"
        ) from error


def _too_large(max_bytes):
    return ServingError(413, f"The body must not exceed {max_bytes} bytes")
