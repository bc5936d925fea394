"""Seq2Seq against its paper; its laws are in test_encoder_decoders."""

import numpy as np
import pytest
from keras import ops

from keras_seq.models import SEQ2SEQ_PRESETS, seq2seq
from tests.models.sentences import SOURCE, TARGET, V, call, weights_of
from tests.oracles import seq2seq as oracle


@pytest.mark.parametrize(
    "settings",
    [
        {"num_layers": 3, "embedding_dim": 13, "hidden_dim": 11},
        {"num_layers": 1, "reverse_source": False, "tie_embeddings": True},
        {"num_layers": 2, "embedding_dim": 7, "hidden_dim": 7},
    ],
)
def test_logits_match_the_paper(settings):
    model = seq2seq(V, "test", **settings)
    rng = np.random.default_rng(5)
    model.set_weights(
        [rng.normal(size=w.shape) * 0.4 for w in model.get_weights()]
    )
    got = call(model, SOURCE, TARGET)
    for row, (s, t) in enumerate([(7, 5), (2, 3), (4, 4)]):
        want = oracle.seq2seq_logits(
            SOURCE[row, :s],
            TARGET[row, :t],
            weights_of(model),
            settings.get("reverse_source", True),
        )
        np.testing.assert_allclose(got[row, :t], want, rtol=1e-4, atol=1e-4)


def test_all_it_hands_over_is_one_vector():
    """However long the source is: the bottleneck."""
    model = seq2seq(V, "test")
    for source in (SOURCE, SOURCE[:, :2]):
        state = model.start(ops.convert_to_tensor(source))
        assert set(state) == {
            "decoder_1/h",
            "decoder_1/c",
            "decoder_2/h",
            "decoder_2/c",
        }
        assert {tuple(x.shape) for x in state.values()} == {(3, 10)}


def test_presets_are_those_of_the_paper_and_smaller_ones():
    assert set(SEQ2SEQ_PRESETS) == {"test", "tiny", "small", "paper"}
    paper = SEQ2SEQ_PRESETS["paper"]
    sizes = ("embedding_dim", "hidden_dim", "num_layers")
    assert [paper[name] for name in sizes] == [1000, 1000, 4]
    names = [layer.name for layer in seq2seq(V, "small").layers]
    assert "decoder_2" in names and "readout" not in names


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"preset": "base"}, "`preset`.*'paper'.*Received: 'base'"),
        ({"units": 3}, "`overrides`.*'hidden_dim'.*Received: units=3"),
        ({"num_layers": 0}, "`num_layers`.*num_layers=0"),
        ({"vocabulary_size": 0}, "`vocabulary_size`.*vocabulary_size=0"),
    ],
)
def test_bad_settings_are_named(arguments, message):
    settings = {"vocabulary_size": V, "preset": "test", **arguments}
    with pytest.raises(ValueError, match=message):
        seq2seq(**settings)
