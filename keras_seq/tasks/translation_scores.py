"""Translations scored as the field does it: sacreBLEU and chrF."""

import numpy as np
import sacrebleu

# Upper ends of the bins of `bleu_by_length`, in words of the source.
LENGTHS = (5, 10, 15, 20, 25, 30)


def corpus_scores(hypotheses, references, lowercase=False) -> dict:
    """Return BLEU and chrF of a corpus, with the signatures to cite.

    Args:
        hypotheses: N translations, as plain text: sacreBLEU tokenizes (13a).
        references: For each a list of one or more right ones.
        lowercase: Whether case counts for nothing.

    Returns:
        `bleu` and `chrf`, 0 to 100; `bleu_signature`, `chrf_signature`;
        `sentences`.

    Example:
        >>> scores = corpus_scores(["Le chat dort ."], [["Le chat dort ."]])
        >>> round(scores["bleu"]), round(scores["chrf"])
        (100, 100)
    """
    hypotheses = list(hypotheses)
    streams = reference_streams(hypotheses, references)
    scores = {}
    for name, metric in (
        ("bleu", sacrebleu.BLEU(lowercase=lowercase)),
        ("chrf", sacrebleu.CHRF(lowercase=lowercase)),
    ):
        score = metric.corpus_score(hypotheses, streams)
        scores[name] = float(score.score)
        scores[f"{name}_signature"] = str(metric.get_signature())
    return {**scores, "sentences": len(hypotheses)}


def reference_streams(hypotheses, references):
    """Return references as sacreBLEU takes them: all first ones, and so on.

    Where a sentence has fewer than others, None stands in.

    >>> reference_streams(["a", "b"], [["c", "d"], ["e"]])
    [['c', 'e'], ['d', None]]
    """
    if len(hypotheses) != len(references):
        raise ValueError(
            "`references` must have as many entries as `hypotheses`. "
            f"Received: {len(references)} and {len(hypotheses)}"
        )
    most = max(map(len, references), default=1)
    return [
        [given[n] if n < len(given) else None for given in references]
        for n in range(most)
    ]


def bleu_by_length(
    sources, hypotheses, references, lengths=LENGTHS, lowercase=False
) -> dict[str, dict]:
    """Return BLEU of short and of long sources apart.

    Args:
        sources: N source sentences; their words are counted.
        hypotheses: Their translations.
        references: As in `corpus_scores`.
        lengths: The most words in each bin; one more bin takes the rest.
        lowercase: As in `corpus_scores`.

    Returns:
        `{"1-5": {"bleu": ..., "sentences": ...}, ...}`; bins without a
        sentence are left out.
    """
    words = np.array([len(source.split()) for source in sources])
    found, least = {}, 1
    for most in (*lengths, None):
        inside = words >= least
        if most is not None:
            inside &= words <= most
        rows = np.flatnonzero(inside)
        if len(rows):
            scores = corpus_scores(
                [hypotheses[row] for row in rows],
                [references[row] for row in rows],
                lowercase,
            )
            label = f"{least}-{most}" if most else f"{least}+"
            found[label] = {"bleu": scores["bleu"], "sentences": len(rows)}
        least = (most or 0) + 1
    return found
