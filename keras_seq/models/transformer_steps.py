"""The Transformer's decoder, one token at a time, in few operations.

A step of one token is small, and its time goes into the number of operations
more than into arithmetic. So what all steps share is made once, outside their
loop: query, key and value are one kernel, and carry the scale of the scores.
Vectors have two axes, `(B, D)`, so that every product is a plain one; keys and
values lie as attention reads them, `(B, H, L, D)`; what hides is added, and
made once for all layers. Rotary positions turn query and key by two products,
with what their kernel gives and with what the same kernel a quarter turn ahead
gives.

The numbers are those of `TransformerDecoder` called on all tokens.
"""

import copy
import math

from keras import ops

from keras_seq.models.decoder_past import first_lineage, past_of
from keras_seq.models.step_logits import StepLogits
from keras_seq.ops.lookup import existing_rows
from keras_seq.ops.masks import HIDDEN
from keras_seq.ops.products import affine
from keras_seq.ops.single_query import attend_from_few


def start_steps(blocks, encoded, source_mask, max_length=None):
    """Return the state before the first step, a flat dict of tensors.

    Args:
        blocks: `TransformerDecoder`s.
        encoded: `(B, S, D)`, what the encoder made of the source.
        source_mask: `(B, S)`, True where there is a token.
        max_length: How many steps there will be, or `None`.
    """
    batch = ops.shape(source_mask)[0]
    seen = ops.expand_dims(ops.expand_dims(source_mask, 1), 1)  # (B, 1, 1, S)
    # Not `seen` transposed: oneDNN complains on stderr about booleans.
    real = ops.expand_dims(ops.expand_dims(source_mask, 1), 3)  # (B, 1, S, 1)
    state = {"source_bias": ops.where(seen, 0.0, HIDDEN)}
    if max_length is not None:
        state["position"] = ops.zeros((batch,), "int32")
    for block in blocks:
        look_back, look_across = block.self_attention, block.cross_attention
        shape = (
            batch,
            look_back.num_heads,
            0 if max_length is None else max_length,
        )
        shape += (look_back.key_dim,)
        key, value = look_across.project_memory(encoded, encoded)
        # Zero where nothing is, so that a source without a token, which gives
        # all its padding the same weight, still says nothing.
        value = ops.where(real, value, 0.0)
        state |= {
            f"{block.name}/self_key": ops.zeros(shape, block.compute_dtype),
            f"{block.name}/self_value": ops.zeros(shape, block.compute_dtype),
            f"{block.name}/cross_key": key,
            f"{block.name}/cross_value": value,
        }
    return state


class TransformerSteps:
    """The function `step` of a Transformer, with its kernels made ready.

    Args:
        embedding: The `TokenEmbedding` of the target.
        blocks: `TransformerDecoder`s.
        norm: The layer normalization after them, or `None`.
    """

    beam_size = 1

    def __init__(self, embedding, blocks, norm, adds_positions=True):
        self.embedding = embedding
        self.blocks = [_Block(block) for block in blocks]
        self.norm = _Norm(norm) if norm is not None else None
        self.logits = StepLogits(embedding)
        self._key = f"{self.blocks[0].name}/self_key"
        self.rotary = blocks[0].rotary
        self.adds_positions = adds_positions

    def __call__(self, token_ids, state):
        past = past_of(state, self._key, self.beam_size)
        x = self.embedding(token_ids)  # (B, D)
        if self.adds_positions:
            x = x + ops.cast(past.encoding(x.shape[-1]), x.dtype)
        turn = self._turn(past) if self.rotary else None
        new, attention = {**state, **past.moved_on}, {}
        for block in self.blocks:
            x, weights = block(x, past, new, turn)
            attention[f"{block.name}/cross_attention"] = weights
        x = x if self.norm is None else self.norm(x)
        return self.logits(x), new, attention

    def _turn(self, past):
        """Return cosines and sines for queries and keys, `(1, 2 H D)`."""
        heads, width = self.blocks[0].num_heads, self.blocks[0].width
        wavelength = 10_000 if self.rotary is True else self.rotary
        return [
            ops.tile(x, (1, 2 * heads)) for x in past.turn(width, wavelength)
        ]

    # === Beams: see `decoding.beam_state` ===

    def for_beams(self, beam_size):
        """Return these steps for `beam_size` hypotheses a row."""
        steps = copy.copy(self)
        steps.beam_size = beam_size
        return steps

    def spread(self, state):
        """Return the state of a batch as that of `B * K` equal hypotheses.

        What was made of the source stays as it is, once a row.
        """
        if self.beam_size == 1:
            return dict(state)
        lineage = first_lineage(state, self._key, self.beam_size)
        return {"lineage": lineage} | {
            name: ops.repeat(x, self.beam_size, axis=2)
            if name.endswith(("/self_key", "/self_value"))
            else x
            for name, x in state.items()
        }

    def reorder(self, state, new_state, parents):
        """Return `new_state`, each hypothesis with the past of its parent."""
        if self.beam_size == 1:
            return new_state
        lineage = existing_rows(new_state["lineage"], parents)
        return {**new_state, "lineage": lineage}


