"""The Transformer's decoder block (Vaswani et al., 2017)."""

import keras
from keras import ops

from keras_seq.layers.transformer_block import TransformerBlock, implicit_mask


@keras.saving.register_keras_serializable(package="keras_seq")
class TransformerDecoder(TransformerBlock):
    r"""Causal self-attention, attention to the encoder, feed-forward network.

    $$ y = \mathrm{norm}(x + \mathrm{attention}(x, x_{\le}, x_{\le})), \quad
       z = \mathrm{norm}(y + \mathrm{attention}(y, h, h)), \quad
       o = \mathrm{norm}(z + \mathrm{FFN}(z)), $$

    with $h$ the encoder's output; each norm moves in front of its sub-layer
    with `normalize_first`. Called without `encoder_sequence`, the block is that
    of a language model and has no cross-attention.

    Takes over from `keras_hub.layers.TransformerDecoder` by changing one
    import: same arguments but the caches, and `set_weights(old.get_weights())`
    carries the weights over. Decoding step by step goes through `start` and
    `step`. Differs from it further: scores on request, and `num_heads` must
    divide the width.

    Shapes:
        decoder_sequence `(B, T, D)`, encoder_sequence `(B, S, E)`
        -> `(B, T, D)` and, on request, a dict of weights: `self_attention`
        `(B, H, T, T)` and `cross_attention` `(B, H, T, S)`.

    Masking: `decoder_padding_mask` `(B, T)` and `encoder_padding_mask`
    `(B, S)`, by default the masks that arrive with the inputs;
    `decoder_attention_mask` `(B, T, T)`, `encoder_attention_mask` `(B, T, S)`.
    True means visible.

    Args:
        intermediate_dim: Width of the feed-forward network's hidden layer.
        num_heads: Number of attention heads; must divide the input's width.
        dropout: Share to drop, of attention weights and of what each sub-layer
            adds.
        activation: Activation of the feed-forward network.
        layer_norm_epsilon: Added to the variance in layer normalization.
        kernel_initializer: Initializer of all kernels.
        bias_initializer: Initializer of all biases.
        normalize_first: Whether to normalize what enters a sub-layer (pre-norm)
            and not what leaves the residual sum (post-norm, as in the paper).
        attention_dropout: Share of the attention weights to drop; by default
            as `dropout`. The paper drops none, and 0 is faster.
        flash_attention: As in `MultiHeadAttention`. `False` suits inputs that
            are never long: there is only one path to trace.
        rotary: Whether self-attention turns queries and keys by their
            positions: `True`, or the longest wavelength.
        **kwargs: Passed to `keras.layers.Layer`.

    Example:
        >>> from keras import ops
        >>> layer = TransformerDecoder(intermediate_dim=16, num_heads=2)
        >>> target, source = ops.ones((2, 3, 8)), ops.ones((2, 5, 8))
        >>> tuple(layer(target, source).shape)
        (2, 3, 8)
        >>> state = layer.start(source)
        >>> output, state, attention = layer.step(target[:, :1], state)
        >>> tuple(output.shape), tuple(attention["cross_attention"].shape)
        ((2, 1, 8), (2, 2, 1, 5))

    Reference: <https://arxiv.org/abs/1706.03762>
    """

    def build(self, decoder_sequence_shape, encoder_sequence_shape=None):
        shape = decoder_sequence_shape
        self._check_width(shape)
        # KerasHub's order of weights.
        self.self_attention = self._make_attention(
            "self_attention", shape, shape, self.rotary
        )
        self.self_attention_norm = self._make_norm("self_attention", shape)
        self.self_attention_dropout = self._make_dropout("self_attention")
        self.cross_attention = None
        if encoder_sequence_shape is not None:
            self.cross_attention = self._make_attention(
                "cross_attention", shape, encoder_sequence_shape
            )
            self.cross_attention_norm = self._make_norm(
                "cross_attention", shape
            )
            self.cross_attention_dropout = self._make_dropout("cross_attention")
        self.feed_forward = self._make_feed_forward(shape)
        self.feed_forward_norm = self._make_norm("feed_forward", shape)
        self.feed_forward_dropout = self._make_dropout("feed_forward")

    def call(
        self,
        decoder_sequence,
        encoder_sequence=None,
        decoder_padding_mask=None,
        decoder_attention_mask=None,
        encoder_padding_mask=None,
        encoder_attention_mask=None,
        use_causal_mask=True,
        training=None,
        return_attention_scores=False,
    ):
        self._check_encoder_sequence(encoder_sequence)
        if decoder_padding_mask is None:
            decoder_padding_mask = implicit_mask(decoder_sequence)
        if encoder_padding_mask is None and encoder_sequence is not None:
            encoder_padding_mask = implicit_mask(encoder_sequence)

        def attend(layer, x, value, **arguments):
            output = layer(
                x,
                value,
                return_attention_scores=return_attention_scores,
                training=training,
                **arguments,
            )
            return output if return_attention_scores else (output, None)

        scores = {}
        x, scores["self_attention"] = self._add_and_norm(
            decoder_sequence,
            lambda x: attend(
                self.self_attention,
                x,
                x,
                value_mask=decoder_padding_mask,
                attention_mask=decoder_attention_mask,
                use_causal_mask=use_causal_mask,
            ),
            self.self_attention_norm,
            self.self_attention_dropout,
            training,
        )
        if encoder_sequence is not None:
            x, scores["cross_attention"] = self._add_and_norm(
                x,
                lambda x: attend(
                    self.cross_attention,
                    x,
                    encoder_sequence,
                    value_mask=encoder_padding_mask,
                    attention_mask=encoder_attention_mask,
                ),
                self.cross_attention_norm,
                self.cross_attention_dropout,
                training,
            )
        x = self._feed_forward(x, self.feed_forward_dropout, training)
        return (x, scores) if return_attention_scores else x

    def _feed_forward(self, x, dropout=None, training=None):
        x, _ = self._add_and_norm(
            x,
            lambda x: (self.feed_forward(x, training=training), None),
            self.feed_forward_norm,
            dropout,
            training,
        )
        return x

    def _check_encoder_sequence(self, encoder_sequence):
        has_cross_attention = self.cross_attention is not None
        if has_cross_attention != (encoder_sequence is not None):
            built = "with" if has_cross_attention else "without"
            raise ValueError(
                f"`encoder_sequence` must be given as it was when the layer "
                f"was built: this one was built {built} cross-attention. "
                f"Received: encoder_sequence={encoder_sequence}"
            )

    # === Step by step ===

    def start(
        self,
        encoder_sequence=None,
        encoder_padding_mask=None,
        batch_size=None,
        max_length=None,
    ):
        """Return the state before the first step.

        Args:
            encoder_sequence: `(B, S, E)`; its keys and values are made here,
                once for all steps.
            encoder_padding_mask: `(B, S)`; by default the mask that arrives
                with `encoder_sequence`.
            batch_size: `B`, needed if there is no `encoder_sequence`.
            max_length: Room to reserve, for loops that need fixed shapes. By
                default the state grows with each step.

        Returns:
            A flat dict of tensors with the batch on axis 0.
        """
        if not self.built:
            if encoder_sequence is None:
                raise ValueError(
                    "The layer must be built before `start`. Received: "
                    "built=False; call it once, or `build` it"
                )
            shape = encoder_sequence.shape
            self.build((None, None, shape[-1]), shape)
        self._check_encoder_sequence(encoder_sequence)
        state = {}
        if encoder_sequence is not None:
            if encoder_padding_mask is None:
                encoder_padding_mask = implicit_mask(encoder_sequence)
            memory = self.cross_attention.memory(
                encoder_sequence, value_mask=encoder_padding_mask
            )
            state |= _prefixed("cross_attention", memory)
            batch_size = ops.shape(encoder_sequence)[0]
        if batch_size is None:
            raise ValueError(
                "`batch_size` must be given where there is no "
                "`encoder_sequence`. Received: batch_size=None"
            )
        cache = self.self_attention.empty_cache(batch_size, max_length)
        return state | _prefixed("self_attention", cache)

    def step(self, decoder_sequence, state, decoder_padding_mask=None):
        """Decode the next steps, usually one, after all that came before.

        Args:
            decoder_sequence: `(B, T, D)`, usually `T = 1`.
            state: From `start` or the last `step`.
            decoder_padding_mask: `(B, T)`, False for steps that are padding.

        Returns:
            `(output (B, T, D), state, attention)`; `attention` is a dict of
            `(B, H, T, S)` weights as `call` returns.
        """
        attention = {}

        def look_back(x):
            cache = _unprefixed("self_attention", state)
            output, cache, weights = self.self_attention.step(
                x, cache, decoder_padding_mask
            )
            attention["self_attention"] = weights
            return output, _prefixed("self_attention", cache)

        def look_across(x):
            memory = _unprefixed("cross_attention", state)
            return self.cross_attention.attend_memory(x, memory)

        x, cache = self._add_and_norm(
            decoder_sequence, look_back, self.self_attention_norm
        )
        if self.cross_attention is not None:
            x, attention["cross_attention"] = self._add_and_norm(
                x, look_across, self.cross_attention_norm
            )
        return self._feed_forward(x), {**state, **cache}, attention

    def compute_output_spec(
        self,
        decoder_sequence,
        encoder_sequence=None,
        return_attention_scores=False,
        **masks_and_flags,
    ):
        output = keras.KerasTensor(
            decoder_sequence.shape, dtype=self.compute_dtype
        )
        if not return_attention_scores:
            return output
        batch, length, _ = decoder_sequence.shape
        looks_at = {"self_attention": length}
        if encoder_sequence is not None:
            looks_at["cross_attention"] = encoder_sequence.shape[1]
        return output, {
            name: keras.KerasTensor(
                (batch, self.num_heads, length, steps),
                dtype=self.compute_dtype,
            )
            for name, steps in looks_at.items()
        }


def _prefixed(prefix, tensors):
    return {f"{prefix}_{name}": tensor for name, tensor in tensors.items()}


def _unprefixed(prefix, state):
    return {
        name.removeprefix(f"{prefix}_"): tensor
        for name, tensor in state.items()
        if name.startswith(prefix)
    }
