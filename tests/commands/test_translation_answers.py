"""What the command line makes of the answers of a translator's signatures."""

import numpy as np
import pytest

from keras_seq.commands.translation_model import TranslationModel

pytestmark = pytest.mark.tensorflow


def padded(*rows):
    width = max(map(len, rows))
    return np.array(
        [[w.encode() for w in row] + [b""] * (width - len(row)) for row in rows]
    )


def test_a_word_without_a_letter_keeps_its_place():
    """As an export may have it; those after it stay with their weights."""
    answer = {
        "text": np.array([b"un chat", b""], object),
        "score": np.array([-1.0, 0.0]),
        "source_words": padded(["a", "", "cat"], []),
        "target_words": padded(["un", "chat"], []),
        "source_tokens": padded(["▁a", "▁", "▁cat", "</s>"], ["</s>"]),
        "target_tokens": padded(["▁un", "▁chat", "</s>"], ["</s>"]),
        "alignment": np.array([[[0.9, 0.0, 0.1], [0.1, 0.0, 0.9]]] * 2),
        "attention": np.full((2, 1, 1, 3, 4), 0.25),
    }
    model = TranslationModel({"explain": lambda text: answer}, {})
    one, none = model.explain([b"a  cat", b""])
    assert one["source_words"] == ["a", "", "cat"]
    assert one["alignment"] == [[0.9, 0.0, 0.1], [0.1, 0.0, 0.9]]
    assert "chat  <-  cat  (0.90)" in model.draw(one)
    assert none["source_words"] == [] == none["alignment"]
