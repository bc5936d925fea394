"""Captions scored as the field does it: BLEU, CIDEr, ROUGE-L, METEOR."""

import statistics

from keras_seq.tasks.caption_bleu import brevity_penalty, caption_bleu
from keras_seq.tasks.caption_words import caption_words
from keras_seq.tasks.cider import cider
from keras_seq.tasks.meteor import find_meteor, meteor
from keras_seq.tasks.rouge_l import rouge_l


def captioning_scores(
    predictions, references, use_meteor=True
) -> dict[str, float]:
    """Return the scores of the COCO evaluation, in percent, as papers do.

    Captions are cut into words by the rules of that evaluation: small letters,
    no punctuation (`caption_words`).

    Args:
        predictions: N captions, one for each picture.
        references: For each a list of one or more right captions.
        use_meteor: Whether to score METEOR too, where there is Java and the
            package of the extra `[meteor]`; that takes at least ten seconds.

    Returns:
        `bleu_1`, `bleu_2`, `bleu_3`, `bleu_4` and `rouge_l`, 0 to 100;
        `brevity_penalty`, 0 to 1, which some papers leave out of BLEU: divide
        by it to compare; `cider` (CIDEr-D), 0 to 1000, of which 100 is good;
        and `meteor`, 0 to 100, if it could be scored.

    Example:
        >>> right = [["A red cup.", "The cup is red."], ["Two dogs run."]]
        >>> scores = captioning_scores(
        ...     ["a red cup", "two dogs run"], right, use_meteor=False)
        >>> {name: round(score, 1) for name, score in scores.items()}
        {'bleu_1': 100.0, 'bleu_2': 100.0, 'bleu_3': 100.0, 'bleu_4': 0.0,
         'brevity_penalty': 1.0, 'cider': 598.1, 'rouge_l': 100.0}
    """
    predictions, references = list(predictions), list(references)
    if len(predictions) != len(references) or not predictions:
        raise ValueError(
            "`predictions` and `references` must have one entry for each "
            "picture, and at least one. "
            f"Received: {len(predictions)} and {len(references)}"
        )
    for row, given in enumerate(references):
        if isinstance(given, str) or not len(given):
            raise ValueError(
                f"`references[{row}]` must be a list of right captions. "
                f"Received: {given!r}"
            )
    said = [caption_words(text) for text in predictions]
    right = [[caption_words(text) for text in given] for given in references]
    scores = {
        f"bleu_{n}": 100 * score
        for n, score in enumerate(caption_bleu(said, right), start=1)
    }
    scores["brevity_penalty"] = brevity_penalty(said, right)
    scores["cider"] = 100 * statistics.fmean(cider(said, right))
    scores["rouge_l"] = 100 * statistics.fmean(rouge_l(said, right))
    jar = find_meteor() if use_meteor else None
    if jar is not None:
        scores["meteor"] = 100 * meteor(said, right, jar)
    return scores
