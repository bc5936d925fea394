"""Translation that learns where to look (Bahdanau et al., 2015)."""

import keras
from keras import ops

from keras_seq.layers.attentive_gru import AttentiveGRU
from keras_seq.layers.bidirectional import Bidirectional
from keras_seq.layers.bilinear_attention import BilinearAttention
from keras_seq.layers.dot_product_attention import DotProductAttention
from keras_seq.layers.gru import GRU
from keras_seq.layers.maxout import Maxout
from keras_seq.models.encoder_decoder import (
    EncoderDecoder,
    check_settings,
    choose_settings,
    embeddings,
    policy_of,
    symbolic_inputs,
)

SCORES = ("additive", "dot", "general")


def _preset(width, dropout=0.2, **more):
    return {
        "embedding_dim": width,
        "hidden_dim": width,
        "attention_dim": width,
        "score": "additive",
        "dropout": dropout,
        "tie_embeddings": True,
        **more,
    }


RNN_SEARCH_PRESETS = {
    "test": _preset(12, hidden_dim=10, attention_dim=7),
    "tiny": _preset(128),
    "small": _preset(256),
    "paper": _preset(
        620,
        dropout=0.0,
        hidden_dim=1000,
        attention_dim=1000,
        tie_embeddings=False,
    ),
}


def rnn_search(vocabulary_size, preset="small", **overrides):
    """Return an `RNNSearch`, not compiled.

    Args:
        vocabulary_size: How many ids there are, of source and target alike.
        preset: A name in `RNN_SEARCH_PRESETS`: "paper" has the paper's
            widths, "small" and "tiny" train on a laptop, "test" is for tests.
        **overrides: Settings that replace the preset's, or `dtype` and
            `name`; see `RNNSearch`.

    Example:
        >>> import numpy as np
        >>> model = rnn_search(vocabulary_size=50, preset="test")
        >>> ids = np.array([[7, 3, 9, 0]]), np.array([[2, 8, 5]])
        >>> logits = model({"source_ids": ids[0], "target_ids": ids[1]})
        >>> tuple(logits.shape)
        (1, 3, 50)
    """
    settings = choose_settings(RNN_SEARCH_PRESETS, preset, overrides)
    return RNNSearch(vocabulary_size, **settings)


