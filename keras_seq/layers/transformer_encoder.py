"""The Transformer's encoder block (Vaswani et al., 2017)."""

import keras

from keras_seq.layers.transformer_block import TransformerBlock, implicit_mask


@keras.saving.register_keras_serializable(package="keras_seq")
class TransformerEncoder(TransformerBlock):
    r"""Self-attention, then a feed-forward network, each added to its input.

    $$ y = \mathrm{norm}(x + \mathrm{attention}(x, x, x)), \quad
       z = \mathrm{norm}(y + \mathrm{FFN}(y)), $$

    or, with `normalize_first`,
    $y = x + \mathrm{attention}(n, n, n)$ with $n = \mathrm{norm}(x)$, and
    $z = y + \mathrm{FFN}(\mathrm{norm}(y))$.

    Takes over from `keras_hub.layers.TransformerEncoder` by changing one
    import: same arguments, and `set_weights(old.get_weights())` carries the
    weights over. Differs from it: `num_heads` must divide the width, and
    padding that sees nothing stays finite whichever path runs.

    Shapes:
        `(B, T, D)` -> `(B, T, D)` and, on request, weights `(B, H, T, T)`.

    Masking: `padding_mask` `(B, T)`, by default the mask that arrives with the
    input; `attention_mask` `(B, T, T)`. True means visible.

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
        >>> layer = TransformerEncoder(intermediate_dim=16, num_heads=2)
        >>> tuple(layer(ops.ones((2, 5, 8))).shape)
        (2, 5, 8)

    Reference: <https://arxiv.org/abs/1706.03762>
    """

    def build(self, inputs_shape):
        self._check_width(inputs_shape)
        # KerasHub's order of weights.
        self.self_attention = self._make_attention(
            "self_attention", inputs_shape, inputs_shape, self.rotary
        )
        self.self_attention_norm = self._make_norm(
            "self_attention", inputs_shape
        )
        self.self_attention_dropout = self._make_dropout("self_attention")
        self.feed_forward_norm = self._make_norm("feed_forward", inputs_shape)
        self.feed_forward = self._make_feed_forward(inputs_shape)
        self.feed_forward_dropout = self._make_dropout("feed_forward")

    def call(
        self,
        inputs,
        padding_mask=None,
        attention_mask=None,
        training=None,
        return_attention_scores=False,
    ):
        if padding_mask is None:
            padding_mask = implicit_mask(inputs)

        def attend(x):
            output = self.self_attention(
                x,
                x,
                value_mask=padding_mask,
                attention_mask=attention_mask,
                return_attention_scores=return_attention_scores,
                training=training,
            )
            return output if return_attention_scores else (output, None)

        x, scores = self._add_and_norm(
            inputs,
            attend,
            self.self_attention_norm,
            self.self_attention_dropout,
            training,
        )
        x, _ = self._add_and_norm(
            x,
            lambda x: (self.feed_forward(x, training=training), None),
            self.feed_forward_norm,
            self.feed_forward_dropout,
            training,
        )
        return (x, scores) if return_attention_scores else x

    def compute_output_spec(
        self, inputs, return_attention_scores=False, **masks_and_flags
    ):
        output = keras.KerasTensor(inputs.shape, dtype=self.compute_dtype)
        if not return_attention_scores:
            return output
        batch, length, _ = inputs.shape
        scores = keras.KerasTensor(
            (batch, self.num_heads, length, length), dtype=self.compute_dtype
        )
        return output, scores
