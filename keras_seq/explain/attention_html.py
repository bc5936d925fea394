"""Attention as one HTML page that needs nothing from anywhere else."""

import base64
import hashlib
import html
import importlib.resources
import json
import math
import re

from keras_seq.explain.attention_maps import attention_maps


def attention_html(weights, rows, columns, title=None):
    """Return a self-contained page on which attention can be explored.

    Layer and head are chosen; pointer or keyboard walks over the matrix and
    shows row token, column token and weight. The page loads nothing, and
    tokens are data in it: whatever they contain is shown and never run.

    Args:
        weights: As for `keras_seq.explain.plot_attention`.
        rows: The same.
        columns: The same.
        title: Heading of the page.

    Returns:
        The page, a string.

    Example:
        >>> page = attention_html([[1.0]], ["<b>"], ["&"], title="One & all")
        >>> "<h1>One &amp; all</h1>" in page, "<b>" in page
        (True, False)
    """
    layers = [
        {
            "name": m.name,
            "rows": m.rows,
            "columns": m.columns,
            "heads": _rounded(m.weights.tolist()),
            "mean": _rounded(m.mean.tolist()),
        }
        for m in attention_maps(weights, rows, columns)
    ]
    template = (
        importlib.resources.files(__package__)
        .joinpath("attention.html")
        .read_text(encoding="utf-8")
    )
    parts = {
        "title": html.escape(title or "Attention"),
        "data": safe_json(layers),
        # The browser runs this script and applies this style, and no others.
        "script": fingerprint(template, "script"),
        "style": fingerprint(template, "style"),
    }
    # One pass, so that a title which looks like a placeholder stays a title.
    return re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m.group(1)], template)


def _rounded(numbers):
    """Round to four digits, which is what is shown; null where NaN."""
    if isinstance(numbers, list):
        return [_rounded(number) for number in numbers]
    return None if math.isnan(numbers) else float(f"{numbers:.4g}")


def safe_json(data):
    """Return JSON that cannot end the element it stands in."""
    text = json.dumps(data, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def fingerprint(template, element):
    """Return the name by which a policy allows an element of the page."""
    body = re.search(f"<{element}>(.*?)</{element}>", template, re.DOTALL)
    digest = hashlib.sha256(body.group(1).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