class _Block:
    """A `TransformerDecoder` for vectors `(B, D)`."""

    def __init__(self, block):
        self.name = block.name
        self.dtype = block.compute_dtype
        self.pre_norm = block.normalize_first
        look_back, look_across = block.self_attention, block.cross_attention
        self.num_heads, self.width = look_back.num_heads, look_back.key_dim
        scale = 1.0 / math.sqrt(self.width)
        self.qkv = self._joined(
            (look_back.query_dense, scale),
            (look_back.key_dense, 1.0),
            (look_back.value_dense, 1.0),
        )
        if block.rotary:
            self.qkv = [
                ops.concatenate([w, self._ahead(w)], axis=-1) for w in self.qkv
            ]
        self.back = self._joined((look_back.output_dense, 1.0), rows=2)
        self.query = self._joined((look_across.query_dense, scale))
        self.across = self._joined((look_across.output_dense, 1.0), rows=2)
        ffn = block.feed_forward
        self.activation = ffn.activation
        self.inner = [ops.cast(w, self.dtype) for w in (ffn.w1, ffn.b1)]
        self.outer = [ops.cast(w, self.dtype) for w in (ffn.w2, ffn.b2)]
        self.norms = [
            _Norm(norm)
            for norm in (
                block.self_attention_norm,
                block.cross_attention_norm,
                block.feed_forward_norm,
            )
        ]

    def _joined(self, *projections, rows=1):
        """Return one kernel `(D, E)` and bias `(E,)` of several, scaled.

        Args:
            *projections: Layers, each with a factor.
            rows: How many of a kernel's axes are the input's.
        """
        kernels, biases = [], []
        for layer, factor in projections:
            width = math.prod(layer.kernel.shape[rows:])
            kernel = ops.reshape(
                ops.cast(layer.kernel, self.dtype), (-1, width)
            )
            bias = ops.reshape(ops.cast(layer.bias, self.dtype), (width,))
            kernels.append(kernel * factor if factor != 1.0 else kernel)
            biases.append(bias * factor if factor != 1.0 else bias)
        if len(kernels) == 1:
            return kernels[0], biases[0]
        return ops.concatenate(kernels, axis=1), ops.concatenate(biases)

    def _ahead(self, weight):
        """Return the columns of query and key, turned by a right angle.

        Args:
            weight: Kernel or bias, `(..., 3 H D)`.
        """
        columns = 2 * self.num_heads * self.width
        *rows, _ = weight.shape
        pairs = (*rows, 2 * self.num_heads, 2, self.width // 2)
        first, second = ops.unstack(
            ops.reshape(weight[..., :columns], pairs), 2, -2
        )
        turned = ops.stack([-second, first], axis=-2)
        return ops.reshape(turned, (*rows, columns))

    def __call__(self, x, past, state, turn=None):
        """Return the block's output and attention; write into `state`.

        `turn` has the cosines and sines of rotary positions.
        """

        def key_of(name):
            return f"{self.name}/{name}"

        def look_back(x):
            x = affine(x, *self.qkv)
            x = x if turn is None else self._turned(x, *turn)
            q, k, v = self._heads(x, 3, past.beam_size)
            for name, new in (("self_key", k), ("self_value", v)):
                name = key_of(name)
                state[name] = past.join(state[name], new)
            context, _ = self._attend(
                q,
                state[key_of("self_key")],
                state[key_of("self_value")],
                past.bias,
            )
            return affine(context, *self.back)

        def look_across(x):
            (q,) = self._heads(affine(x, *self.query), 1, past.beam_size)
            context, seen["weights"] = self._attend(
                q,
                state[key_of("cross_key")],
                state[key_of("cross_value")],
                state["source_bias"],
            )
            return affine(context, *self.across)

        def feed_forward(x):
            return affine(self.activation(affine(x, *self.inner)), *self.outer)

        seen = {}
        for sublayer, norm in zip(
            (look_back, look_across, feed_forward), self.norms, strict=True
        ):
            if self.pre_norm:
                x = x + sublayer(norm(x))
            else:
                x = norm(x + sublayer(x))
        # A source without a token is not looked at.
        real = ops.cast(state["source_bias"] > HIDDEN / 2, self.dtype)
        weights = ops.swapaxes(seen["weights"] * real, 1, 2)  # (B, K, H, S)
        # PyTorch cannot tell how many rows have no source to look at.
        rows = (ops.shape(x)[0], self.num_heads, 1, ops.shape(weights)[3])
        return x, ops.reshape(weights, rows)

    def _turned(self, x, cos, sin):
        """`(B, 5 H D)` -> `(B, 3 H D)`: query and key turned, and value."""
        columns = 2 * self.num_heads * self.width
        x, value, ahead = ops.split(x, [columns, 3 * columns // 2], axis=-1)
        x = ops.cast(x, "float32") * cos + ops.cast(ahead, "float32") * sin
        return ops.concatenate([ops.cast(x, self.dtype), value], axis=-1)

    def _heads(self, x, count, beam_size):
        """`(B * K, count * H * D)` -> `count` times `(B, H, K, D)`."""
        if beam_size == 1:
            shape = (-1, count, self.num_heads, 1, self.width)
            return ops.unstack(ops.reshape(x, shape), count, 1)
        shape = (-1, beam_size, count, self.num_heads, self.width)
        x = ops.transpose(ops.reshape(x, shape), (2, 0, 3, 1, 4))
        return ops.unstack(x, count, 0)

    def _attend(self, q, k, v, bias):
        """Return the context, `(B * K, H * D)`, and weights `(B, H, K, S)`."""
        context, weights = attend_from_few(q, k, v, bias)
        if q.shape[2] != 1:
            context = ops.swapaxes(context, 1, 2)
        width = self.num_heads * self.width
        return ops.reshape(context, (-1, width)), weights


class _Norm:
    """A layer normalization for vectors `(B, D)`."""

    def __init__(self, layer):
        self.dtype = layer.compute_dtype
        self.gain, self.shift = (
            ops.cast(w, "float32") for w in (layer.gamma, layer.beta)
        )
        self.epsilon = layer.epsilon

    def __call__(self, x):
        x = ops.cast(x, "float32")
        x = x - ops.mean(x, axis=-1, keepdims=True)
        variance = ops.mean(ops.square(x), axis=-1, keepdims=True)
        x = x * (ops.rsqrt(variance + self.epsilon) * self.gain) + self.shift
        return ops.cast(x, self.dtype)
