"""What decoding gives back."""

from typing import Any, NamedTuple


class Decoded(NamedTuple):
    """Sequences that were written, their scores and their lengths.

    Shapes:
        With one sequence a row, as here; with `n_best` of them the axis `N`
        follows the batch: `(B, N, L)`, `(B, N)`, `(B, N)`.

    Attributes:
        token_ids: `(B, L)` int32; the end token is kept, then come zeros.
            A sequence that was cut at its limit has no end token.
        scores: `(B,)` float32; `-inf` where nothing could be written.
        lengths: `(B,)` int32; the end token counts.
    """

    token_ids: Any
    scores: Any
    lengths: Any
