"""Translation as a SavedModel: text in; text, alternatives, alignment out."""

import numpy as np
import tensorflow as tf

from keras_seq import export
from keras_seq.tasks.padded_sizes import pad_to_sizes
from keras_seq.tasks.signature_choice import chosen_signatures
from keras_seq.tasks.translation_alignment import cross_attentions
from keras_seq.tasks.translation_looks import translation_looks
from keras_seq.tasks.translator import SLACK, STRETCH

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

    They search with the coverage penalty of the translator's settings.

    - `serving_default(text)`: `text`, the translation, and its `score`, the
      log-probability after the penalties.
    - `n_best(text)`: the best `texts` and their `scores`, best first; where
      there are fewer, the rest is "" with a score of -1e9.
    - `explain(text)`: what `serving_default` says; `source_tokens` and
      `target_tokens`, the latter with the end token; `attention`, from each
      target token to the source tokens, by layer and head; `source_words`,
      `target_words` and `alignment` between them, from `alignment_heads` of
      the settings or the mean of all heads. Rows are padded with "" and 0.
      A model without attention does not have this signature.
    - `from_ids(source_ids)`: `token_ids` and `score`, with no operation on
      text. Sources end with the end token; 0 is padding.
    - `fast(text)`: as `serving_default`, from a loop that XLA compiles, once
      for each of a few sizes of batch and length.

    A text without a token has the empty translation and the score 0. Of a
    source that is too long, as text or as ids, the beginning is translated:
    `translator.max_length` tokens, of which the last is the end token.

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
        ids = _cut_short(source_ids, translator.max_length, tokenizer)
        known = (ids >= 0) & (ids < tokenizer.vocabulary_size)
        token_ids, scores = search(tf.where(known, ids, tokenizer.unknown_id))
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
        token_ids, scores = compiled(pad_to_sizes(ids, BATCHES, LENGTHS))
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
    if not cross_attentions(translator.model):
        return signatures
    looks = translation_looks(translator)

    @tf.function(input_signature=[text], autograph=False)
    def explain_text(text):
        source_ids = translator.encode(text)
        token_ids, scores = search(source_ids)
        return {
            "text": tokenizer.detokenize(token_ids),
            "score": scores,
            **looks(source_ids, token_ids),
        }

    return {**signatures, "explain": explain_text}


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
    signatures = chosen_signatures(
        translation_signatures(translator, beam_size, length_penalty, n_best),
        only,
    )
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
                "coverage_penalty": translator.coverage_penalty,
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


def _most_steps(ids):
    """The most tokens that `Translator.search` lets a translation have."""
    return STRETCH * tf.shape(ids)[1] + SLACK


def _cut_short(ids, max_length, tokenizer):
    """Keep of ids `(B, S)` what is kept of a text that is too long.

    That is its beginning, behind which the end token takes the last place.
    """
    goes_on = tf.reduce_any(
        ids[:, max_length:] != tokenizer.pad_id, axis=1, keepdims=True
    )
    last = ids[:, max_length - 1 : max_length]  # (B, 1), or (B, 0)
    last = tf.where(goes_on, tokenizer.end_id, last)
    return tf.concat([ids[:, : max_length - 1], last], axis=1)
