"""The estimate of Xu et al. (2015), section 4.1, against the exact gradient."""

import itertools

import keras
import numpy as np
import pytest

from keras_seq import models
from keras_seq.layers import HardAttentiveLSTM
from keras_seq.training import HardAttentionObjective
from tests.models.sentences import weights_of
from tests.models.test_captioners import decoder_weights
from tests.oracles import captioning as oracle

pytestmark = pytest.mark.tensorflow
V, N, D, T = 5, 4, 3, 2
TARGET, LABELS = np.array([2, 4], "int32"), np.array([4, 3], "int32")


def make(expected_share=0.0):
    keras.utils.set_random_seed(5)
    model = models.show_attend_tell(
        V,
        D,
        "test",
        attention="hard",
        dropout=0.0,
        hidden_dim=3,
        embedding_dim=2,
        attention_dim=3,
    )
    model.decoder.expected_share = expected_share
    rng = np.random.default_rng(7)
    for weight in model.trainable_weights:
        weight.assign(rng.normal(size=weight.shape))
    features = rng.normal(size=(N, D)).astype("float32")
    return model, features


def exact_value(features, model, decoder):
    """E_s[log p(y | s)], over all paths of places."""
    weights = {**weights_of(model), "decoder": decoder}
    total = 0.0
    for places in itertools.product(range(N), repeat=T):
        logits, alpha = oracle.show_attend_tell(
            features, TARGET, weights, places
        )
        logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        p = np.prod([alpha[t, s] for t, s in enumerate(places)])
        total += p * logs[np.arange(T), LABELS].sum()
    return total


def estimates(model, features, objective, batches=60, rows=200):
    """Gradients of the mean loss w.r.t. the weights of the attention."""
    import tensorflow as tf

    layer = model.decoder
    variables = [w.value for w in (layer.w_a, layer.u_a, layer.v_a)]
    batch = (
        {
            "features": tf.constant(np.repeat(features[None], rows, 0)),
            "target_ids": tf.constant(np.repeat(TARGET[None], rows, 0)),
        },
        tf.constant(np.repeat(LABELS[None], rows, 0)),
    )

    @tf.function
    def gradient():
        with tf.GradientTape() as tape:
            total, _ = objective(model, batch, training=True)
        found = tape.gradient(total, variables)
        return tf.concat([tf.reshape(g, [-1]) for g in found], 0) / rows

    return np.array([-gradient().numpy() for _ in range(batches)])


def test_the_estimate_is_within_three_standard_errors_of_the_exact_one():
    model, features = make()
    objective = HardAttentionObjective(
        models.draw_locations, entropy_weight=0.0
    )
    found = estimates(model, features, objective)
    mean = found.mean(axis=0)
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    decoder = decoder_weights(model.decoder)
    want = []
    for place in (1, 2, 3):  # w_a, u_a, v_a
        for at in np.ndindex(decoder[place].shape):
            sides = []
            for way in (1e-5, -1e-5):
                moved = [np.float64(w).copy() for w in decoder]
                moved[place][at] += way
                sides.append(exact_value(features, model, moved))
            want.append((sides[0] - sides[1]) / 2e-5)
    want = np.array(want)
    assert np.abs(want).max() > 20 * error.max()  # there is a gradient to find
    assert np.abs((mean - want) / error).max() < 3


def test_the_baseline_follows_the_rewards_and_calms_the_estimate():
    model, features = make()
    calm = HardAttentionObjective(models.draw_locations, entropy_weight=0.0)
    wild = HardAttentionObjective(
        models.draw_locations, entropy_weight=0.0, baseline_decay=0.0
    )
    spread = estimates(model, features, calm)[30:].std(axis=0).sum()
    value = exact_value(features, model, decoder_weights(model.decoder))
    assert abs(float(calm.baseline) - value) < 0.2
    wild.baseline.assign(-1e-9)
    wild.baseline.assign = lambda value: None  # stays there: no baseline
    assert calm.variables[-1] is calm.baseline
    assert spread < 0.8 * estimates(model, features, wild).std(axis=0).sum()


def test_the_baseline_begins_with_the_mean_of_the_first_batch():
    model, features = make(expected_share=1.0)  # nothing is drawn
    inputs = {"features": features[None], "target_ids": TARGET[None]}
    baselines = []
    for decay in (0.0, 0.9):
        objective = HardAttentionObjective(
            models.draw_locations, baseline_decay=decay
        )
        objective(model, (inputs, LABELS[None]), training=True)
        baselines.append(float(objective.baseline))
    assert baselines[0] == pytest.approx(baselines[1]) and baselines[0] < -0.5
    objective.baseline.assign(-7.25)  # as a run that goes on does
    objective(model, (inputs, LABELS[None]), training=True)
    wanted = 0.9 * -7.25 + 0.1 * baselines[0]
    assert float(objective.baseline) == pytest.approx(wanted)


def test_expected_rows_pass_their_gradient_through_the_weights():
    model, features = make(expected_share=1.0)
    objective = HardAttentionObjective(
        models.draw_locations, reward_weight=50.0, entropy_weight=0.0
    )
    one, two = estimates(model, features, objective, batches=2, rows=3)
    np.testing.assert_allclose(one, two, atol=2e-4)  # nothing is drawn
    assert np.abs(one).max() > 1e-3


def test_nothing_is_drawn_in_evaluation():
    model, features = make()
    objective = HardAttentionObjective(models.draw_locations)
    inputs = {"features": features[None], "target_ids": TARGET[None]}
    totals = [
        float(objective(model, (inputs, LABELS[None]), training=False)[0])
        for _ in range(3)
    ]
    assert len(set(totals)) == 1
    assert float(objective.baseline) == 0.0


def test_places_are_drawn_as_often_as_their_weights_say():
    model, features = make()
    rows = 4000
    inputs = {
        "features": np.repeat(features[None], rows, 0),
        "target_ids": np.repeat(TARGET[None], rows, 0),
    }
    _, weights, choices = (
        np.asarray(x) for x in models.draw_locations(model, inputs)
    )
    assert set(np.unique(choices)) == {0.0, 1.0}
    np.testing.assert_allclose(choices.sum(-1), 1.0)
    p = weights[0, 0]
    error = np.sqrt(p * (1 - p) / rows)
    assert (np.abs(choices[:, 0].mean(axis=0) - p) < 4 * error + 1e-6).all()


def test_bad_settings_are_named():
    with pytest.raises(ValueError, match="`expected_share`.*Received"):
        HardAttentiveLSTM(3, 2, expected_share=1.5)
    with pytest.raises(ValueError, match="`baseline_decay`.*Received: 1"):
        HardAttentionObjective(models.draw_locations, baseline_decay=1)
