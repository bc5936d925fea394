"""Sequence to sequence through one vector (Sutskever et al., 2014)."""

import keras
from keras import ops

from keras_seq.layers.lstm import LSTM
from keras_seq.models.encoder_decoder import (
    EncoderDecoder,
    check_settings,
    choose_settings,
    embeddings,
    policy_of,
    symbolic_inputs,
)


def _preset(width, layers, dropout=0.2, **more):
    return {
        "embedding_dim": width,
        "hidden_dim": width,
        "num_layers": layers,
        "reverse_source": True,
        "dropout": dropout,
        "tie_embeddings": False,
        **more,
    }


SEQ2SEQ_PRESETS = {
    "test": _preset(12, 2, hidden_dim=10),
    "tiny": _preset(128, 1),
    "small": _preset(256, 2),
    "paper": _preset(1000, 4, dropout=0.0),
}


def seq2seq(vocabulary_size, preset="small", **overrides):
    """Return a `Seq2Seq`, not compiled.

    Args:
        vocabulary_size: How many ids there are, of source and target alike.
        preset: A name in `SEQ2SEQ_PRESETS`: "paper" is the paper's, "small"
            and "tiny" train on a laptop, "test" is for tests.
        **overrides: Settings that replace the preset's, or `dtype` and
            `name`; see `Seq2Seq`.

    Example:
        >>> import numpy as np
        >>> model = seq2seq(vocabulary_size=50, preset="test")
        >>> ids = np.array([[7, 3, 9, 0]]), np.array([[2, 8, 5]])
        >>> logits = model({"source_ids": ids[0], "target_ids": ids[1]})
        >>> tuple(logits.shape)
        (1, 3, 50)
    """
    settings = choose_settings(SEQ2SEQ_PRESETS, preset, overrides)
    return Seq2Seq(vocabulary_size, **settings)


@keras.saving.register_keras_serializable(package="keras_seq")
class Seq2Seq(EncoderDecoder):
    r"""A stack of LSTMs reads, hands over its state, and another one writes.

    $$ (h^l, c^l) = \mathrm{LSTM}^l_{enc}(x_S, \ldots, x_1), \quad
       o^l_t = \mathrm{LSTM}^l_{dec}(o^{l-1}_t; \text{from } (h^l, c^l)), \quad
       logits_t = W_o\,o^L_t, $$

    with $x$ and $o^0$ the embedded tokens. All that the decoder knows of the
    source is the encoder's last state, one vector however long the sentence:
    the bottleneck that attention opens. The source is read from its end, so
    that its first words, which the translation begins with, are the freshest.

    The layers are named `source_embedding`, `target_embedding` (tied:
    `token_embedding`), `encoder_1`, ..., `decoder_1`, ..., and, where states
    and embeddings differ in width, `readout` between the two.

    Differs from the paper: dropout between the layers (Zaremba et al., 2014).

    Shapes and masking: see `EncoderDecoder`. Padding after the source is
    skipped, and does not come between the sentence and its state.

    Args:
        vocabulary_size: V, of source and target alike.
        embedding_dim: Width of the embeddings.
        hidden_dim: Width of the states.
        num_layers: L, of encoder and decoder alike.
        reverse_source: Whether the encoder reads from the end.
        dropout: Share to drop of what enters each layer, and the logits.
        tie_embeddings: Whether source, target and logits share one table, or
            have three.
        dtype: Dtype or policy of all layers; logits are float32 either way.
        name: Of the model.
        **kwargs: Passed to `keras.Model`.

    Reference: <https://arxiv.org/abs/1409.3215>
    """

    def __init__(
        self,
        vocabulary_size,
        embedding_dim,
        hidden_dim,
        num_layers,
        reverse_source=True,
        dropout=0.2,
        tie_embeddings=False,
        dtype=None,
        name="seq2seq",
        **kwargs,
    ):
        counts = {
            "vocabulary_size": vocabulary_size,
            "embedding_dim": embedding_dim,
            "hidden_dim": hidden_dim,
            "num_layers": num_layers,
        }
        check_settings(counts, {"dropout": dropout})
        policy = policy_of(dtype)

        # === Layers ===
        source_embedding, target_embedding = embeddings(
            vocabulary_size, embedding_dim, tie_embeddings, policy
        )

        def dropped(x, name):
            return keras.layers.Dropout(dropout, dtype=policy, name=name)(x)

        def lstm(name, **options):
            return LSTM(
                hidden_dim,
                return_state=True,
                dtype=policy,
                name=name,
                **options,
            )

        numbers = range(1, num_layers + 1)
        encoders = [
            lstm(
                f"encoder_{n}",
                # Its outputs come in the order they were made, which is the
                # order in which the next layer is to read.
                go_backwards=reverse_source and n == 1,
                return_sequences=n < num_layers,
            )
            for n in numbers
        ]
        decoders = [
            lstm(f"decoder_{n}", return_sequences=True) for n in numbers
        ]
        readout = None
        if hidden_dim != embedding_dim:
            readout = keras.layers.Dense(
                embedding_dim, dtype=policy, name="readout"
            )

        # === Functional model ===
        inputs = symbolic_inputs()
        x, states = source_embedding(inputs["source_ids"]), []
        for layer in encoders:
            x, *state = layer(dropped(x, f"{layer.name}_dropout"))
            states.append(state)
        x = target_embedding(inputs["target_ids"])
        for layer, state in zip(decoders, states, strict=True):
            x = dropped(x, f"{layer.name}_dropout")
            x, *_ = layer(x, initial_state=state)
        logits = _score(dropped(x, "logits_dropout"), readout, target_embedding)

        # === Config ===
        config = {
            **counts,
            "reverse_source": reverse_source,
            "dropout": dropout,
            "tie_embeddings": tie_embeddings,
            "dtype": policy,
        }
        super().__init__(inputs, logits, config, name=name, **kwargs)
        self.source_embedding = source_embedding
        self.target_embedding = target_embedding
        self.encoders, self.decoders = encoders, decoders
        self.readout = readout

    # === Step by step ===

    def start(self, source_ids, max_length=None):
        x = self.source_embedding(ops.convert_to_tensor(source_ids))
        state = {}
        for layer, decoder in zip(self.encoders, self.decoders, strict=True):
            x, *states = layer(x)
            for letter, tensor in zip("hc", states, strict=True):
                state[f"{decoder.name}/{letter}"] = tensor
        return state

    def step(self, token_ids, state):
        x, new = self.target_embedding(ops.expand_dims(token_ids, 1)), {}
        x = ops.squeeze(x, 1)
        for layer in self.decoders:
            names = [f"{layer.name}/{letter}" for letter in "hc"]
            x, states = layer.cell(x, [state[name] for name in names])
            new |= dict(zip(names, states, strict=True))
        return _score(x, self.readout, self.target_embedding), new, {}


def _score(x, readout, embedding):
    x = x if readout is None else readout(x)
    return embedding(x, reverse=True)
