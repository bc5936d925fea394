"""What of captioning runs in a graph: pixels, features, words, attention."""

import functools

import keras
import tensorflow as tf

from keras_seq import decoding, explain
from keras_seq.text import Tokenizer
from keras_seq.vision import decode_images

BEAM_SIZE, LENGTH_PENALTY = 4, 0.6


class CaptionGraphs:
    """Base of `Captioner`: all that an exported model does, too.

    Args:
        tokenizer: See `Captioner`, as for the others.
        model: See `Captioner`.
        vision: See `Captioner`.
        image_size: See `Captioner`.
        fit: See `Captioner`.
        max_length: See `Captioner`.
        settings: See `Captioner`.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        model: keras.Model,
        vision: keras.Model,
        image_size=(224, 224),
        fit: str = "stretch",
        max_length: int = 40,
        settings: dict | None = None,
    ):
        vocabulary_size = model.output_shape[-1]
        if vocabulary_size != tokenizer.vocabulary_size:
            raise ValueError(
                "`tokenizer` must have the vocabulary of the model, "
                f"{vocabulary_size} tokens. "
                f"Received: {tokenizer.vocabulary_size}"
            )
        self.image_size = tuple(map(int, image_size))
        _, *grid, width = vision.compute_output_shape((1, *self.image_size, 3))
        feature_dim = model.input["features"].shape[-1]
        if width != feature_dim or len(grid) != 2:
            raise ValueError(
                "`vision` must make a grid of features as wide as the model "
                f"takes them, {feature_dim}. Received: {(*grid, width)}"
            )
        self.grid = tuple(grid)
        self.tokenizer = tokenizer
        self.model = model
        self.vision = vision
        self.fit = fit
        self.max_length = max_length
        self.settings = dict(settings or {})

    def encode_images(self, image_bytes):
        """Return features `(B, h * w, D)` of files `(B,)`."""
        return self.encode_pixels(
            decode_images(image_bytes, self.image_size, self.fit)
        )

    def encode_pixels(self, pixels):
        """Return features `(B, h * w, D)` of pixels `(B, H, W, 3)`."""
        rows, places = tf.shape(pixels)[0], self.grid[0] * self.grid[1]
        # On a CPU a convolution of no pictures returns the shape of its input:
        # then it sees a black one, of which nothing is kept.
        black = tf.zeros((tf.maximum(1 - rows, 0), *self.image_size, 3))
        pixels = tf.concat([tf.cast(pixels, tf.float32), black], axis=0)
        grid = self.vision(pixels, training=False)[:rows]
        return tf.reshape(grid, (rows, places, grid.shape[-1]))

    def search(
        self,
        features,
        beam_size=None,
        length_penalty=None,
        n_best=1,
        max_steps=None,
    ):
        """Return the best captions as `decoding.Decoded`.

        Args:
            features: `(B, h * w, D)`.
            beam_size: 1 is greedy search; by default what the settings say.
            length_penalty: As in `decoding.beam_search`; by default what the
                settings say.
            n_best: How many captions of each picture.
            max_steps: Room to reserve, for a compiled loop; a Python integer.

        Returns:
            `token_ids` `(B, n_best, T)`, `scores` and `lengths`
            `(B, n_best)`.
        """
        beam_size, length_penalty = self.search_settings(
            beam_size, length_penalty
        )
        start = tf.fill(tf.shape(features)[:1], self.tokenizer.start_id)
        return decoding.beam_search(
            self.model.stepper(),
            self.model.start(features, max_length=max_steps),
            start,
            self.tokenizer.end_id,
            self.max_length if max_steps is None else max_steps,
            beam_size=max(beam_size, n_best),
            length_penalty=length_penalty,
            n_best=n_best,
            banned_ids=[self.tokenizer.start_id, self.tokenizer.unknown_id],
            room=max_steps,
        )

    def attend(self, features, token_ids):
        """Return where the model looked before it said each token.

        Shapes:
            features `(B, h * w, D)`, token_ids `(B, T)` as `search` gives
            them -> attention `(B, T, h, w)`, zero where there is padding.
        """
        of_heads = self.attend_heads(features, token_ids)
        heads = self.settings.get("attention_heads")
        if heads:
            chosen = [of_heads[:, layer, head] for layer, head in heads]
            return tf.add_n(chosen) / len(chosen)
        return tf.reduce_mean(of_heads, axis=(1, 2))

    def attend_heads(self, features, token_ids):
        """As `attend`, of every layer and head: `(B, L, H, T, h, w)`."""
        if not self.has_attention:
            raise ValueError(
                "`model` must have attention to be explained. "
                f"Received: {self.model.name!r}, which sees one vector"
            )
        # What each token was chosen by: the decoder read those before it.
        start = tf.fill((tf.shape(token_ids)[0], 1), self.tokenizer.start_id)
        read = tf.concat([start, token_ids], axis=1)[:, :-1]
        look = explain.attention_model(self.model)
        _, weights = look({"features": features, "target_ids": read})
        found = tf.stack([weights[n] for n in self.attentions], axis=1)
        real = tf.cast(token_ids != self.tokenizer.pad_id, found.dtype)
        found *= real[:, tf.newaxis, tf.newaxis, :, tf.newaxis]
        shape = tf.concat([tf.shape(found)[:-1], self.grid], axis=0)
        return tf.cast(tf.reshape(found, shape), tf.float32)

    @property
    def has_attention(self) -> bool:
        """Whether the model looks at places of the picture."""
        return bool(self.attentions)

    def words_of(self, token_ids):
        """Return the tokens that are words `(B, T)`, "" for the others."""
        first = len(self.tokenizer.SPECIAL_TOKENS)
        return tf.where(
            token_ids >= first, self.tokenizer.id_to_token(token_ids), ""
        )

    @functools.cached_property
    def attentions(self) -> tuple[str, ...]:
        """Names of the attentions to the picture, first layer first.

        A model that sees one vector has none.
        """
        width = self.model.input["features"].shape[-1]
        with tf.init_scope():  # asked while a graph is made, too
            state = self.model.start(tf.zeros((1, 1, width)))
            start = tf.constant([self.tokenizer.start_id])
            found = self.model.step(start, state)[2]
        return tuple(found)

    def search_settings(self, beam_size=None, length_penalty=None):
        """Return `(beam_size, length_penalty)`, where None is the default."""
        if beam_size is None:
            beam_size = self.settings.get("beam_size", BEAM_SIZE)
        if length_penalty is None:
            length_penalty = self.settings.get("length_penalty", LENGTH_PENALTY)
        return beam_size, length_penalty
