"""How good a translator is: BLEU, chrF, cross-entropy, and its alignment."""

import tensorflow as tf

from keras_seq import training
from keras_seq.tasks.translation_alignment import alignment_error_rates
from keras_seq.tasks.translation_batches import training_batches
from keras_seq.tasks.translation_data import load_split
from keras_seq.tasks.translation_scores import bleu_by_length, corpus_scores
from keras_seq.tasks.translator import Translator


def evaluate(
    translator,
    data,
    *,
    languages=None,
    data_dir=None,
    split="test",
    beam_size=4,
    length_penalty=0.6,
    coverage_penalty=None,
    lowercase=False,
):
    """Score a translator with sacreBLEU.

    Args:
        translator: A `Translator`.
        data: As in `train`. Files are scored whole, whatever `split` says.
        languages: As in `train`.
        data_dir: As in `train`.
        split: "test", "validation", "train"; the built-in pairs also have
            "long".
        beam_size: As in `Translator.translate`.
        length_penalty: As in `Translator.translate`.
        coverage_penalty: As in `Translator.translate`.
        lowercase: Whether case counts for nothing.

    Returns:
        A dict, see `translation_scores.corpus_scores`; `bleu_by_length`, of
        short and long sources apart; `crossentropy` per target token, in
        nats, where the model is at hand and not only its answers; where the
        data has gold alignments and the model has attention,
        `alignment_error`, of the head that was best on the validation part.
    """
    columns, gold = load_split(data, data_dir, split, languages)
    sources, references = distinct_sources(columns)
    found = translator.translate(
        sources,
        beam_size=beam_size,
        length_penalty=length_penalty,
        coverage_penalty=coverage_penalty,
    )
    scores = corpus_scores(found, references, lowercase=lowercase)
    scores["bleu_by_length"] = bleu_by_length(
        sources, found, references, lowercase=lowercase
    )
    if isinstance(translator, Translator):
        scores["crossentropy"] = token_crossentropy(translator, columns)
    heads = getattr(translator, "settings", {}).get("alignment_heads")
    if gold and heads:
        rates = gold_error_rates(translator, columns, gold)
        scores["alignment_error"] = float(rates[tuple(heads[0])])
    return scores


def token_crossentropy(translator, columns, tokens_per_batch=4096) -> float:
    """Return the mean of -log p(token | source, tokens before), in nats.

    Over all target tokens, ends included; what counts is the model, not how
    it is searched. Pairs longer than the translator reads are left out.

    Args:
        translator: A `Translator`.
        columns: `source` and `target` texts.
        tokens_per_batch: How many to compute with at a time.
    """
    how = {
        "max_length": translator.max_length,
        "tokens_per_batch": tokens_per_batch,
    }
    metric = training.TokenCrossentropy()
    model = tf.function(
        lambda inputs: translator.model(inputs, training=False),
        reduce_retracing=True,
    )
    batches = training_batches(translator, columns, how, shuffle=False)
    for inputs, labels in batches.epoch(0):
        metric.update_state(labels, model(inputs))
    return float(metric.result())


def distinct_sources(columns):
    """Return each source once, with all its translations as references.

    >>> distinct_sources({"source": ["Hi.", "Hi."], "target": ["A", "B"]})
    (['Hi.'], [['A', 'B']])
    """
    references = {}
    pairs = zip(columns["source"], columns["target"], strict=True)
    for source, target in pairs:
        references.setdefault(source, []).append(target)
    return list(references), list(references.values())


def gold_error_rates(translator, columns, gold):
    """Return the alignment error of each head, on the pairs that have gold."""
    known = [row for row, alignment in enumerate(gold) if alignment is not None]
    return alignment_error_rates(
        translator,
        [columns["source"][row] for row in known],
        [columns["target"][row] for row in known],
        [gold[row] for row in known],
    )
