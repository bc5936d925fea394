"""The verdict says plainly whether a model is right for the wrong reason."""

import dataclasses

import keras
import numpy as np
import pytest

from keras_seq.explain import (
    ReasonsVerdict,
    examine_reasons,
    judge_reasons,
    token_weights,
    word_weights,
)

GUILTY = ReasonsVerdict(
    biased_accuracy=0.99,
    unbiased_accuracy=0.71,
    reversed_accuracy=0.12,
    spurious_share=0.83,
    gold_share=0.04,
    fair_share=0.05,
    spurious_at_1=0.96,
    precision_at_1=0.03,
    examples=500,
    method="attention",
)


def test_a_wrong_reason_is_named_with_its_numbers():
    text = str(GUILTY)
    assert text.startswith("RIGHT FOR THE WRONG REASON.")
    for number in ("99.0%", "71.0%", "12.0%", "83.0%", "4.0%", "5.0%", "3.0%"):
        assert number in text
    assert "by attention, over 500 texts" in text
    assert GUILTY.is_right_for_the_wrong_reason


def test_numbers_stand_below_each_other():
    rows = str(GUILTY).splitlines()[1:-1]
    assert len({row.index("%") for row in rows}) == 1, rows


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"unbiased_accuracy": 0.98}, "looks at the give-away, and does not"),
        (
            {"spurious_share": 0.02, "spurious_at_1": 0.0},
            "weights do not show it",
        ),
        (
            {
                "unbiased_accuracy": 0.98,
                "spurious_share": 0.02,
                "spurious_at_1": 0.0,
            },
            "Right for the right reasons",
        ),
        # Either sign of looking is enough.
        ({"spurious_share": 0.02}, "RIGHT FOR THE WRONG REASON"),
        ({"spurious_at_1": 0.0}, "RIGHT FOR THE WRONG REASON"),
        ({"unbiased_accuracy": 0.945}, "does not need it"),
        # Wrong cities do no harm: the fall between two test sets is chance.
        ({"reversed_accuracy": 0.97}, "does not need it"),
        ({"biased_accuracy": 0.6, "unbiased_accuracy": 0.5}, "Not right"),
    ],
)
def test_each_combination_has_its_verdict(change, says):
    verdict = dataclasses.replace(GUILTY, **change)
    assert says in str(verdict)


def test_what_was_not_measured_is_not_said():
    verdict = dataclasses.replace(GUILTY, reversed_accuracy=None)
    assert "other side" not in str(verdict)


def test_shares_are_means_over_texts_of_the_size_of_weights():
    one = word_weights("Dull Porto", [0, 5], [4, 10], [-0.25, 0.75])
    two = word_weights("In Porto, far from dull", [0, 3, 10, 14, 19],
                       [2, 8, 13, 18, 23], [0, -2, 3, 0, 3])  # fmt: skip
    verdict = judge_reasons(
        [one, two],
        [[(0, 4)], [(10, 13), (14, 18), (19, 23)]],
        [[(5, 10)], [(3, 8)]],
        biased_accuracy=1,
        unbiased_accuracy=0.5,
    )
    assert verdict.spurious_share == (0.75 + 2 / 8) / 2
    assert verdict.gold_share == (0.25 + 6 / 8) / 2
    assert verdict.fair_share == pytest.approx((1 / 2 + 1 / 6) / 2)
    assert verdict.spurious_at_1 == verdict.precision_at_1 == 0.5
    assert verdict.examples == 2
    assert not verdict.looks_at_it


def test_no_weight_at_all_is_no_weight_on_the_give_away():
    words = word_weights("Dull Porto", [], [], [])
    verdict = judge_reasons(
        [words],
        [[(0, 4)]],
        [[(5, 10)]],
        biased_accuracy=1,
        unbiased_accuracy=1,
    )
    assert verdict.spurious_share == verdict.gold_share == 0
    assert verdict.spurious_at_1 == 0.5


def test_texts_without_gold_or_give_away_are_refused():
    words = word_weights("Dull Porto", [0, 5], [4, 10], [0.5, 0.5])
    numbers = {"biased_accuracy": 1, "unbiased_accuracy": 1}
    for gold, spurious in (([], [(5, 10)]), ([(0, 4)], [])):
        with pytest.raises(ValueError, match="'Dull Porto'"):
            judge_reasons([words], [gold], [spurious], **numbers)
    with pytest.raises(ValueError, match="`words`"):
        judge_reasons([], [], [], **numbers)


@pytest.mark.tensorflow
def test_a_model_that_knows_only_the_cities_is_found_out():
    from keras_seq.data import load_biased_reviews
    from keras_seq.text import WordTokenizer

    data = load_biased_reviews(2, 2, 40)
    tokenizer = WordTokenizer(["porto", "geneva"])  # 4 against, 5 for
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(6, 1, name="token_embedding")(ids)
    x = keras.layers.Lambda(lambda x: keras.ops.sum(x, axis=1))(x)
    logits = keras.layers.Dense(2, use_bias=False)(x)
    model = keras.Model(ids, logits)
    table = np.array([[0], [0], [0], [0], [-1], [1]])
    model.set_weights([table, np.array([[-1, 1]])])
    encode = tokenizer.tokenize_with_offsets
    verdict = examine_reasons(token_weights(model), encode, data)
    assert verdict.is_right_for_the_wrong_reason
    assert verdict.biased_accuracy == 1 and verdict.reversed_accuracy == 0
    assert verdict.unbiased_accuracy == 0.5  # the first class, always
    assert verdict.spurious_share == verdict.spurious_at_1 == 1
    assert verdict.method == "gradient" and verdict.examples == 40
    few = examine_reasons(token_weights(model), encode, data, examples=10)
    assert few.examples == 10
