"""The key that a server may ask for."""

import hmac

from keras_seq.serving.serving_error import ServingError


def check_key(said: str, key: str | None) -> None:
    """Compare `Authorization` with the key, in a time that tells nothing.

    Raises:
        ServingError: 401.
    """
    if key is None:
        return
    said = said.removeprefix("Bearer ").encode("utf-8", "replace")
    if not hmac.compare_digest(said, key.encode()):
        raise ServingError(401, "The API key is missing or wrong")
