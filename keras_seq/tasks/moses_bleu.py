"""BLEU of lower-cased Moses tokens, as papers about Multi30k report it."""

import sacrebleu

from keras_seq.export.needed_extra import needed_extra
from keras_seq.tasks.translation_scores import reference_streams


def moses_bleu(hypotheses, references, language) -> dict:
    """Return BLEU after what Moses's scripts do to text, with its signature.

    Both sides are lower-cased, their punctuation is normalized, and they are
    split into tokens, in which `l'homme` is two words. That is how the
    parallel text `lc.norm.tok` of Multi30k was made, by which its papers
    count. For scores that can be compared with all others, use
    `translation_scores.corpus_scores`. Needs the extra [moses].

    Args:
        hypotheses: N translations, as plain text.
        references: For each a list of one or more right ones.
        language: Theirs, such as "fr": its rules of apostrophes and
            abbreviations are used.

    Returns:
        `bleu`, 0 to 100, and `bleu_signature`.

    Example:
        >>> scores = moses_bleu(["L'homme dort."], [["l’homme dort ."]], "fr")
        >>> round(scores["bleu"]), scores["bleu_signature"].split("|")[-1]
        (100, 'moses:lc.norm.tok.fr')
    """
    split = _splitter(language)
    hypotheses = [split(text) for text in hypotheses]
    references = [[split(text) for text in given] for given in references]
    metric = sacrebleu.BLEU(tokenize="none", force=True)
    streams = reference_streams(hypotheses, references)
    score = metric.corpus_score(hypotheses, streams)
    return {
        "bleu": float(score.score),
        "bleu_signature": f"{metric.get_signature()}|moses:lc.norm.tok."
        f"{language}",
    }


def _splitter(language):
    """Return a function from text to tokens with spaces between them."""
    with needed_extra("moses_bleu", "moses", "sacremoses, Moses's tokenizer"):
        from sacremoses import MosesPunctNormalizer, MosesTokenizer
    normalizer = MosesPunctNormalizer(language)
    tokenizer = MosesTokenizer(language)

    def split(text):
        text = normalizer.normalize(text.lower())
        return tokenizer.tokenize(text, return_str=True, escape=False)

    return split
