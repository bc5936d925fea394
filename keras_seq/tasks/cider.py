"""CIDEr-D: do the words that only this picture calls for appear?"""

import collections
import math

from keras_seq.tasks.caption_bleu import ngram_counts

_SIGMA = 6.0  # words of difference in length that are forgiven
_LONGEST = 4


def cider(predictions, references) -> list[float]:
    r"""Return the CIDEr-D of each caption, 0 to 10; their mean is the corpus's.

    Vedantam et al. (2015), section 5 and appendix: with $g^n(c)$ the vector of
    a caption's n-grams, each its count times
    $\log N - \log \max(1, \text{pictures whose references have it})$,

    $$ \mathrm{CIDEr\text{-}D}_n(c, S) = \frac{10}{|S|} \sum_{s \in S}
       e^{-(l_c - l_s)^2 / 2 \sigma^2} \frac{\min(g^n(c), g^n(s)) \cdot g^n(s)}
       {\|g^n(c)\| \|g^n(s)\|}, $$

    averaged over n from 1 to 4; $\sigma = 6$. What is common to all pictures
    counts nothing, so a single picture always scores 0.

    Args:
        predictions: N lists of words.
        references: For each the lists of words of its references.

    >>> dog, cup = "a brown dog runs".split(), "one red cup stands".split()
    >>> [round(score, 6) for score in cider([dog, dog], [[dog], [cup]])]
    [10.0, 0.0]
    """
    held = collections.Counter()
    for given in references:
        held.update({gram for words in given for gram in _grams(words)})
    log_count = math.log(max(1, len(references)))

    def weigh(words):
        """The vectors of 1-grams to 4-grams, each a dict, and their norms."""
        vectors = [{} for _ in range(_LONGEST)]
        for gram, count in _grams(words).items():
            rarity = log_count - math.log(max(1, held[gram]))
            vectors[len(gram) - 1][gram] = count * rarity
        norms = [math.hypot(*vector.values()) for vector in vectors]
        return vectors, norms

    scores = []
    for words, given in zip(predictions, references, strict=True):
        vectors, norms = weigh(words)
        total = 0.0
        for reference in given:
            others, their_norms = weigh(reference)
            likeness = 0.0
            for n in range(_LONGEST):
                if norms[n] and their_norms[n]:
                    product = sum(
                        min(value, others[n].get(gram, 0.0))
                        * others[n].get(gram, 0.0)
                        for gram, value in vectors[n].items()
                    )
                    likeness += product / (norms[n] * their_norms[n])
            gap = len(words) - len(reference)
            total += likeness * math.exp(-(gap**2) / (2 * _SIGMA**2))
        scores.append(10 * total / (_LONGEST * len(given)))
    return scores


def _grams(words):
    grams = collections.Counter()
    for n in range(1, _LONGEST + 1):
        grams.update(ngram_counts(words, n))
    return grams