@keras.saving.register_keras_serializable(package="keras_seq")
class RNNSearch(EncoderDecoder):
    r"""A recurrent decoder that looks at the source before each word.

    The encoder is a bidirectional GRU, $h_j = [\overrightarrow{h}_j;
    \overleftarrow{h}_j]$; the decoder starts from what the encoder knows when
    it is back at the first word, $s_0 = \tanh(W_s \overleftarrow{h}_1)$. With
    $y_t$ the vector of the token that step $t$ reads and $c_t$ the context:

    $$ c_t = \mathrm{attend}(s_{t-1}, h), \quad
       s_t = \mathrm{GRU}(y_t, c_t, s_{t-1}), \quad
       logits_t = W_o\,\mathrm{maxout}(U_o s_t + V_o y_t + C_o c_t). $$

    That is `score="additive"`. With `"dot"` and `"general"` the order is that
    of Luong et al. (2015): $s_t = \mathrm{GRU}(y_t, s_{t-1})$ comes first, and
    looks then, $c_t = \mathrm{attend}(s_t, h)$. So all steps look at once, in
    one product, outside of the loop. Their score is
    $s_t^\top h_j$ or $s_t^\top W h_j$; for `"dot"` both must be of one width,
    so there $h_j = \overrightarrow{h}_j + \overleftarrow{h}_j$.

    The layers are named `token_embedding` (untied: `source_embedding` and
    `target_embedding`), `encoder`, `initial_state`, `decoder` and `readout`.
    Attention goes by `decoder`, or `attention` for Luong's.

    Differs from the paper: the readout sees $s_t$, as its equation 4 says, and
    not $s_{t-1}$, as its appendix does; it is as wide as the embeddings, so
    that logits may share their table; gates are those of `AttentiveGRU`.

    Shapes and masking: see `EncoderDecoder`.

    Args:
        vocabulary_size: V, of source and target alike.
        embedding_dim: Width of the embeddings, and of the readout.
        hidden_dim: Width of the decoder's state, and of each direction of the
            encoder's.
        attention_dim: Width of the layer that compares a state with the
            source; for `score="additive"` alone.
        score: "additive" (Bahdanau), "dot" or "general" (Luong).
        dropout: Share to drop of the embeddings, and of the readout.
        tie_embeddings: Whether source, target and logits share one table, or
            have three.
        dtype: Dtype or policy of all layers; logits are float32 either way.
        name: Of the model.
        **kwargs: Passed to `keras.Model`.

    References: <https://arxiv.org/abs/1409.0473>,
    <https://arxiv.org/abs/1508.04025>
    """

    def __init__(
        self,
        vocabulary_size,
        embedding_dim,
        hidden_dim,
        attention_dim,
        score="additive",
        dropout=0.2,
        tie_embeddings=True,
        dtype=None,
        name="rnn_search",
        **kwargs,
    ):
        counts = {
            "vocabulary_size": vocabulary_size,
            "embedding_dim": embedding_dim,
            "hidden_dim": hidden_dim,
            "attention_dim": attention_dim,
        }
        check_settings(counts, {"dropout": dropout})
        if score not in SCORES:
            raise ValueError(
                f"`score` must be one of {SCORES}. Received: score={score!r}"
            )
        policy = policy_of(dtype)

        # === Layers ===
        source_embedding, target_embedding = embeddings(
            vocabulary_size, embedding_dim, tie_embeddings, policy
        )
        drop = {
            side: keras.layers.Dropout(
                dropout, dtype=policy, name=f"{side}_dropout"
            )
            for side in ("encoder", "decoder", "readout")
        }
        encoder = Bidirectional(
            GRU(
                hidden_dim,
                return_sequences=True,
                return_state=True,
                dtype=policy,
                name="gru",
            ),
            merge_mode="sum" if score == "dot" else "concat",
            dtype=policy,
            name="encoder",
        )
        initial_state = keras.layers.Dense(
            hidden_dim, activation="tanh", dtype=policy, name="initial_state"
        )
        looks_first = score == "additive"
        attention = None
        if looks_first:
            decoder = AttentiveGRU(
                hidden_dim, attention_dim, dtype=policy, name="decoder"
            )
        else:
            decoder = GRU(
                hidden_dim, return_sequences=True, dtype=policy, name="decoder"
            )
            Attention, options = {
                "dot": (DotProductAttention, {"scaled": False}),
                "general": (BilinearAttention, {}),
            }[score]
            attention = Attention(**options, dtype=policy, name="attention")
        readout = Maxout(embedding_dim, dtype=policy, name="readout")

        # === Functional model ===
        inputs = symbolic_inputs()
        x = drop["encoder"](source_embedding(inputs["source_ids"]))
        memory, _, backward = encoder(x)
        state = initial_state(backward)
        y = drop["decoder"](target_embedding(inputs["target_ids"]))
        if looks_first:
            states, contexts = decoder(y, memory, initial_state=state)
        else:
            states = decoder(y, initial_state=state)
            contexts = attention(states, memory)
        read = drop["readout"](readout([states, y, contexts]))
        logits = target_embedding(read, reverse=True)

        # === Config ===
        config = {
            **counts,
            "score": score,
            "dropout": dropout,
            "tie_embeddings": tie_embeddings,
            "dtype": policy,
        }
        super().__init__(inputs, logits, config, name=name, **kwargs)
        self.source_embedding = source_embedding
        self.target_embedding = target_embedding
        self.encoder, self.decoder = encoder, decoder
        self.initial_state = initial_state
        self.attention = attention
        self.readout = readout

    # === Step by step ===

    def start(self, source_ids, max_length=None):
        source_ids = ops.convert_to_tensor(source_ids)
        memory, _, backward = self.encoder(self.source_embedding(source_ids))
        state, mask = self.initial_state(backward), ops.not_equal(source_ids, 0)
        if self.attention is None:
            return self.decoder.start(memory, mask, state)
        return {"state": state, "memory": memory, "mask": mask}

    def step(self, token_ids, state):
        y = self.target_embedding(ops.expand_dims(token_ids, 1))
        if self.attention is None:
            hidden, context, state, weights = self.decoder.step(
                ops.squeeze(y, 1), state
            )
            hidden, context = (ops.expand_dims(x, 1) for x in (hidden, context))
            attention = {"decoder": ops.expand_dims(weights, (1, 2))}
        else:
            hidden, _ = self.decoder.cell(ops.squeeze(y, 1), [state["state"]])
            state = {**state, "state": hidden}
            hidden = ops.expand_dims(hidden, 1)
            context, weights = self.attention(
                hidden,
                state["memory"],
                value_mask=state["mask"],
                return_attention_scores=True,
            )
            attention = {"attention": ops.expand_dims(weights, 1)}
        logits = self.target_embedding(
            self.readout([hidden, y, context]), reverse=True
        )
        return ops.squeeze(logits, 1), state, attention
