"""The learning rates against their formulas, at the corners and between."""

import keras
import numpy as np
import pytest

from keras_seq.training import (
    Adam,
    Noam,
    WarmupCosine,
    WarmupInverseSquareRoot,
    WarmupLinear,
)
from tests.oracles import training as oracle

STEPS = [1, 2, 3999, 4000, 4001, 17389, 1_000_000]


def test_noam_has_the_numbers_of_the_paper():
    schedule = Noam(hidden_dim=512, warmup_steps=4000)
    np.testing.assert_allclose(schedule(1), 1.7469e-7, rtol=1e-4)
    np.testing.assert_allclose(schedule(4000), 6.9877e-4, rtol=1e-4)
    want = [oracle.noam(step, 512, 4000) for step in STEPS]
    got = [float(schedule(step)) for step in STEPS]
    np.testing.assert_allclose(got, want, rtol=1e-5)
    assert max(got) == got[STEPS.index(4000)]


def test_inverse_square_root_is_noam_by_its_peak():
    noam = Noam(hidden_dim=512, warmup_steps=4000, scale=2.0)
    plain = WarmupInverseSquareRoot(peak=2 * 6.9877124e-4, warmup_steps=4000)
    for step in STEPS:
        np.testing.assert_allclose(plain(step), noam(step), rtol=1e-5)


@pytest.mark.parametrize("kind", ["cosine", "linear"])
def test_decay_follows_its_formula(kind):
    make = {"cosine": WarmupCosine, "linear": WarmupLinear}[kind]
    formula = {
        "cosine": oracle.warmup_cosine,
        "linear": oracle.warmup_linear,
    }[kind]
    settings = {
        "peak": 3e-3,
        "warmup_steps": 101,
        "total_steps": 1009,
        "floor": 1e-5,
    }
    schedule = make(**settings)
    for step in [1, 50, 100, 101, 102, 555, 1008, 1009, 5000]:
        want = formula(step, **settings)
        np.testing.assert_allclose(schedule(step), want, rtol=1e-4, atol=1e-9)


SCHEDULES = [
    Noam(hidden_dim=128, warmup_steps=7, scale=0.5),
    WarmupInverseSquareRoot(peak=0.1, warmup_steps=7),
    WarmupCosine(peak=0.1, warmup_steps=7, total_steps=11, floor=0.01),
    WarmupLinear(peak=0.1, warmup_steps=7, total_steps=11, floor=0.01),
]
by_name = pytest.mark.parametrize(
    "schedule", SCHEDULES, ids=lambda s: type(s).__name__
)


@by_name
def test_step_zero_is_finite_and_moves(schedule):
    assert float(schedule(0)) == float(schedule(1)) > 0


@by_name
def test_schedule_survives_saving_with_its_optimizer(schedule):
    optimizer = Adam(learning_rate=schedule)
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert isinstance(again, Adam)
    for step in (1, 7, 9, 20):
        assert float(schedule(step)) == float(
            type(schedule).from_config(schedule.get_config())(step)
        )
    assert float(again.learning_rate) == float(schedule(0))


@pytest.mark.parametrize(
    "make, argument",
    [
        (lambda: Noam(hidden_dim=0), "hidden_dim"),
        (lambda: Noam(hidden_dim=8, warmup_steps=0), "warmup_steps"),
        (lambda: WarmupInverseSquareRoot(0.0, 5), "peak"),
        (lambda: WarmupCosine(0.1, 5, 5), "total_steps"),
        (lambda: WarmupLinear(0.1, 5, 9, floor=0.2), "floor"),
    ],
)
def test_bad_argument_is_named(make, argument):
    with pytest.raises(ValueError, match=f"`{argument}`.*Received"):
        make()
