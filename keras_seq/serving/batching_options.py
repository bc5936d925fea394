"""How requests are put together."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class BatchingOptions:
    """How requests are put together.

    Attributes:
        max_batch_size: Rows of a call; 1 answers requests one by one. A
            request of more rows is answered in several calls.
        timeout: Seconds that a request may wait for company; if the model
            takes long, a tenth of what it takes. It waits only while there
            is company to be had: on a quiet server nobody waits.
        queue_limit: Requests that may wait; the next one is refused.
        max_calls: Calls of a model at the same time. A second one begins
            only if its texts are shorter than those of all others.
    """

    max_batch_size: int = 64
    timeout: float = 0.005
    queue_limit: int = 512
    max_calls: int = 4

    def __post_init__(self):
        for name in ("max_batch_size", "queue_limit", "max_calls"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"`{name}` must be at least 1. "
                    f"Received: {getattr(self, name)}"
                )
        if not 0 <= self.timeout <= 10:
            raise ValueError(
                "`timeout` must be from 0 to 10 seconds. "
                f"Received: {self.timeout}"
            )
