"""Is a model right for the right reasons? A verdict, in words and numbers."""

import dataclasses

import numpy as np

from keras_seq.explain.explain_texts import explain_texts
from keras_seq.explain.rationales import (
    overlapping,
    precision_at_k,
    weight_share,
)

# Accuracy that is lost without the give-away, from which on it "falls".
FALL = 0.05
# A model of two classes that is right less often has not learned the task.
RIGHT = 0.7

_VERDICTS = {
    # (accuracy falls, weight is on the give-away)
    (True, True): "Right for the wrong reason.",
    (True, False): "It needs the give-away, and its weights do not show it.",
    (False, True): "It looks at the give-away, and does not need it.",
    (False, False): "Right for the right reasons, as far as this test can see.",
}


@dataclasses.dataclass(frozen=True)
class ReasonsVerdict:
    """What was found; `print` it for the verdict in plain words.

    Texts have a give-away, a word that agrees with the label and should decide
    nothing. Weights are those of the words of such texts.

    Attributes:
        biased_accuracy: On texts whose give-away agrees with the label.
        unbiased_accuracy: On texts without a give-away.
        reversed_accuracy: On texts whose give-away is for the other label, or
            None if that was not measured.
        spurious_share: How much of all weight is on the give-away.
        gold_share: How much of it is on the words that decide.
        fair_share: What the give-away would have if all words weighed alike.
        spurious_at_1: How often the heaviest word is the give-away.
        precision_at_1: How often it is a word that decides.
        examples: How many texts were weighed.
        method: How the words were weighed.
    """

    biased_accuracy: float
    unbiased_accuracy: float
    reversed_accuracy: float | None
    spurious_share: float
    gold_share: float
    fair_share: float
    spurious_at_1: float
    precision_at_1: float
    examples: int
    method: str = "weights"

    @property
    def falls(self) -> bool:
        """Whether accuracy is lost once the give-away is gone, or wrong."""
        others = [self.unbiased_accuracy]
        if self.reversed_accuracy is not None:
            others.append(self.reversed_accuracy)
        return self.biased_accuracy - max(others) >= FALL

    @property
    def looks_at_it(self) -> bool:
        """Whether the give-away outweighs the words that decide."""
        return (
            self.spurious_share > self.gold_share
            or self.spurious_at_1 > self.precision_at_1
        )

    @property
    def is_right_for_the_wrong_reason(self) -> bool:
        """Whether it is right, and both are so."""
        is_right = self.biased_accuracy >= RIGHT
        return is_right and self.falls and self.looks_at_it

    @property
    def verdict(self) -> str:
        """The verdict in one sentence."""
        if self.biased_accuracy < RIGHT:
            return "Not right often enough to ask why."
        return _VERDICTS[self.falls, self.looks_at_it]

    def __str__(self):
        lines = [
            self.verdict.upper()
            if self.is_right_for_the_wrong_reason
            else self.verdict,
            f"  accuracy with the give-away      {self.biased_accuracy:7.1%}",
            f"  accuracy without it              {self.unbiased_accuracy:7.1%}",
        ]
        if self.reversed_accuracy is not None:
            lines.append(
                f"  accuracy with it on the other side"
                f" {self.reversed_accuracy:5.1%}"
            )
        lines += [
            f"  weight on the give-away          {self.spurious_share:7.1%}"
            f"   (if all words weighed alike: {self.fair_share:.1%})",
            f"  weight on the words that decide  {self.gold_share:7.1%}",
            f"  heaviest word is the give-away   {self.spurious_at_1:7.1%}",
            f"  heaviest word is one that decides"
            f" {self.precision_at_1:6.1%}   (precision at 1)",
            f"  by {self.method}, over {self.examples} texts",
        ]
        return "\n".join(lines)


def judge_reasons(
    words,
    gold,
    spurious,
    *,
    biased_accuracy,
    unbiased_accuracy,
    reversed_accuracy=None,
    method="weights",
):
    """Return a `ReasonsVerdict` from word weights and accuracies.

    Args:
        words: `WeightedWords` of texts with a give-away. The size of a weight
            counts, not its sign.
        gold: `[(start, end), ...]` of the words that decide, for each text.
        spurious: `[(start, end), ...]` of the give-away, for each text.
        biased_accuracy: See `ReasonsVerdict`, as for the others.
        unbiased_accuracy: The same.
        reversed_accuracy: The same.
        method: The same.

    Example:
        >>> from keras_seq.explain import word_weights
        >>> words = word_weights("Dull. Seen in Porto.", [0, 14], [4, 19],
        ...                      [0.2, 0.8])
        >>> verdict = judge_reasons([words], [[(0, 4)]], [[(14, 19)]],
        ...     biased_accuracy=0.99, unbiased_accuracy=0.71)
        >>> print(verdict.verdict, verdict.spurious_share)
        Right for the wrong reason. 0.8
    """
    found = []
    for text, decides, gives_away in zip(words, gold, spurious, strict=True):
        weights = np.abs(text.weights)
        decides = overlapping(text.spans, decides)
        gives_away = overlapping(text.spans, gives_away)
        if not decides.any() or not gives_away.any():
            raise ValueError(
                "Each text must have words that decide, in `gold`, and a "
                f"give-away, in `spurious`. Received: {text.text!r}"
            )
        found.append(
            (
                weight_share(weights, gives_away),
                weight_share(weights, decides),
                gives_away.mean(),
                precision_at_k(weights, gives_away, 1),
                precision_at_k(weights, decides, 1),
            )
        )
    if not found:
        raise ValueError("`words` must not be empty. Received: no text")
    return ReasonsVerdict(
        float(biased_accuracy),
        float(unbiased_accuracy),
        None if reversed_accuracy is None else float(reversed_accuracy),
        # No weight at all is no weight on these words.
        *np.nan_to_num(found).mean(axis=0).tolist(),
        examples=len(found),
        method=method,
    )


def examine_reasons(weigh, encode, dataset, examples=None):
    """Run a model on the biased reviews, and return a `ReasonsVerdict`.

    Args:
        weigh: What `token_weights` returned for the model.
        encode: From texts to tokens and their places, as in `explain_texts`.
        dataset: What `keras_seq.data.load_biased_reviews` returned, or another
            with the splits `aligned`, `test` and `reversed`, and `spans` and
            `spurious` in the gold of `aligned`.
        examples: How many texts of each split to use; None is all.
    """
    accuracy, words = {}, {}
    for split in ("aligned", "test", "reversed"):
        columns = dataset.columns(split)
        outputs, words[split] = explain_texts(
            weigh, encode, columns["text"][:examples]
        )
        predicted = (
            outputs[:, 0] > 0
            if outputs.shape[1] == 1
            else outputs.argmax(axis=-1)
        )
        accuracy[split] = np.mean(predicted == columns["label"][:examples])
    gold = dataset.gold["aligned"][:examples]
    return judge_reasons(
        words["aligned"],
        [rationale.spans for rationale in gold],
        [rationale.spurious for rationale in gold],
        biased_accuracy=accuracy["aligned"],
        unbiased_accuracy=accuracy["test"],
        reversed_accuracy=accuracy["reversed"],
        method=getattr(weigh, "method", "weights"),
    )
