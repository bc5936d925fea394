"""One spelling for each text, in graph, and the way back to the original.

Characters are Unicode code points everywhere. Bytes that are not UTF-8 count
as one U+FFFD each, where Python's `bytes.decode("utf-8", "replace")` puts them.
"""

import tensorflow as tf

from keras_seq.text.strings import as_strings

# SentencePiece writes a space as U+2581, so a text cannot own that character.
SPACES = r"[\p{Z}\p{Cc}\x{2581}]"
# Characters that may melt into the one before them under a normal form:
# combining marks, Hangul vowels and finals, and their compatibility copies.
CONTINUES = {
    None: r"[^\s\S]",  # nothing does
    "NFC": r"[\p{M}\x{1161}-\x{1175}\x{11A8}-\x{11C2}]",
    "NFKC": r"[\p{M}\x{1161}-\x{1175}\x{11A8}-\x{11C2}\x{3133}\x{3135}\x{3136}"
    r"\x{313A}-\x{313F}\x{314F}-\x{3163}\x{FF9E}\x{FF9F}\x{FFA3}-\x{FFDC}]",
}
# Capitals whose small letter depends on the locale of the process (Turkish,
# Lithuanian): `tf.strings.lower` asks it, and a server must not.
LOCALE_BOUND = {"İ": "i\u0307", "Ì": "ì", "Í": "í", "Ĩ": "ĩ", "Į": "į"}


def clean(strings):
    """Make `strings` valid UTF-8, each space or control character one space.

    The number of characters does not change.
    """
    strings = tf.strings.unicode_transcode(
        strings, "UTF-8", "UTF-8", errors="replace"
    )
    return tf.strings.regex_replace(strings, SPACES, " ")


def lower(strings):
    """Lower-case every script, the same way in every locale.

    >>> lower(tf.constant("ÉCOLE ЯR ISTANBUL")).numpy().decode()
    'école яr istanbul'
    """
    strings = tf.strings.lower(strings)  # A to Z, by bytes
    for capital, small in LOCALE_BOUND.items():
        strings = tf.strings.regex_replace(strings, capital, small)
    return tf.strings.lower(strings, encoding="utf-8")


def normalize(strings, form="NFC", lowercase=False):
    r"""Return `strings` in one spelling.

    1. Bytes that are not UTF-8 become U+FFFD.
    2. Spaces of every kind, line ends, control characters (NUL too) and
       U+2581 become a space; runs of them one space; none at either end.
    3. Unicode normal form `form`: NFC makes "e" + U+0301 one "é", NFKC also
       takes "ﬁ" apart and makes "Ａ" an "A", `None` leaves all as it is.
    4. Lower case, if asked for.

    Doing it again changes nothing.

    Args:
        strings: Strings in any shape.
        form: "NFC", "NFKC" or None.
        lowercase: Whether to lower-case, in every script.

    Example:
        >>> normalize(" Cafe\u0301\t NOIR\n", lowercase=True).numpy().decode()
        'café noir'
    """
    check_form(form)
    strings = _respell(clean(as_strings(strings)), form, lowercase)
    strings = tf.strings.regex_replace(strings, " +", " ")
    return tf.strings.strip(strings)


def source_spans(strings, form="NFC", lowercase=False):
    """Say where each byte of `normalize(strings)` comes from.

    Args:
        strings: `(N,)` strings.
        form: As in `normalize`.
        lowercase: As in `normalize`.

    Returns:
        `starts, ends`: two ragged `(N, bytes)` int32 tensors. Byte `i` of row
        `n` was written for the characters `starts[n, i]` up to `ends[n, i]`
        of the original.
    """
    chars = tf.strings.unicode_split(clean(strings), "UTF-8")
    place = tf.ragged.range(tf.cast(chars.row_lengths(), tf.int32)).values
    # A segment is a character with what may melt into it.
    goes_on = tf.strings.regex_full_match(chars.values, CONTINUES[form])
    begins = ~goes_on | (place == 0)
    segment_of = tf.cumsum(tf.cast(begins, tf.int32)) - 1
    count = tf.reduce_sum(tf.cast(begins, tf.int32))
    segments = tf.strings.unsorted_segment_join(chars.values, segment_of, count)
    row = tf.boolean_mask(chars.value_rowids(), begins)
    start = tf.boolean_mask(place, begins)
    end = start + tf.math.unsorted_segment_sum(
        tf.ones_like(place), segment_of, count
    )
    spelled = tf.strings.unicode_split(
        _respell(segments, form, lowercase), "UTF-8"
    )
    segment = spelled.value_rowids()
    kept = _single_spaces(spelled.values, tf.gather(row, segment))
    segment = tf.boolean_mask(segment, kept)
    length = tf.strings.length(tf.boolean_mask(spelled.values, kept))
    segment = tf.repeat(segment, length)  # one entry per byte
    rows = tf.shape(strings, out_type=tf.int64)[0]
    spans = (
        tf.RaggedTensor.from_value_rowids(
            tf.gather(edge, segment), tf.gather(row, segment), nrows=rows
        )
        for edge in (start, end)
    )
    return tuple(spans)


def check_form(form):
    """Raise `ValueError` unless `form` is one that `normalize` knows."""
    if form not in CONTINUES:
        raise ValueError(
            f"`form` must be 'NFC', 'NFKC' or None. Received: {form!r}"
        )


def _respell(strings, form, lowercase):
    if form is None:
        return lower(strings) if lowercase else strings
    import tensorflow_text as tf_text  # not needed for `form=None`

    strings = tf_text.normalize_utf8(strings, form)
    if lowercase:  # a small letter may compose where its capital did not
        strings = tf_text.normalize_utf8(lower(strings), form)
    return strings


def _single_spaces(chars, row):
    """Mark what stays when runs of spaces shrink and rows are stripped."""
    solid = tf.cast(chars != " ", tf.int32)
    row = tf.cast(row, tf.int32)
    rows = tf.reduce_max(tf.concat([row, [-1]], 0)) + 1
    total = tf.math.unsorted_segment_sum(solid, row, rows)
    before = tf.cumsum(solid, exclusive=True) - tf.gather(
        tf.cumsum(total, exclusive=True), row
    )
    after = tf.gather(total, row) - before
    follows_solid = tf.concat([[0], solid[:-1]], 0)
    inner = (before > 0) & (after > 0) & (follows_solid == 1)
    return (solid == 1) | inner
