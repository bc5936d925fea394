"""What a client is told when a request cannot be answered."""


class ServingError(Exception):
    """An answer that is a refusal: an HTTP status and `{"error": message}`.

    Args:
        status: The HTTP status, 4xx if the client can do something about it.
        message: What was wrong, for the client to read.
        retry_after: Seconds after which trying again makes sense, if it does.
    """

    def __init__(
        self, status: int, message: str, retry_after: int | None = None
    ):
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after


def bad_request(message: str) -> ServingError:
    """Return the refusal of a request that can never be answered."""
    return ServingError(400, message)


def not_found(message: str) -> ServingError:
    """Return the refusal of a request for what is not here."""
    return ServingError(404, message)


def no_such_servable(name: str, number: int | None) -> ServingError:
    """Return the refusal of a question, as TensorFlow Serving words it.

    >>> no_such_servable("m", None).message
    'Servable not found for request: Latest(m)'
    >>> no_such_servable("m", 7).message
    'Servable not found for request: Specific(m, 7)'
    """
    name = name[:100]
    wanted = (
        f"Latest({name})" if number is None else f"Specific({name}, {number})"
    )
    return not_found(f"Servable not found for request: {wanted}")


def no_such_versions(name: str, number: int | None) -> ServingError:
    """Return the refusal of a status, as TensorFlow Serving words it."""
    which = "any versions" if number is None else f"version {number}"
    return not_found(f"Could not find {which} of model {name[:100]}")


def no_such_label(label: str) -> ServingError:
    """Return the refusal of a label, as TensorFlow Serving words it."""
    return bad_request(f"Unrecognized servable version label: {label[:100]}")
