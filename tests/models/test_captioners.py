"""The models that describe images: their papers, and their laws."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_seq import decoding, explain, models
from tests.gradients import weight_gradients
from tests.models.sentences import TARGET, V, by_steps, to_numpy, weights_of
from tests.oracles import captioning as oracle

N, D = 7, 13
REAL = TARGET != 0
FEATURES = np.random.default_rng(2).normal(size=(3, N, D)).astype("float32")
FAMILIES = {
    "bottleneck": models.show_and_tell,
    "soft": models.show_attend_tell,
    "hard": lambda *sizes, **more: models.show_attend_tell(
        *sizes, attention="hard", **more
    ),
    "hard_expected": lambda *sizes, **more: models.show_attend_tell(
        *sizes, attention="hard", outside_training="expected", **more
    ),
    "transformer": models.transformer_captioner,
}
every_family = pytest.mark.parametrize("family", sorted(FAMILIES))


def make(family, **more):
    model = FAMILIES[family](V, D, preset="test", **more)
    rng = np.random.default_rng(3)
    model.set_weights(
        [
            w + 0.3 * rng.normal(size=w.shape)
            if np.issubdtype(w.dtype, np.floating)
            else w
            for w in model.get_weights()
        ]
    )
    return model


def call(model, features=FEATURES, target=TARGET, **arguments):
    inputs = {"features": features, "target_ids": target}
    return to_numpy(model(inputs, **arguments))


def decoder_weights(layer):
    own = layer.c, layer.w_a, layer.u_a, layer.v_a, layer.w_beta, layer.b_beta
    cell = layer.cell
    own += cell.kernel, cell.recurrent_kernel, cell.bias
    return [to_numpy(w) for w in own]


@every_family
@pytest.mark.parametrize("tied", [False, True])
def test_logits_match_the_paper(family, tied):
    model = make(family, tie_embeddings=tied)
    got, weights = call(model), weights_of(model)
    if family == "soft" or family.startswith("hard"):
        weights["decoder"] = decoder_weights(model.decoder)
    for row, t in enumerate([5, 3, 4]):
        a, target = FEATURES[row], TARGET[row, :t]
        if family == "bottleneck":
            want = oracle.show_and_tell(a, target, weights)
        elif family == "transformer":
            want = oracle.transformer_captioner(a, target, weights)
        else:
            places = "likeliest" if family == "hard" else None
            want, _ = oracle.show_attend_tell(a, target, weights, places)
        np.testing.assert_allclose(got[row, :t], want, rtol=1e-4, atol=1e-4)


@every_family
@pytest.mark.parametrize("max_length", [None, 6])
def test_steps_equal_one_call_and_look_where_it_looks(family, max_length):
    model = make(family)
    steps, looked, states = by_steps(model, FEATURES, TARGET, max_length)
    np.testing.assert_allclose(steps[REAL], call(model)[REAL], atol=1e-5)
    if family == "bottleneck":
        assert looked == {}
        return
    inputs = {"features": FEATURES, "target_ids": TARGET}
    _, whole = explain.attention_model(model)(inputs)
    assert looked.keys() == {n for n in whole if "self_attention" not in n}
    for name, weights in looked.items():
        assert weights.shape[2:] == (5, N)
        got = np.moveaxis(weights, 2, 1)[REAL]
        want = np.moveaxis(to_numpy(whole[name]), 2, 1)[REAL]
        np.testing.assert_allclose(got, want, atol=1e-5)
        np.testing.assert_allclose(got.sum(-1), 1.0, atol=1e-5)
    for name, tensor in states[0].items():
        if N in tuple(tensor.shape[1:]):  # made from the image, and kept
            assert all(state[name] is tensor for state in states)


@every_family
def test_the_future_is_not_heard_and_the_image_is(family):
    model = make(family)
    before = call(model)
    other = TARGET.copy()
    other[:, 2] = 27
    assert (call(model, target=other)[:, :2] == before[:, :2]).all()
    assert (call(model, FEATURES * 1.5) != before).any(axis=-1)[REAL].all()


@every_family
def test_gradient_reaches_every_weight(family):
    model = make(family)

    def squares(features, target):
        inputs = {"features": features, "target_ids": target}
        return ops.square(model(inputs))

    found = weight_gradients(model, squares, FEATURES, TARGET)
    for weight, gradient in zip(model.trainable_weights, found, strict=True):
        looks = weight.path.split("/")[-1] in ("w_a", "u_a", "v_a")
        if weight.path.endswith("key/bias") or (family == "hard" and looks):
            continue  # of no effect; and what only the objective can teach
        assert np.abs(gradient).max() > 1e-6, weight.path


@every_family
@pytest.mark.tensorflow
def test_beam_search_drives_it(family):
    model = make(family)
    found = decoding.beam_search(
        model.stepper(),
        model.start(FEATURES),
        np.full((3,), 2, "int32"),
        3,
        6,
        beam_size=3,
        length_penalty=0.0,
        n_best=2,
    )
    scores, ids, lengths = (
        to_numpy(x) for x in (found.scores, found.token_ids, found.lengths)
    )
    assert scores.shape == (3, 2) and (np.diff(scores) <= 0).all()
    # The score is the log-probability that one call gives to these tokens.
    for row, best in np.ndindex(3, 2):
        said = ids[row, best, : lengths[row, best]]
        read = np.concatenate([[2], said[:-1]])[None].astype("int32")
        logits = call(model, FEATURES[row : row + 1], read)[0]
        logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        want = logs[np.arange(len(said)), said].sum()
        np.testing.assert_allclose(scores[row, best], want, atol=1e-3)


@every_family
def test_a_saved_model_answers_the_same(family, tmp_path):
    model = make(family, name="painter")
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    assert again.get_config() == model.get_config()
    np.testing.assert_array_equal(call(again), call(model))


@every_family
def test_half_precision_stays_close(family):
    full, half = make(family), make(family, dtype="mixed_bfloat16")
    half.set_weights(full.get_weights())
    steps, _, _ = by_steps(half, FEATURES, TARGET)
    got, want = call(half), call(full)
    assert got.dtype == steps.dtype == np.float32
    if family != "hard":  # which may see another place as the likeliest
        scale = np.abs(want).max()
        np.testing.assert_allclose(got[REAL], want[REAL], atol=0.05 * scale)


def test_the_penalty_is_that_of_the_paper_and_padding_does_not_count():
    model = make("soft", penalty=0.7)
    call(model)
    weights = weights_of(model)
    weights["decoder"] = decoder_weights(model.decoder)
    want = []
    for row, t in enumerate([5, 3, 4]):
        _, alpha = oracle.show_attend_tell(
            FEATURES[row], TARGET[row, :t], weights
        )
        want.append(((1 - alpha.sum(axis=0)) ** 2).sum())
    (loss,) = model.losses
    np.testing.assert_allclose(to_numpy(loss), 0.7 * np.mean(want), rtol=1e-4)
    quiet = make("soft")
    call(quiet)
    assert not quiet.losses


def test_bad_settings_are_named():
    with pytest.raises(ValueError, match="`attention`.*Received.*'loud'"):
        models.show_attend_tell(V, D, "test", attention="loud")
    with pytest.raises(ValueError, match="`outside_training`.*'drawn'"):
        models.show_attend_tell(
            V, D, "test", attention="hard", outside_training="drawn"
        )
    with pytest.raises(ValueError, match="`penalty`.*Received: penalty=-1"):
        models.show_attend_tell(V, D, "test", penalty=-1)
    with pytest.raises(ValueError, match="`model` must.*which has 0"):
        inputs = {"features": FEATURES, "target_ids": TARGET}
        models.draw_locations(make("soft"), inputs)
