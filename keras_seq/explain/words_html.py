"""Words and weights as one HTML page that needs nothing from anywhere else."""

import base64
import hashlib
import html
import importlib.resources
import re

from keras_seq.explain.drawn_texts import drawn_texts

_LEVELS = 20
_LEAST = 0.02  # what weighs less, as a share of the heaviest, stays white
# Where the ink changes, in light and in dark mode: whichever is easier to read
# has a contrast of at least 3.7 to 1 on every ground.
_STRONG, _GLOW = 0.85, 0.7


def words_html(texts, title=None):
    """Return a self-contained page of texts, their words coloured by weight.

    Pointer, touch or Tab key show the number of a word. The page has no
    script, loads nothing, and follows the reader's light or dark mode; words
    are escaped, whatever they contain.

    Args:
        texts: As for `keras_seq.explain.words_ansi`.
        title: Heading of the page.

    Returns:
        The page, a string.

    Example:
        >>> page = words_html((["<b>", "&"], [0.9, 0.1]), title="One & all")
        >>> "<h1>One &amp; all</h1>" in page, "<b>" in page
        (True, False)
    """
    texts = drawn_texts(texts)
    template = (
        importlib.resources.files(__package__)
        .joinpath("words.html")
        .read_text(encoding="utf-8")
    )
    # A policy that allows no style but the page's own forbids `style="..."`.
    levels = "\n".join(
        f".l{i} {{ --level: {0.95 * i / _LEVELS:.3f}; }}"
        for i in range(1, _LEVELS + 1)
    )
    template = template.replace("{{levels}}", levels)
    parts = {
        "title": html.escape(title or "What counted"),
        "texts": "\n".join(map(_article, texts)),
        "legend": _legend(texts),
        "style": _fingerprint(template),
    }
    # One pass, so that a word which looks like a placeholder stays a word.
    return re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m.group(1)], template)


def _article(text):
    head = []
    if text.label:
        head.append(f'<span class="label">{html.escape(text.label)}</span>')
    if text.probability is not None:
        percent = f"{100 * text.probability:.1f} %"
        head.append(
            f'<progress max="1" value="{text.probability:.4f}" '
            f'aria-label="probability"></progress>'
            f'<span class="number">{percent}</span>'
        )
    if text.note:
        head.append(f'<span class="note">{html.escape(text.note)}</span>')
    header = f"<header>{''.join(head)}</header>" if head else ""
    words = "".join(w.gap + _word(w) for w in text.words)
    words = words or '<span class="empty">(no words)</span>'
    return f'<article>{header}<p class="text" dir="auto">{words}</p></article>'


def _word(word):
    classes = []
    size = abs(word.level)
    if size >= _LEAST:
        hue = "for" if word.level > 0 else "against"
        classes += [hue, f"l{max(1, round(size * _LEVELS))}"]
    classes += ["strong"] * (size >= _STRONG) + ["glow"] * (size >= _GLOW)
    if word.is_marked:
        classes.append("marked")
    number = f"{word.weight:+.3f}"
    return (
        f'<span class="{" ".join(["w", *classes])}" tabindex="0" '
        f'data-weight="{number}" aria-label="{html.escape(word.word)}, '
        f'{number}"><bdi>{html.escape(word.word)}</bdi></span>'
    )


def _legend(texts):
    words = [word for text in texts for word in text.words]
    parts = []
    if any(word.weight < 0 for word in words):
        parts.append(
            'speaks against the answer<i class="bar against"></i>'
            '0<i class="bar for"></i>speaks for it'
        )
    else:
        parts.append('0<i class="bar for"></i>the heaviest word of its text')
    if any(word.is_marked for word in words):
        parts.append('<u class="marked">underlined</u>: words that decide')
    parts.append("Point at a word to see its weight.")
    return "".join(f"<span>{part}</span>" for part in parts)


def _fingerprint(template):
    body = re.search("<style>(.*?)</style>", template, re.DOTALL)
    digest = hashlib.sha256(body.group(1).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
