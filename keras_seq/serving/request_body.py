"""Read what a client sends, up to a size and for a time."""

import asyncio

from keras_seq.serving.serving_error import ServingError, bad_request


async def read_body(request, max_bytes: int, seconds: float) -> bytes:
    """Return the body of a Starlette request.

    Raises:
        ServingError: 413 if it is too large, 408 if it comes too slowly, 400
            if the client went away.
    """
    announced = request.headers.get("content-length", "0")
    if announced.isdigit() and int(announced) > max_bytes:
        raise _too_large(max_bytes)
    try:
        return await asyncio.wait_for(_collect(request, max_bytes), seconds)
    except TimeoutError as error:
        raise ServingError(
            408, f"The body did not arrive within {seconds:g} seconds"
        ) from error


async def _collect(request, max_bytes):
    from starlette.requests import ClientDisconnect

    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > max_bytes:
                raise _too_large(max_bytes)
    except ClientDisconnect as error:
        raise bad_request("The client went away") from error
    return bytes(body)


def _too_large(max_bytes):
    return ServingError(413, f"The body must not exceed {max_bytes} bytes")
