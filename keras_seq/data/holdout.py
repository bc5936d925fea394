"""Keep part of a data set aside, the same part every time."""

import hashlib

import numpy as np


def hold_out(texts, share=0.1, salt=""):
    """Choose which examples to keep aside: `(N,)` booleans.

    The choice hangs on the text alone: not on the order of the rows, on a
    seed or on a version of NumPy. Rows with the same text go to the same
    side, so nothing is learned from and chosen by at once.

    Args:
        texts: `(N,)` strings.
        share: How much to keep aside, up to the last group of equal texts.
        salt: Another salt makes another choice.

    >>> int(hold_out([f"text {i}" for i in range(50)]).sum())
    5
    """
    if not 0 < share < 1:
        raise ValueError(f"`share` must be between 0 and 1. Received: {share}")
    digests = np.array(
        [
            hashlib.sha256(f"{salt}{text}".encode("utf-8", "replace")).digest()
            for text in texts
        ],
        dtype="S32",
    )
    wanted = max(1, round(share * len(digests)))
    return digests <= np.sort(digests)[wanted - 1]
