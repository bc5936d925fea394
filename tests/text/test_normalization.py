"""One spelling for each text: against Python's Unicode, in every locale."""

import functools
import os
import subprocess
import sys

import pytest
import tensorflow as tf
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keras_seq.text import normalize
from keras_seq.text.normalization import source_spans
from tests.oracles import normalization as oracle
from tests.text.awkward import AWKWARD, AWKWARD_BYTES, FORMS, MANY_TEXTS

MANY = settings(max_examples=25, deadline=None)


@functools.cache
def spans_of(form, lowercase):
    return tf.function(
        lambda strings: source_spans(strings, form, lowercase),
        input_signature=[tf.TensorSpec((None,), tf.string)],
    )


@MANY
@given(texts=MANY_TEXTS, form=FORMS)
@example(texts=AWKWARD_BYTES, form="NFC")
@example(texts=AWKWARD_BYTES, form="NFKC")
@pytest.mark.parametrize("lowercase", [False, True])
def test_equals_the_unicode_database(texts, form, lowercase):
    got = normalize(texts, form, lowercase).numpy()
    for text, line in zip(texts, got, strict=True):
        want = oracle.normalize(text, form, lowercase)
        assert line.decode() == want


@MANY
@given(texts=MANY_TEXTS, form=FORMS, lowercase=st.booleans())
def test_doing_it_twice_changes_nothing(texts, form, lowercase):
    once = normalize(texts, form, lowercase)
    twice = normalize(once, form, lowercase)
    assert once.numpy().tolist() == twice.numpy().tolist()


@MANY
@given(texts=MANY_TEXTS, form=FORMS, lowercase=st.booleans())
@example(texts=AWKWARD_BYTES, form="NFC", lowercase=True)
@example(texts=AWKWARD_BYTES, form="NFKC", lowercase=False)
def test_every_byte_knows_the_characters_it_was_made_from(
    texts, form, lowercase
):
    strings = tf.constant(texts, tf.string, shape=(len(texts),))
    lines = normalize(strings, form, lowercase).numpy()
    starts, ends = (x.to_list() for x in spans_of(form, lowercase)(strings))
    assert len(starts) == len(ends) == len(texts)
    for text, line, first, last in zip(texts, lines, starts, ends, strict=True):
        original = text.decode("utf-8", "replace")
        assert len(line) == len(first) == len(last)
        assert first == sorted(first) and last == sorted(last)
        # Each character of the result is in what its source is spelled as.
        at = 0
        for char in line.decode():
            source = original[first[at] : last[at]]
            spelled = oracle.normalize(f"x{source}x", form, lowercase)
            assert char.replace("ς", "σ") in spelled.replace("ς", "σ")
            at += len(char.encode())
        # Nothing but space is left out.
        covered = {
            i for a, b in zip(first, last, strict=True) for i in range(a, b)
        }
        for i, char in enumerate(original):
            assert i in covered or oracle.is_space(char)


def test_composed_and_decomposed_letters_become_one():
    assert normalize("E\u0301") == normalize("É")
    assert normalize("E\u0301", form=None) != normalize("É", form=None)
    assert normalize("ﬁ", form="NFKC") == "fi"
    assert normalize("ﬁ", form="NFC") == "ﬁ"


def test_lower_case_is_the_same_in_every_locale():
    code = (
        "from keras_seq.text import normalize;"
        "print(ascii(normalize('TITLE İ ÌÍĨĮ', lowercase=True)"
        ".numpy().decode()))"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "LC_ALL": locale, "LANG": locale},
            stdout=subprocess.PIPE,
            text=True,
        )
        for locale in ("tr_TR.UTF-8", "lt_LT.UTF-8")  # Turkish, Lithuanian
    ]
    for child in children:
        said, _ = child.communicate(timeout=120)
        assert said.strip() == ascii("title i\u0307 ìíĩį")


def test_keeps_the_shape():
    assert normalize("a").shape == ()
    assert normalize([["a ", "b"], ["c", "d"]]).shape == (2, 2)
    assert normalize([["a "], []]).to_list() == [[b"a"], []]


@pytest.mark.parametrize("name", AWKWARD)
def test_graph_equals_eager(name):
    text = AWKWARD[name]
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    in_graph = tf.function(normalize)(tf.constant([text]))
    assert in_graph[0] == normalize(text)


def test_unknown_form_is_refused():
    with pytest.raises(ValueError, match="`form`.*Received: 'NFD'"):
        normalize("a", form="NFD")
