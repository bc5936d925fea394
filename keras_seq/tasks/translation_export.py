"""Translation as a SavedModel: text in; text, alternatives, alignment out."""

import numpy as np
import tensorflow as tf

from keras_seq import explain, export
from keras_seq.tasks.translation_alignment import cross_attentions
from keras_seq.tasks.translator import SLACK, STRETCH
from keras_seq.tasks.word_groups import (
    attention_between_words,
    join_words,
    word_of_token,
)

# Asked of every export, live and in the clean process. The last ones are what
# strangers send: another script, nothing, blanks, and bytes that are no text.
GOLDEN_TEXTS = (
    "The black cat sleeps.",
    "I do not know where my keys are, but I will find them.",
    "Do you like red wine?",
    "Где здесь вокзал? 👍",
    "",
    "   ",
    b"caf\xe9 \xff\xfe",
)
GOLDEN_LOOKS = 20  # the most tokens of a golden text that is explained
NONE = -1e9  # the score of a translation that there is not
# Sizes that the compiled search is made for: the next larger one is used.
BATCHES = (1, 4, 16, 32, 64, 128, 256)
LENGTHS = (8, 16, 32, 64, 128)


def translation_signatures(
    translator, beam_size=4, length_penalty=0.6, n_best=4
) -> dict:
    """Return the signatures of a translator, as `tf.function`s by name.

    - `serving_default(text)`: `text`, the translation, and its `score`, the
      log-probability after the length penalty.
    - `n_best(text)`: the best `texts` and their `scores`, best first; where
      there are fewer, the rest is "" with a score of -1e9.
    - `explain(text)`: what `serving_default` says; `source_tokens` and
      `target_tokens`, the latter with the end token; `attention`, from each
      target token to the source tokens, by layer and head; `source_words`,
      `target_words` and `alignment` between them, from `alignment_heads` of
      the settings or the mean of all heads. Rows are padded with "" and 0.
      A model without attention does not have this signature.
    - `from_ids(source_ids)`: `token_ids` and `score`, with no operation on
      text. Sources end with the end token.
    - `fast(text)`: as `serving_default`, from a loop that XLA compiles, once
      for each of a few sizes of batch and length.

    A text without a token has the empty translation and the score 0. Of a
    text that is too long, the beginning is translated.

    Shapes:
        text, score `(B,)`; texts, scores `(B, N)`; source_tokens `(B, S)`,
        target_tokens `(B, T)`, attention `(B, L, H, T, S)`; source_words
        `(B, W)`, target_words `(B, U)`, alignment `(B, U, W)`; source_ids
        `(B, S)`, token_ids `(B, T)`.

    Args:
        translator: A `Translator`.
        beam_size: How many beams; 1 is greedy search.
        length_penalty: As in `decoding.beam_search`.
        n_best: How many alternatives `n_best` gives.
    """
    tokenizer = translator.tokenizer
    text = tf.TensorSpec((None,), tf.string, name="text")
    source_ids = tf.TensorSpec((None, None), tf.int32, name="source_ids")

    def best(ids, max_steps=None):
        found = translator.search(
            ids,
            beam_size=beam_size,
            length_penalty=length_penalty,
            max_steps=max_steps,
        )
        return found.token_ids[:, 0], found.scores[:, 0]

    # One function, which the file holds once for all signatures that call it.
    search = tf.function(best, input_signature=[source_ids], autograph=False)

    @tf.function(input_signature=[text], autograph=False)
    def serving_default(text):
        token_ids, scores = search(translator.encode(text))
        return {"text": tokenizer.detokenize(token_ids), "score": scores}

    @tf.function(input_signature=[text], autograph=False)
    def best_few(text):
        found = translator.search(
            translator.encode(text),
            beam_size=max(beam_size, n_best),
            length_penalty=length_penalty,
            n_best=n_best,
        )
        return {
            "texts": tokenizer.detokenize(found.token_ids),
            # Where there are fewer, JSON has no word for minus infinity.
            "scores": tf.maximum(found.scores, NONE),
        }

    @tf.function(input_signature=[source_ids], autograph=False)
    def from_ids(source_ids):
        known = (source_ids >= 0) & (source_ids < tokenizer.vocabulary_size)
        token_ids, scores = search(
            tf.where(known, source_ids, tokenizer.unknown_id)
        )
        return {"token_ids": token_ids, "score": scores}

    compiled = tf.function(
        lambda ids: best(ids, max_steps=_most_steps(ids)),
        input_signature=[tf.TensorSpec((None, None), tf.int32)],
        autograph=False,
        jit_compile=True,
    )

    @tf.function(input_signature=[text], autograph=False)
    def fast(text):
        ids = translator.encode(text)
        token_ids, scores = compiled(_padded_to_sizes(ids))
        rows = tf.shape(ids)[0]
        return {
            "text": tokenizer.detokenize(token_ids[:rows]),
            "score": scores[:rows],
        }

    signatures = {
        "serving_default": serving_default,
        "n_best": best_few,
        "from_ids": from_ids,
        "fast": fast,
    }
    if cross_attentions(translator.model):
        signatures["explain"] = _explain_signature(translator, search, text)
    return signatures


