"""A text as the set of the letter runs in its words."""

import keras
import numpy as np
from keras import ops

from keras_seq.layers.argument_checks import check_count
from keras_seq.layers.ngram_bag import NgramBag
from keras_seq.ops.ngrams import ngram_keys

# How many tokens to spell together.
CHUNK = 1024


@keras.saving.register_keras_serializable(package="keras_seq")
class SpellingBag(NgramBag):
    r"""Sum over the known letter runs of a text, each counted once.

    `NgramBag` with letters in the place of tokens: $G$ is the set of the runs
    of `min_ngram` to `max_ngram` letters inside the words of a text. A word
    that was seen once is made of runs that were seen often: "unfunniest" has
    the "un" of "unwatchable" and the "funn" of "funny".

    The layer reads token ids like any other, and looks up how each is
    spelled; it has to be told once (`learn_spellings`), and then what the
    runs say (`learn_counts`). Before that it gives zeros.

    Differs from fastText (Bojanowski et al., 2017), whose runs have vectors
    that gradients find; these have log-count ratios, see `NgramBag`.

    Shapes:
        token_ids `(B, T)`, 0 is padding -> `(B, units)`.

    Args:
        units: Width of the output, the number of classes.
        vocabulary_size: How many token ids there are.
        num_ngrams: How many runs there is room for.
        max_ngram: Letters in the longest run.
        min_ngram: Letters in the shortest run.
        runs_per_token: How many runs of one token are kept at most, the
            longest first.
        **kwargs: Passed to `NgramBag`.

    Example:
        >>> layer = SpellingBag(units=2, vocabulary_size=8, num_ngrams=99)
        >>> layer.learn_spellings(
        ...     ["", "fun", "funny", "funniest", "dull", "dullest"]
        ... )
        >>> layer.learn_counts([[1], [2], [4]], [1, 1, 0])
        >>> z = layer(ops.convert_to_tensor([[3, 0], [5, 0]]))  # both unseen
        >>> ops.argmax(z, axis=-1).numpy().tolist()
        [1, 0]

    Reference: <https://arxiv.org/abs/1607.04606>
    """

    def __init__(
        self,
        units,
        vocabulary_size,
        num_ngrams,
        max_ngram=6,
        min_ngram=2,
        runs_per_token=64,
        **kwargs,
    ):
        super().__init__(units, num_ngrams, max_ngram, **kwargs)
        check_count("vocabulary_size", vocabulary_size)
        check_count("min_ngram", min_ngram)
        check_count("runs_per_token", runs_per_token)
        if min_ngram > max_ngram:
            raise ValueError(
                f"`min_ngram` must be at most max_ngram={max_ngram}. "
                f"Received: min_ngram={min_ngram}"
            )
        self.vocabulary_size = vocabulary_size
        self.min_ngram = min_ngram
        self.runs_per_token = runs_per_token

    def build(self, token_ids_shape=None):
        super().build(token_ids_shape)
        self.spellings = self.add_weight(
            name="spellings",
            shape=(self.vocabulary_size, self.runs_per_token),
            initializer="zeros",
            dtype="int32",
            trainable=False,
        )

    def find_keys(self, token_ids):
        """Return the keys of the runs of each text, 0 where there is none.

        Shapes:
            token_ids `(B, T)` -> int32 `(B, T * runs_per_token)`.
        """
        token_ids = ops.convert_to_tensor(token_ids)
        keys = ops.take(self.spellings, token_ids, axis=0)  # (B, T, runs)
        batch, length = ops.shape(token_ids)
        return ops.reshape(keys, (batch, length * self.runs_per_token))

    def learn_spellings(self, tokens):
        """Tell the layer how its tokens are written.

        A space is a letter like others: " fun " has the runs " f" and "n ",
        which tell the beginning and the end of a word from its middle.

        Args:
            tokens: Strings, in the order of their ids, the first of which is
                padding. An empty string has no runs, nor has an id past the
                last.
        """
        tokens = list(tokens)
        if len(tokens) > self.vocabulary_size:
            raise ValueError(
                f"`tokens` must be at most {self.vocabulary_size}. "
                f"Received: {len(tokens)}"
            )
        if not self.built:
            self.build()
            self.built = True
        table = np.zeros((self.vocabulary_size, self.runs_per_token), "int32")
        for at in range(0, len(tokens), CHUNK):
            for n, runs in enumerate(self._runs(tokens[at : at + CHUNK])):
                table[at + n, : len(runs)] = runs
        table[0] = 0
        self.spellings.assign(table)

    def _runs(self, tokens):
        """Yield the keys of the runs of each token, the longest first."""
        # A run that begins later would not be kept.
        tokens = [
            token[: self.runs_per_token + self.max_ngram] for token in tokens
        ]
        letters = np.zeros((len(tokens), max(map(len, tokens))), "int32")
        for n, token in enumerate(tokens):
            letters[n, : len(token)] = [ord(letter) for letter in token]
        keys = ops.convert_to_numpy(ngram_keys(letters, self.max_ngram))
        for by_place in keys[:, :, self.min_ngram - 1 :]:  # (letters, sizes)
            runs = by_place.T[::-1].ravel()
            yield runs[runs != 0][: self.runs_per_token]

    def get_config(self):
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "min_ngram": self.min_ngram,
            "runs_per_token": self.runs_per_token,
        }
