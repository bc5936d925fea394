"""A picture lit up word by word, as one page that needs nothing else."""

import base64
import html
import importlib.resources
import io
import re

from keras_seq.explain.attention_html import fingerprint, safe_json
from keras_seq.explain.captioned_attention import captioned_attention
from keras_seq.explain.lit_image import as_pixels, enlarge


def captioned_attention_html(image, words, attention, title=None, boxes=None):
    """Return a self-contained page on which a caption is played word by word.

    Space plays and stops, arrow keys and words go to one place, the pointer
    shows the weight under it. The page loads nothing, follows the reader's
    light or dark mode, and what words contain is shown and never run.

    Args:
        image: As for `keras_seq.explain.plot_captioned_attention`.
        words: The same.
        attention: The same.
        title: Heading of the page.
        boxes: As for `plot_captioned_attention`.

    Returns:
        The page, a string.
    """
    import PIL.Image

    pixels = as_pixels(image)
    models = captioned_attention(words, attention, boxes)
    file = io.BytesIO()
    PIL.Image.fromarray(enlarge(pixels)).save(file, "PNG", optimize=True)
    picture = base64.b64encode(file.getvalue()).decode()
    data = {
        "picture": f"data:image/png;base64,{picture}",
        "height": pixels.shape[0],
        "width": pixels.shape[1],
        "models": [
            {
                "name": model.name,
                "words": model.words,
                "maps": [
                    [[float(f"{x:.4g}") for x in row] for row in weights]
                    for weights in model.maps.tolist()
                ],
                "boxes": model.boxes,
            }
            for model in models
        ],
    }
    template = (
        importlib.resources.files(__package__)
        .joinpath("captioned_attention.html")
        .read_text(encoding="utf-8")
    )
    parts = {
        "title": html.escape(title or "Where it looked"),
        "data": safe_json(data),
        "script": fingerprint(template, "script"),
        "style": fingerprint(template, "style"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m.group(1)], template)
