"""BLEU as papers about Multi30k count it."""

import builtins

import pytest
import sacrebleu

from keras_seq.tasks.moses_bleu import moses_bleu

FOUND = "L'homme d’affaires n'a rien vu d'autre, dit-il."
RIGHT = "L'homme d'affaires n'avait rien vu d'autre, dit-il."
# What the scripts make of them, by hand.
TOKENS = (
    "l' homme d' affaires n' a rien vu d' autre , dit-il .",
    "l' homme d' affaires n' avait rien vu d' autre , dit-il .",
)


def test_words_are_counted_as_moses_splits_them():
    scores = moses_bleu([FOUND], [[RIGHT]], "fr")
    want = sacrebleu.corpus_bleu(
        [TOKENS[0]], [[TOKENS[1]]], tokenize="none", force=True
    ).score
    assert scores["bleu"] == pytest.approx(want)
    # "n'a" and "n'avait" have nothing in common where they are one word.
    plain = sacrebleu.corpus_bleu([FOUND], [[RIGHT]], lowercase=True).score
    assert scores["bleu"] > plain + 5


def test_case_and_the_kind_of_quotation_mark_do_not_count():
    references = [["« l’homme » dort très bien ici ."]]
    scores = moses_bleu(['"L\'HOMME" dort très bien ici.'], references, "fr")
    assert scores["bleu"] == pytest.approx(100)


def test_each_language_has_its_own_rules():
    found, references = ["The dog's red ball is gone."], [["the dog 's ball"]]
    as_english = moses_bleu(found, references, "en")
    as_french = moses_bleu(found, references, "fr")
    assert as_english["bleu"] != pytest.approx(as_french["bleu"])
    assert as_english["bleu_signature"].endswith("|moses:lc.norm.tok.en")
    assert "tok:none" in as_english["bleu_signature"]


def test_as_many_references_as_translations():
    with pytest.raises(ValueError, match="references.*Received: 1 and 2"):
        moses_bleu([FOUND, RIGHT], [[RIGHT]], "fr")


def test_what_is_missing_is_named(monkeypatch):
    load = builtins.__import__

    def without(name, *arguments, **options):
        if name == "sacremoses":
            raise ImportError("No module named 'sacremoses'")
        return load(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"the extra \[moses\].*sacremoses"):
        moses_bleu([FOUND], [[RIGHT]], "fr")
