"""Fonts that can draw the tokens of any language, as far as there are any."""

import functools

# A glyph of DejaVu Sans, which comes with matplotlib, for what has no other.
_NO_GLYPH = "□"


def fonts_for(text):
    """Return `(families, drawable)`: fonts to draw with, and what they have.

    Families are the default font and, for characters it lacks, such as
    Chinese ones, what is installed on this machine. `drawable` is the set of
    characters of `text` that one of them has.

    >>> families, drawable = fonts_for("héllo")
    >>> families, sorted(drawable)
    (['DejaVu Sans'], ['h', 'l', 'o', 'é'])
    """
    from matplotlib import font_manager

    default = font_manager.findfont("DejaVu Sans")
    families, missing = ["DejaVu Sans"], _visible(text) - _characters(default)
    fonts = font_manager.fontManager.ttflist
    # Matplotlib's own last resort has a sign for every script, no letters.
    for font in sorted(fonts, key=lambda font: "LastResort" in font.fname):
        if not missing:
            break
        is_plain = font.style == "normal" and font.weight in (400, "normal")
        if not is_plain or font.name in families or "Emoji" in font.name:
            continue  # emoji fonts are pictures, which matplotlib cannot draw
        has = missing & _characters(font.fname)
        if has:
            families.append(font.name)
            missing -= has
    return families, _visible(text) - missing


def drawable_text(text, drawable):
    """Return `text` with a box for each character that no font has.

    >>> drawable_text("a你", drawable={"a"})
    'a□'
    """
    return "".join(
        c if c in drawable or c.isspace() else _NO_GLYPH for c in text
    )


def _visible(text):
    return {character for character in text if not character.isspace()}


@functools.lru_cache(maxsize=512)
def _characters(path):
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(map(chr, FT2Font(path).get_charmap()))
    except (OSError, RuntimeError):  # a font file that cannot be read
        return frozenset()
