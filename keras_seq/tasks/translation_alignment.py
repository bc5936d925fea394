"""Where a translator looked, graded against gold word alignments."""

import functools

import numpy as np
import tensorflow as tf

from keras_seq import explain
from keras_seq.data import word_spans
from keras_seq.tasks.translator import pad_rows


def alignment_error_rates(
    translator, sources, targets, gold, batch_size=64
) -> np.ndarray:
    """Grade every head of the cross-attention as a word alignment.

    The translator reads the right translation, and each word of it is linked
    to the source word that it looks at most as it is about to be written.

    Args:
        translator: A `Translator`.
        sources: N source sentences.
        targets: Their translations.
        gold: Their `data.Alignment`s.
        batch_size: How many to read at a time.

    Returns:
        `(layers, heads)` alignment error rates; 0 is perfect.
    """
    found = [
        [[explain.hard_alignment(head) for head in heads] for heads in layers]
        for layers in word_attention(translator, sources, targets, batch_size)
    ]
    sure = [alignment.sure for alignment in gold]
    possible = [alignment.possible for alignment in gold]
    layers = len(found[0]) if found else 0
    heads = len(found[0][0]) if layers else 0
    return np.array(
        [
            [
                explain.alignment_error_rate(
                    [row[layer][head] for row in found], sure, possible
                )
                for head in range(heads)
            ]
            for layer in range(layers)
        ]
    )


def best_head(rates) -> list[list[int]]:
    """Return `[[layer, head]]` of the lowest rate."""
    layer, head = np.unravel_index(np.argmin(rates), np.shape(rates))
    return [[int(layer), int(head)]]


def word_attention(translator, sources, targets, batch_size=64):
    """Yield for each pair the attention between words, `(L, H, T, S)`."""
    tokenizer, read = translator.tokenizer, _reader(translator.model)
    for at in range(0, len(sources), batch_size):
        texts = sources[at : at + batch_size], targets[at : at + batch_size]
        source, target = (
            tokenizer.tokenize_with_offsets(list(some)) for some in texts
        )
        weights = read(
            pad_rows([[*row, tokenizer.end_id] for row in _lists(source.ids)]),
            pad_rows(
                [[tokenizer.start_id, *row] for row in _lists(target.ids)]
            ),
        ).numpy()
        spans = [
            [
                list(zip(starts, ends, strict=True))
                for starts, ends in zip(
                    _lists(side.starts), _lists(side.ends), strict=True
                )
            ]
            for side in (source, target)
        ]
        for row, pair in enumerate(zip(*texts, strict=True)):
            of_source, of_target = spans[0][row], spans[1][row]
            tokens = weights[row, ..., : len(of_target), : len(of_source)]
            words = [word_spans(text) for text in pair]
            yield np.array(
                [
                    [
                        explain.merge_subwords(
                            head, of_target, of_source, words[1], words[0]
                        )
                        for head in layer
                    ]
                    for layer in tokens
                ]
            )


@functools.lru_cache(maxsize=2)  # tracing takes longer than reading
def _reader(model):
    """Return a graph from a pair to the cross-attention `(B, L, H, T, S)`."""
    look, crossing = explain.attention_model(model), cross_attentions(model)

    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None), tf.int32, name="source_ids"),
            tf.TensorSpec((None, None), tf.int32, name="target_ids"),
        ],
        autograph=False,
    )
    def read(source_ids, target_ids):
        inputs = {"source_ids": source_ids, "target_ids": target_ids}
        _, weights = look(inputs)
        return tf.stack([weights[name] for name in crossing], axis=1)

    return read


def cross_attentions(model) -> list[str]:
    """Return the names of the attentions to the source, first layer first.

    A model that writes without looking at its source has none.
    """
    token_ids = tf.constant([[4]])
    return list(model.step(token_ids[:, 0], model.start(token_ids))[2])


def _lists(ragged):
    return ragged.to_list()
