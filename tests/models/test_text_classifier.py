"""Every family of text_classifier: shapes, padding, settings, saving."""

import keras
import numpy as np
import pytest

from keras_seq.models import TEXT_CLASSIFIER_PRESETS, text_classifier

TINY = {
    "embedding_dim": 8,
    "units": 5,
    "attention_units": 3,
    "num_heads": 2,
    "num_ngrams": 199,
    "num_spellings": 211,
}
every_preset = pytest.mark.parametrize(
    "preset", sorted(TEXT_CLASSIFIER_PRESETS)
)


def make(preset, **overrides):
    model = text_classifier(
        29, num_classes=3, preset=preset, **{**TINY, **overrides}
    )
    if "ngrams" in preset:
        bag = model.get_layer("ngram_bag")
        bag.learn_counts([[7, 3, 11], [4], [20]], [0, 1, 2])
    if "spelling" in preset:
        bag = model.get_layer("spelling_bag")
        bag.learn_spellings(f" word {n}" * (n > 0) for n in range(29))
        bag.learn_counts([[7, 3, 11], [4], [20]], [0, 1, 2])
    return model


def logits(model, rows):
    return keras.ops.convert_to_numpy(model(np.array(rows, "int32")))


@every_preset
def test_padding_changes_nothing_and_an_empty_row_is_finite(preset):
    model = make(preset)
    short = logits(model, [[7, 3, 11], [5, 5, 2]])
    padded = logits(model, [[7, 3, 11, 0, 0], [5, 5, 2, 0, 0], [0, 0, 0, 0, 0]])
    assert padded.shape == (3, 3) and padded.dtype == np.float32
    np.testing.assert_allclose(short, padded[:2], rtol=1e-4, atol=1e-6)
    assert np.isfinite(padded).all()


@every_preset
def test_every_token_is_heard(preset):
    model = make(preset)
    rows = np.array([[7, 3, 11, 4]])
    before = logits(model, rows)
    for place in range(4):
        other = rows.copy()
        other[0, place] = 20
        assert (logits(model, other) != before).any()


@every_preset
def test_a_saved_model_answers_the_same(preset, tmp_path):
    model = make(preset)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    rows = [[7, 3, 11, 0]]
    np.testing.assert_array_equal(logits(model, rows), logits(again, rows))


def test_ngrams_add_to_what_was_read():
    model = make("ngrams_attention")
    bag, reading = (model.get_layer(n) for n in ("ngram_bag", "reading"))
    parts = keras.Model(model.inputs, [bag.output, reading.output])
    rows = np.array([[7, 3, 2]])
    want = sum(keras.ops.convert_to_numpy(x) for x in parts(rows))
    np.testing.assert_allclose(logits(model, rows), want, rtol=1e-5)
    assert (logits(model, rows) != logits(model, [[3, 7, 2]])).any()


def test_letters_add_to_words():
    model = make("ngrams_spelling")
    names = ("ngram_bag", "reading", "spelling_bag")
    parts = [model.get_layer(name).output for name in names]
    rows = np.array([[7, 3, 2]])
    found = keras.Model(model.inputs, parts)(rows)
    found = [keras.ops.convert_to_numpy(x) for x in found]
    np.testing.assert_allclose(logits(model, rows), sum(found), rtol=1e-5)
    assert all(part.any() for part in found)


def test_layers_have_the_names_that_explain_looks_for():
    names = {layer.name for layer in make("attention").layers}
    assert {"token_embedding", "attention_pooling", "logits"} <= names


def test_overrides_reach_the_layers():
    model = make("gru", num_layers=2, bidirectional=True, pooling="max")
    assert model.get_layer("encoder_2").forward_layer.units == 5
    assert model.get_layer("pooling").mode == "max"
    assert make("bag", embedding_dim=13).get_layer(
        "token_embedding"
    ).embeddings.shape == (29, 13)


def test_dropout_of_whole_tokens_acts_in_training():
    model = make("bag", token_dropout=0.5, dropout=0.0)
    rows = np.full((40, 1), 7)
    out = keras.ops.convert_to_numpy(model(rows, training=True))
    assert len(np.unique(out[:, 0])) == 2  # there, or not


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"preset": "cnn"}, "`preset`.*'bag'.*Received: 'cnn'"),
        ({"width": 3}, "`overrides`.*'units'.*Received: width=3"),
        ({"encoder": "elman"}, "`encoder`.*Received: 'elman'"),
        ({"pooling": "median"}, "`pooling`.*Received: 'median'"),
        ({"preset": "bag", "pooling": "last"}, "recurrent.*encoder=None"),
        ({"attend_to": "verbs"}, "`attend_to`.*Received: 'verbs'"),
        ({"pooling": None}, "`pooling`.*max_ngram=0"),
        ({"vocabulary_size": 1}, "`vocabulary_size`.*Received: 1"),
        ({"num_classes": 1}, "`num_classes`.*Received: 1"),
    ],
)
def test_bad_settings_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        text_classifier(**{"vocabulary_size": 29, **arguments})
