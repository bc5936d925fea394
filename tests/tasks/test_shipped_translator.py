"""The translator that ships still answers as its model card says."""

import json
import pathlib

import pytest

from keras_seq.export.standalone import CARD, replay

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]
SHIPPED = pathlib.Path(__file__).parents[2] / "saved_models/translation/1"


@pytest.mark.skipif(not SHIPPED.is_dir(), reason="no translator is shipped")
def test_the_golden_questions_have_their_answers():
    golden = json.loads((SHIPPED / CARD).read_text(encoding="utf-8"))["golden"]
    assert {"serving_default", "explain", "fast"} <= set(golden)
    assert "tensorflow" in replay(SHIPPED)  # an answer that differs is said
