"""Where an exported translator looked: between tokens, and between words."""

import tensorflow as tf

from keras_seq import explain
from keras_seq.tasks.translation_alignment import cross_attentions
from keras_seq.tasks.word_groups import (
    attention_between_words,
    join_words,
    word_of_token,
)


def translation_looks(translator):
    """Return a function that says where a translator looked. Runs in graph.

    Args:
        translator: A `Translator` of a model that has attention.

    Returns:
        A function of `source_ids` `(B, S)` and of the `token_ids` `(B, T)`
        that were found for them. It returns `source_tokens`, `target_tokens`,
        `attention`, `source_words`, `target_words` and `alignment`, as
        `translation_signatures` describes them.
    """
    tokenizer = translator.tokenizer
    look = explain.attention_model(translator.model)
    crossing = cross_attentions(translator.model)
    heads = translator.settings.get("alignment_heads")

    def looks(source_ids, token_ids):
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
        return {
            "source_tokens": _tokens(tokenizer, source_ids),
            "target_tokens": _tokens(tokenizer, token_ids),
            "attention": attention,
            "source_words": words_of(source, source_words),
            "target_words": words_of(target, target_words),
            "alignment": attention_between_words(
                _of_heads(attention, heads), target_words, source_words
            ),
        }

    return looks


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
