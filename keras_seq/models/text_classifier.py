"""Many to one: token ids in, one score per class out."""

import keras

from keras_seq.layers.attention_pooling import AttentionPooling
from keras_seq.layers.bidirectional import Bidirectional
from keras_seq.layers.gru import GRU
from keras_seq.layers.lstm import LSTM
from keras_seq.layers.ngram_bag import NgramBag
from keras_seq.layers.sequence_pooling import SequencePooling
from keras_seq.layers.simple_rnn import SimpleRNN
from keras_seq.layers.sinusoidal_positions import SinusoidalPositions
from keras_seq.layers.spelling_bag import SpellingBag
from keras_seq.layers.token_embedding import TokenEmbedding
from keras_seq.layers.transformer_encoder import TransformerEncoder
from keras_seq.models.text_classifier_settings import (
    TEXT_CLASSIFIER_PRESETS as TEXT_CLASSIFIER_PRESETS,
)
from keras_seq.models.text_classifier_settings import classifier_settings

RECURRENT = {"rnn": SimpleRNN, "lstm": LSTM, "gru": GRU}

# With `attend_to="words"`, words learn so many times faster than the encoder
# what they mean. Otherwise the encoder, which reads the verdict off the whole
# text, makes the full stop stand for one class and a comma for the other.
WORD_GAIN = 10.0


def text_classifier(
    vocabulary_size, num_classes=2, preset="attention", **overrides
):
    """Return a functional model from `token_ids` to `logits`.

    Every family has the same frame: embed the tokens, let an encoder mix
    them, pool the steps into one vector, score the classes. The layers are
    named `token_embedding`, `encoder` (`encoder_2`, ...), `pooling` or
    `attention_pooling`, and `logits`. With `max_ngram` a `layers.NgramBag`
    named `ngram_bag` adds its scores; it knows nothing until its
    `learn_counts` was called. With `max_spelling` a `layers.SpellingBag`
    named `spelling_bag` does the same for the letters of the words.

    Shapes:
        token_ids `(B, T)` int32, 0 is padding -> logits `(B, num_classes)`
        float32. A row that is all padding gives finite logits.

    Args:
        vocabulary_size: How many ids there are.
        num_classes: How many classes.
        preset: A name in `TEXT_CLASSIFIER_PRESETS`: "bag" (mean of the
            embeddings), "rnn", "lstm", "gru", "bidirectional" (LSTM),
            "attention" (bidirectional GRU and attention pooling),
            "transformer", "ngrams" (`layers.NgramBag` alone),
            "ngrams_bag" and "ngrams_attention" (with the mean, or attention
            pooling, of embeddings beside it), "ngrams_spelling" (the mean,
            and `layers.SpellingBag`), or "test", which is tiny.
        **overrides: Settings that replace the preset's: `embedding_dim`,
            `encoder` (None, "rnn", "lstm", "gru", "transformer"),
            `bidirectional`, `units` (of the recurrent layer, or of the
            Transformer's feed-forward network), `num_layers`, `num_heads`,
            `pooling` ("attention", "last", "max", "mean", or None for
            n-grams alone), `attend_to` ("states" of the encoder, or "words":
            states only say where to look), `attention_units`, `score_scale`
            (of `layers.AttentionPooling`), `hidden_dim` (a layer after the
            pooling, or 0), `token_dropout` (whole tokens), `dropout` (of
            embeddings, and of what the pooling gives), `max_ngram` (0 for no
            n-grams), `num_ngrams`, `ngram_strength`,
            `ngram_dropout`, `ngram_silence`; `max_spelling` (0 for none),
            `num_spellings`, `spelling_strength`, `spelling_dropout`.

    Returns:
        A `keras.Model`, not compiled.

    Example:
        >>> import numpy as np
        >>> model = text_classifier(vocabulary_size=50, preset="test")
        >>> tuple(model(np.array([[7, 3, 9, 0]])).shape)
        (1, 2)
    """
    settings = classifier_settings(preset, overrides)
    for name, size in (
        ("vocabulary_size", vocabulary_size),
        ("num_classes", num_classes),
    ):
        if size < 2:
            raise ValueError(f"`{name}` must be at least 2. Received: {size}")
    token_ids = keras.Input((None,), dtype="int32", name="token_ids")
    towers = []
    if settings["pooling"] is not None:
        x = _read(token_ids, vocabulary_size, settings)
        x = keras.layers.Dropout(settings["dropout"], name="pooled_dropout")(x)
        counts = settings["max_ngram"] or settings["max_spelling"]
        name = "reading" if counts else "logits"
        towers.append(
            keras.layers.Dense(num_classes, dtype="float32", name=name)(x)
        )
    if settings["max_ngram"]:
        towers.append(_ngrams(num_classes, settings)(token_ids))
    if settings["max_spelling"]:
        towers.append(
            _spelling(vocabulary_size, num_classes, settings)(token_ids)
        )
    logits = towers[0]
    if len(towers) > 1:
        logits = keras.layers.Add(dtype="float32", name="logits")(towers)
    return keras.Model(token_ids, logits, name=f"{preset}_classifier")


