"""The Transformer (Vaswani et al., 2017)."""

import keras
from keras import ops

from keras_seq.layers.dropout import Dropout
from keras_seq.layers.layer_norm import LayerNorm
from keras_seq.layers.sinusoidal_positions import SinusoidalPositions
from keras_seq.layers.transformer_decoder import TransformerDecoder
from keras_seq.layers.transformer_encoder import TransformerEncoder
from keras_seq.models.encoder_decoder import (
    EncoderDecoder,
    check_settings,
    choose_settings,
    embeddings,
    policy_of,
    symbolic_inputs,
)
from keras_seq.models.position_shift import PositionShift
from keras_seq.models.transformer_steps import TransformerSteps, start_steps

# How the model knows the order of tokens.
POSITIONS = ("sinusoidal", "rotary", "both")


def _preset(width, between, heads, layers, dropout=0.1):
    return {
        "hidden_dim": width,
        "intermediate_dim": between,
        "num_heads": heads,
        "num_encoder_layers": layers,
        "num_decoder_layers": layers,
        "dropout": dropout,
        "attention_dropout": 0.0,
        "activation": "relu",
        "normalize_first": False,
        "tie_embeddings": True,
        "positions": "sinusoidal",
        "max_shift": 0,
    }


TRANSFORMER_PRESETS = {
    "test": _preset(12, 20, heads=3, layers=2),
    "tiny": _preset(128, 512, heads=4, layers=3),
    "small": _preset(256, 1024, heads=4, layers=3),
    "base": _preset(512, 2048, heads=8, layers=6),
    "big": _preset(1024, 4096, heads=16, layers=6, dropout=0.3),
}


def transformer(vocabulary_size, preset="small", **overrides):
    """Return a `Transformer`, not compiled.

    Args:
        vocabulary_size: How many ids there are, of source and target alike.
        preset: A name in `TRANSFORMER_PRESETS`: "base" and "big" are the
            paper's, "small" and "tiny" train on a laptop, "test" is for tests.
        **overrides: Settings that replace the preset's, or `dtype` and
            `name`; see `Transformer`.

    Example:
        >>> import numpy as np
        >>> model = transformer(vocabulary_size=50, preset="test")
        >>> ids = np.array([[7, 3, 9, 0]]), np.array([[2, 8, 5]])
        >>> logits = model({"source_ids": ids[0], "target_ids": ids[1]})
        >>> tuple(logits.shape)
        (1, 3, 50)
    """
    settings = choose_settings(TRANSFORMER_PRESETS, preset, overrides)
    return Transformer(vocabulary_size, **settings)


