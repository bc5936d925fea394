"""Text normalization from the Unicode database of Python, no graph in sight."""

import unicodedata


def is_space(char):
    category = unicodedata.category(char)
    return category[0] == "Z" or category == "Cc" or char == "\u2581"


def normalize(text, form=None, lowercase=False):
    """`text`: bytes or str, as `keras_seq.text.normalize` documents it."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    text = "".join(" " if is_space(char) else char for char in text)
    if form:
        text = unicodedata.normalize(form, text)
    if lowercase:
        text = text.lower()
        text = unicodedata.normalize(form, text) if form else text
    return " ".join(word for word in text.split(" ") if word)