def _ngrams(num_classes, settings):
    return NgramBag(
        num_classes,
        settings["num_ngrams"],
        settings["max_ngram"],
        initial_strength=settings["ngram_strength"],
        dropout=settings["ngram_dropout"],
        silence=settings["ngram_silence"],
        dtype="float32",
        name="ngram_bag",
    )


def _spelling(vocabulary_size, num_classes, settings):
    return SpellingBag(
        num_classes,
        vocabulary_size,
        settings["num_spellings"],
        settings["max_spelling"],
        initial_strength=settings["spelling_strength"],
        dropout=settings["spelling_dropout"],
        silence=settings["ngram_silence"],
        dtype="float32",
        name="spelling_bag",
    )


def _read(token_ids, vocabulary_size, settings):
    """Embed, encode and pool: one vector for each text."""
    words = _embed(token_ids, vocabulary_size, settings)
    states = _encode(words, settings)
    x = _pool(words, states, settings)
    if settings["hidden_dim"]:
        x = keras.layers.Dense(
            settings["hidden_dim"], activation="relu", name="hidden"
        )(x)
    return x


def _embed(token_ids, vocabulary_size, settings):
    transforms = settings["encoder"] == "transformer"
    x = TokenEmbedding(
        vocabulary_size,
        settings["embedding_dim"],
        # A Transformer wants vectors as large as the positions that are
        # added to them; others learn faster from small ones.
        scale=transforms,
        embeddings_initializer=None if transforms else "uniform",
        name="token_embedding",
    )(token_ids)
    if transforms:
        x = SinusoidalPositions(name="positions")(x)
    if settings["token_dropout"]:
        x = keras.layers.Dropout(
            settings["token_dropout"], noise_shape=(None, None, 1)
        )(x)
    return keras.layers.Dropout(settings["dropout"])(x)


def _encode(x, settings):
    for n in range(1, settings["num_layers"] + 1):
        name = "encoder" if n == 1 else f"encoder_{n}"
        if settings["encoder"] == "transformer":
            x = TransformerEncoder(
                settings["units"],
                settings["num_heads"],
                dropout=settings["dropout"],
                normalize_first=True,
                name=name,
            )(x)
        elif settings["encoder"] is not None:
            is_last = n == settings["num_layers"]
            layer = RECURRENT[settings["encoder"]](
                settings["units"],
                return_sequences=not (
                    is_last and settings["pooling"] == "last"
                ),
                name=name,
            )
            if settings["bidirectional"]:
                layer = Bidirectional(layer, name=name)
            x = layer(x)
    return x


def _pool(words, states, settings):
    if settings["pooling"] == "last":
        return states
    if settings["pooling"] != "attention":
        return SequencePooling(settings["pooling"], name="pooling")(states)
    pool = AttentionPooling(
        settings["attention_units"],
        score_scale=settings["score_scale"],
        name="attention_pooling",
    )
    if settings["attend_to"] == "states":
        return pool(states)
    louder = keras.layers.Rescaling(WORD_GAIN, name="louder")
    key = keras.layers.Concatenate(name="words_in_context")(
        [louder(words), states]
    )
    return louder(pool(words, key))
