"""RNNSearch against its papers; its laws are in test_encoder_decoders."""

import numpy as np
import pytest

from keras_seq import explain
from keras_seq.models import RNN_SEARCH_PRESETS, rnn_search
from tests.models.sentences import (
    SOURCE,
    TARGET,
    V,
    call,
    to_numpy,
    weights_of,
)
from tests.oracles import seq2seq as oracle


def scattered(**settings):
    sizes = {"embedding_dim": 13, "hidden_dim": 11, "attention_dim": 17}
    model = rnn_search(V, "test", **{**sizes, **settings})
    rng = np.random.default_rng(5)
    model.set_weights(
        [rng.normal(size=w.shape) * 0.4 for w in model.get_weights()]
    )
    return model


@pytest.mark.parametrize("score", ["additive", "dot", "general"])
@pytest.mark.parametrize("tied", [False, True])
def test_logits_and_attention_match_the_papers(score, tied):
    model = scattered(score=score, tie_embeddings=tied)
    logits = call(model, SOURCE, TARGET)
    inputs = {"source_ids": SOURCE, "target_ids": TARGET}
    _, attention = explain.attention_model(model)(inputs)
    (name, weights), *others = attention.items()
    assert name == ("decoder" if score == "additive" else "attention")
    assert not others
    weights = to_numpy(weights)
    assert weights.shape == (3, 1, 5, 7)
    for row, (s, t) in enumerate([(7, 5), (2, 3), (4, 4)]):
        want, want_weights = oracle.rnn_search_logits(
            SOURCE[row, :s], TARGET[row, :t], weights_of(model), score
        )
        np.testing.assert_allclose(logits[row, :t], want, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(
            weights[row, 0, :t, :s], want_weights, atol=1e-5
        )


def test_presets_and_overrides_reach_the_layers():
    assert set(RNN_SEARCH_PRESETS) == {"test", "tiny", "small", "paper"}
    model = rnn_search(V, "tiny", attention_dim=5)
    assert model.get_layer("decoder").attention_units == 5
    assert model.get_layer("encoder").forward_layer.units == 128
    paper = RNN_SEARCH_PRESETS["paper"]
    assert (paper["embedding_dim"], paper["hidden_dim"]) == (620, 1000)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"preset": "base"}, "`preset`.*'paper'.*Received: 'base'"),
        ({"units": 3}, "`overrides`.*'hidden_dim'.*Received: units=3"),
        ({"score": "cosine"}, "`score`.*'general'.*score='cosine'"),
        ({"attention_dim": 0}, "`attention_dim`.*attention_dim=0"),
        ({"vocabulary_size": 0}, "`vocabulary_size`.*vocabulary_size=0"),
    ],
)
def test_bad_settings_are_named(arguments, message):
    settings = {"vocabulary_size": V, "preset": "test", **arguments}
    with pytest.raises(ValueError, match=message):
        rnn_search(**settings)