def export_translation(
    translator,
    folder,
    *,
    card: dict,
    beam_size: int = 4,
    length_penalty: float = 0.6,
    n_best: int = 4,
    only=None,
    texts=GOLDEN_TEXTS,
    version: int | None = None,
    half: bool = False,
):
    """Export a translator, verified; see `export.save`.

    Args:
        translator: A `Translator`.
        folder: The folder of all versions of this model.
        card: `data`, `metrics`, `licence` and `credits` for the model card;
            `task` and the settings of the search are added.
        beam_size: As in `translation_signatures`.
        length_penalty: As in `translation_signatures`.
        n_best: As in `translation_signatures`.
        only: Names of signatures, if not all are wanted.
        texts: The golden questions.
        version: Default: the next one.
        half: Whether to write the weights as float16.

    Returns:
        The version folder.
    """
    signatures = translation_signatures(
        translator, beam_size, length_penalty, n_best
    )
    names = tuple(signatures) if only is None else tuple(only)
    if not names or not set(names) <= set(signatures):
        raise ValueError(
            f"`only` must be names of {list(signatures)}. Received: {only!r}"
        )
    signatures = {name: signatures[name] for name in names}
    ids = translator.encode(list(texts))
    golden = {
        name: {"source_ids": ids} if name == "from_ids" else {"text": texts}
        for name in signatures
    }
    if "explain" in golden:
        golden["explain"] = {"text": _short_ones(texts, ids)}
    return export.save(
        folder,
        signatures,
        tracked=[translator.model, translator.tokenizer],
        card={
            "task": "translation",
            "max_length": translator.max_length,
            "search": {
                "beam_size": beam_size,
                "length_penalty": length_penalty,
                "n_best": n_best,
            },
            **card,
        },
        golden=golden,
        version=version,
        half=half,
    )


def _short_ones(texts, ids):
    """Return texts of few tokens: the card has a weight for each pair."""
    lengths = np.count_nonzero(ids, axis=1)
    few = [t for t, n in zip(texts, lengths, strict=True) if n <= GOLDEN_LOOKS]
    return few or texts


def _explain_signature(translator, search, text):
    tokenizer = translator.tokenizer
    look = explain.attention_model(translator.model)
    crossing = cross_attentions(translator.model)

    @tf.function(input_signature=[text], autograph=False)
    def explain_text(text):
        source_ids = translator.encode(text)
        token_ids, scores = search(source_ids)
        # What each token was chosen by: the decoder read those before it.
        start = tf.fill((tf.shape(token_ids)[0], 1), tokenizer.start_id)
        read = tf.concat([start, token_ids], axis=1)[:, :-1]
        _, weights = look({"source_ids": source_ids, "target_ids": read})
        real = tf.cast(token_ids != tokenizer.pad_id, tf.float32)
        attention = tf.stack([weights[name] for name in crossing], axis=1)
        attention *= real[:, tf.newaxis, tf.newaxis, :, tf.newaxis]
        source, source_words = _tokens_and_words(tokenizer, source_ids)
        target, target_words = _tokens_and_words(tokenizer, token_ids)
        words_of = lambda ids, words: join_words(  # noqa: E731
            ids, words, tokenizer.detokenize
        ).to_tensor("")
        alignment = attention_between_words(
            _of_heads(attention, translator.settings.get("alignment_heads")),
            target_words,
            source_words,
        )
        return {
            "text": tokenizer.detokenize(token_ids),
            "score": scores,
            "source_tokens": _tokens(tokenizer, source_ids),
            "target_tokens": _tokens(tokenizer, token_ids),
            "attention": attention,
            "source_words": words_of(source, source_words),
            "target_words": words_of(target, target_words),
            "alignment": alignment,
        }

    return explain_text


def _tokens(tokenizer, ids):
    """Return the tokens `(B, T)`, "" for padding."""
    return tf.where(ids == tokenizer.pad_id, "", tokenizer.id_to_token(ids))


def _tokens_and_words(tokenizer, ids):
    """Return the ids of text, ragged, and which word each belongs to.

    The end token, which a translation that was cut has not, is no word.
    """
    of_text = (ids != tokenizer.pad_id) & (ids != tokenizer.end_id)
    ids = tf.ragged.boolean_mask(ids, of_text)
    return ids, word_of_token(tokenizer.id_to_token(ids))


def _of_heads(attention, heads):
    """Return the mean `(B, T, S)` of some `[[layer, head], ...]`, or of all."""
    if not heads:
        return tf.reduce_mean(attention, axis=(1, 2))
    chosen = [attention[:, layer, head] for layer, head in heads]
    return tf.add_n(chosen) / len(chosen)


def _most_steps(ids):
    """The most tokens that `Translator.search` lets a translation have."""
    return STRETCH * tf.shape(ids)[1] + SLACK


def _padded_to_sizes(ids):
    """Add rows and columns of padding up to the next of the sizes."""
    rows, columns = (
        _next_size(tf.shape(ids)[axis], sizes)
        for axis, sizes in ((0, BATCHES), (1, LENGTHS))
    )
    missing = [rows - tf.shape(ids)[0], columns - tf.shape(ids)[1]]
    return tf.pad(ids, [[0, missing[0]], [0, missing[1]]])


def _next_size(size, sizes):
    fits = tf.constant(sizes) >= size
    next_one = tf.reduce_min(tf.where(fits, sizes, sizes[-1]))
    # Beyond the largest, the next multiple of it.
    multiple = -(-size // sizes[-1]) * sizes[-1]
    return tf.where(size > sizes[-1], multiple, next_one)