@keras.saving.register_keras_serializable(package="keras_seq")
class Transformer(EncoderDecoder):
    r"""Attention instead of recurrence, on both sides.

    With $E$ the table of embeddings and $PE$ the sinusoidal positions:

    $$ x_s = \sqrt{D}\,E_{source_s} + PE_s, \quad
       h = \mathrm{encoder}_N(\cdots \mathrm{encoder}_1(x)), $$
    $$ y_t = \sqrt{D}\,E_{target_t} + PE_t, \quad
       o = \mathrm{decoder}_N(\cdots \mathrm{decoder}_1(y, h), h), \quad
       logits_t = o_t E^\top. $$

    The layers are named `token_embedding` (untied: `source_embedding` and
    `target_embedding`), `encoder_1`, ..., `decoder_1`, ...; attention goes by
    `encoder_1/self_attention`, `decoder_1/self_attention`,
    `decoder_1/cross_attention`.

    Differs from the paper: with `normalize_first` each block normalizes what
    enters its sub-layers, and a last normalization stands at the end of each
    side. As there, attention weights are not dropped unless
    `attention_dropout` says so.

    Shapes and masking: see `EncoderDecoder`.

    Args:
        vocabulary_size: V, of source and target alike.
        hidden_dim: D, the width of all layers.
        intermediate_dim: Width of the feed-forward networks.
        num_heads: Heads of each attention; must divide `hidden_dim`.
        num_encoder_layers: N of the encoder.
        num_decoder_layers: N of the decoder.
        dropout: Share to drop of embeddings and of what each sub-layer adds.
        attention_dropout: Share of the attention weights to drop.
        activation: Of the feed-forward networks.
        normalize_first: Pre-norm instead of the paper's post-norm.
        tie_embeddings: Whether source, target and logits share one table, or
            have three.
        positions: "sinusoidal", the paper's; "rotary": self-attention turns
            queries and keys by their positions (Su et al., 2021), and sees
            distances alone; nothing is added to $E$; or "both". Heads that
            turn have an even width.
        max_shift: In training, the sinusoids of a pair of sentences begin
            anywhere up to this position (see `PositionShift`), so that longer
            sentences than it learns from are not strange to the model.
        dtype: Dtype or policy of all layers; logits are float32 either way.
        name: Of the model.
        **kwargs: Passed to `keras.Model`.

    Reference: <https://arxiv.org/abs/1706.03762>
    """

    def __init__(
        self,
        vocabulary_size,
        hidden_dim,
        intermediate_dim,
        num_heads,
        num_encoder_layers,
        num_decoder_layers,
        dropout=0.1,
        attention_dropout=0.0,
        activation="relu",
        normalize_first=False,
        tie_embeddings=True,
        positions="sinusoidal",
        max_shift=0,
        dtype=None,
        name="transformer",
        **kwargs,
    ):
        counts = {
            "vocabulary_size": vocabulary_size,
            "hidden_dim": hidden_dim,
            "intermediate_dim": intermediate_dim,
            "num_heads": num_heads,
            "num_encoder_layers": num_encoder_layers,
            "num_decoder_layers": num_decoder_layers,
        }
        shares = {"dropout": dropout, "attention_dropout": attention_dropout}
        check_settings(counts, shares)
        _check_positions(positions, max_shift, hidden_dim, num_heads)
        policy = policy_of(dtype)

        # === Layers ===
        block = {
            "intermediate_dim": intermediate_dim,
            "num_heads": num_heads,
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            # Sentences are short: one path to trace, in half the time.
            "flash_attention": False,
            "activation": activation,
            "normalize_first": normalize_first,
            "rotary": positions != "sinusoidal",
            "dtype": policy,
        }

        def rest(side, Block, count):
            blocks = [
                Block(**block, name=f"{side}_{n}") for n in range(1, count + 1)
            ]
            norm = None
            if normalize_first:
                norm = LayerNorm(
                    epsilon=1e-5, dtype=policy, name=f"{side}_norm"
                )
            drop = Dropout(dropout, dtype=policy, name=f"{side}_dropout")
            place = None
            if positions != "rotary":
                place = SinusoidalPositions(
                    dtype=policy, name=f"{side}_positions"
                )
            return place, drop, blocks, norm

        source_embedding, target_embedding = embeddings(
            vocabulary_size, hidden_dim, tie_embeddings, policy
        )
        encoder = rest("encoder", TransformerEncoder, num_encoder_layers)
        decoder = rest("decoder", TransformerDecoder, num_decoder_layers)

        # === Functional model ===
        inputs = symbolic_inputs()
        ids = inputs["source_ids"], inputs["target_ids"]
        places = None, None
        if max_shift:
            shift = PositionShift(max_shift, name="position_shift")
            places = shift(*ids)
        encoded = _through(encoder, source_embedding(ids[0]), places[0])
        x = _through(decoder, target_embedding(ids[1]), places[1], encoded)
        logits = target_embedding(x, reverse=True)

        # === Config ===
        config = {
            **counts,
            **shares,
            "activation": keras.activations.serialize(
                keras.activations.get(activation)
            ),
            "normalize_first": normalize_first,
            "tie_embeddings": tie_embeddings,
            "positions": positions,
            "max_shift": max_shift,
            "dtype": policy,
        }
        super().__init__(inputs, logits, config, name=name, **kwargs)
        self.source_embedding = source_embedding
        self.target_embedding = target_embedding
        self._encoder, self._decoder = encoder, decoder

    # === Step by step ===

    def start(self, source_ids, max_length=None):
        source_ids = ops.convert_to_tensor(source_ids)
        return start_steps(
            self._decoder[2],
            _through(self._encoder, self.source_embedding(source_ids)),
            ops.not_equal(source_ids, 0),
            max_length,
        )

    def stepper(self):
        place, _, blocks, norm = self._decoder
        return TransformerSteps(
            self.target_embedding, blocks, norm, place is not None
        )

    def step(self, token_ids, state):
        return self.stepper()(token_ids, state)


def _through(side, x, places=None, *memory):
    """Return what one side makes of embeddings `(B, T, D)`."""
    place, drop, blocks, norm = side
    x = drop(x if place is None else place(x, positions=places))
    for layer in blocks:
        x = layer(x, *memory)
    return x if norm is None else norm(x)


def _check_positions(positions, max_shift, hidden_dim, num_heads):
    if positions not in POSITIONS:
        raise ValueError(
            f"`positions` must be one of {POSITIONS}. Received: {positions!r}"
        )
    if not isinstance(max_shift, int) or max_shift < 0:
        raise ValueError(
            "`max_shift` must be 0 or a positive integer. Received: "
            f"max_shift={max_shift}"
        )
    if positions == "rotary" and max_shift:
        raise ValueError(
            '`max_shift` must be 0 when `positions` is "rotary": there is '
            f"nothing to shift. Received: max_shift={max_shift}"
        )
    if positions != "sinusoidal" and hidden_dim // num_heads % 2:
        raise ValueError(
            "`hidden_dim` must give each head an even width when `positions` "
            f'is "{positions}". Received: hidden_dim={hidden_dim}, '
            f"num_heads={num_heads}"
        )
