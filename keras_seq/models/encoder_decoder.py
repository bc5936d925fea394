"""What the models that read one sequence and write another have in common."""

import keras

from keras_seq.layers.argument_checks import check_count, check_dropout
from keras_seq.layers.token_embedding import TokenEmbedding


class EncoderDecoder(keras.Model):
    """Base of `Transformer`, `RNNSearch` and `Seq2Seq`: many to many.

    And of `ImageCaptioner`, whose source is an image.

    A functional model, so that `summary()`, `.keras` files,
    `explain.attention_model` and `explain.trace_masks` work on it, which can
    also write one token at a time:

        state = model.start(source_ids)
        logits, state, attention = model.step(token_ids, state)

    Step by step it gives the numbers of one call on all tokens. `step`
    returns what never changes (the encoder's output, keys and values made
    from it, masks) as the very tensors it was given, so that a decoding loop
    can see what it need not carry or reorder.

    Shapes:
        `{"source_ids": (B, S), "target_ids": (B, T)}` int32, 0 is padding,
        targets begin with the start token -> logits `(B, T, V)` float32.

    Masking: id 0 is padding on both sides. A source that is all padding gives
    finite logits.

    Args:
        inputs: As `symbolic_inputs` returns them.
        logits: What the layers made of them.
        config: The constructor's arguments, from which `from_config` makes
            the model anew.
        **kwargs: Passed to `keras.Model`.
    """

    def __init__(self, inputs, logits, config, **kwargs):
        super().__init__(inputs=inputs, outputs=logits, **kwargs)
        self._config = dict(config)

    @property
    def settings(self):
        """The settings of the model, presets and overrides joined."""
        return dict(self._config)

    def start(self, source_ids, max_length=None):
        """Read the source; return the state before the first token.

        Args:
            source_ids: `(B, S)` int32.
            max_length: How many steps there will be at most, for loops that
                need fixed shapes (XLA, JAX). By default what is kept of the
                past grows with each step.

        Returns:
            A flat dict of tensors with the batch on axis 0.
        """
        raise NotImplementedError

    def step(self, token_ids, state):
        """Read one target token; score what may follow it.

        Args:
            token_ids: `(B,)` int32; the start token first.
            state: From `start` or the last `step`.

        Returns:
            `(logits (B, V) float32, state, attention)`; `attention` maps the
            names that `explain.attention_model` gives to `(B, H, 1, S)`.
        """
        raise NotImplementedError

    def stepper(self):
        """Return `step`, with what does not change made ready.

        To be called outside of a loop that will take many steps, in the graph
        that holds the loop, and anew after the weights have changed.
        """
        return self.step

    def get_config(self):
        return {
            **self._config,
            "dtype": keras.dtype_policies.serialize(self._config["dtype"]),
            "name": self.name,
            "trainable": self.trainable,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def symbolic_inputs():
    """Return `{"source_ids": ..., "target_ids": ...}`, to wire layers on."""
    return {
        name: keras.Input((None,), dtype="int32", name=name)
        for name in ("source_ids", "target_ids")
    }


def choose_settings(presets, preset, overrides):
    """Return the settings of a preset with `overrides` in their places.

    Raises:
        ValueError: If there is no such preset, or no such setting.
    """
    if preset not in presets:
        raise ValueError(
            f"`preset` must be one of {sorted(presets)}. Received: {preset!r}"
        )
    known = {*presets[preset], "dtype", "name"}
    for name, value in overrides.items():
        if name not in known:
            raise ValueError(
                f"`overrides` must be among {sorted(known)}. "
                f"Received: {name}={value!r}"
            )
    return {**presets[preset], **overrides}


def check_settings(counts, shares):
    """Raise `ValueError` naming a count or a dropout that cannot be."""
    for name, value in counts.items():
        check_count(name, value)
    for name, value in shares.items():
        check_dropout(value, name)


def policy_of(dtype):
    """Return a dtype policy from a name, a configuration, a policy or None."""
    if dtype is None:
        return keras.config.dtype_policy()
    return keras.dtype_policies.get(dtype)


def embeddings(vocabulary_size, width, tied, policy):
    """Return the layers that embed source and target ids; one, if tied.

    The target's also makes the logits, tied or with a table of its own.
    """

    def embedding(name, **options):
        return TokenEmbedding(
            vocabulary_size, width, dtype=policy, name=name, **options
        )

    if tied:
        return (embedding("token_embedding"),) * 2
    return (
        embedding("source_embedding"),
        embedding("target_embedding", tie_weights=False),
    )
