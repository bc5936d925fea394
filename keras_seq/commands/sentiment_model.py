"""Sentiment models, from a run or from an export, as `task.OpenModel`."""

import pathlib

import numpy as np

from keras_seq.commands.run_notes import RunNotes, short
from keras_seq.commands.sentiment_task import DEFAULTS, OPTIONS
from keras_seq.commands.text_model import TextModel, batches_of_like_length
from keras_seq.commands.wording import on_one_line


class SentimentModel(TextModel):
    """A classifier behind its signatures."""

    options = OPTIONS

    def predict(self, inputs: list[bytes]) -> list[dict]:
        """Return `text`, `label`, `probability`, `probabilities` of each."""
        answer = self.ask("serving_default", inputs)
        return [
            {
                **_verdict(text, answer, row),
                "probabilities": dict(
                    zip(
                        self.card["labels"],
                        map(short, answer["probabilities"][row]),
                        strict=True,
                    )
                ),
            }
            for row, text in enumerate(inputs)
        ]

    def line(self, answer: dict) -> str:
        """Return an answer in a line for people."""
        width = max(map(len, self.card["labels"]))
        percent = f"{answer['probability']:4.0%}".replace("%", " %")
        text = on_one_line(answer["text"])
        return f"{answer['label']:{width}}  {percent}  {text}"

    def explain(self, inputs: list[bytes]) -> list[dict]:
        """Return the verdict on each text, its words and their weights."""
        answer = self.ask("explain", inputs)
        return [
            {
                **_verdict(text, answer, row),
                "words": _words(
                    text, answer["offsets"][row], answer["weights"][row]
                ),
            }
            for row, text in enumerate(inputs)
        ]

    def draw(self, explanation: dict) -> str:
        """Return an explanation for a terminal, coloured if it can be."""
        from keras_seq.explain import words_ansi

        return words_ansi(_drawable(explanation))

    def page(self, explanations: list[dict]) -> str:
        """Return explanations as one page of HTML."""
        from keras_seq.explain import words_html

        return words_html([_drawable(e) for e in explanations])

    def scores(self, said: dict) -> dict:
        """Score what the signatures answer."""
        from keras_seq.tasks import sentiment

        return sentiment.evaluate(_Predictor(self), **said)

    def known_data(self):
        """Return the names of data sets that can be loaded."""
        from keras_seq.tasks import sentiment

        return sentiment.LOADERS


class SentimentRun(SentimentModel):
    """The classifier of a run; it can also be exported.

    Args:
        folder: The folder of the run.
        method: How words are weighed, as in `explain.token_weights`.
    """

    def __init__(self, folder, method: str = "auto"):
        from keras_seq.tasks.sentiment import SentimentClassifier
        from keras_seq.tasks.sentiment_export import sentiment_signatures

        self.folder = pathlib.Path(folder)
        self.method = method
        self.notes = RunNotes(folder, "sentiment", DEFAULTS)
        self.classifier = SentimentClassifier.load(folder)
        super().__init__(
            sentiment_signatures(self.classifier, method),
            {"labels": list(self.classifier.labels)},
        )

    def evaluate(self, said: dict) -> dict:
        """Score the model, and note the score for the model card."""
        numbers = super().evaluate(said)
        self.notes.note(said, ("data", "split"), numbers)
        return numbers

    def export(self, folder, half=False):
        """Export; return the version folder.

        Args:
            folder: The folder of the versions.
            half: Whether to write the weights as float16.
        """
        from keras_seq.tasks.sentiment_export import export_sentiment

        return export_sentiment(
            self.classifier,
            folder,
            method=self.method,
            half=half,
            card=self._card(),
        )

    def export_file(self, folder, file_format):
        """Export for another runtime; return the version folder.

        Args:
            folder: The folder of the versions.
            file_format: "onnx" or "litert".
        """
        from keras_seq.tasks.sentiment_files import export_sentiment_file

        return export_sentiment_file(
            self.classifier, folder, file_format, card=self._card()
        )

    def _card(self):
        return self.notes.card(self.classifier.settings)

    def own_data(self) -> dict:
        """Load the data of the training; a table keeps a part of it aside."""
        from keras_seq.tasks.sentiment import load_data

        names = ("data_dir", "text_column", "label_column")
        settings = self.classifier.settings
        return {"data": self.notes.load_data(load_data, settings, names)}


class _Predictor:
    """What `tasks.sentiment.evaluate` asks of a classifier."""

    def __init__(self, model):
        self.model = model

    def predict(self, texts, batch_size=64):
        found = np.zeros((len(texts), len(self.model.card["labels"])), "f")
        for places, rows in batches_of_like_length(texts, batch_size):
            answer = self.model.ask("serving_default", rows)
            found[places] = answer["probabilities"]
        return found


def _verdict(text, answer, row):
    return {
        "text": text.decode("utf-8", "replace"),
        "label": answer["label"][row].decode(),
        "probability": short(answer["probability"][row]),
    }


def _words(text, offsets, weights):
    from keras_seq.explain import word_weights

    text = text.decode("utf-8", "replace")
    real = offsets[:, 0] >= 0
    places = np.minimum(offsets[real], len(text))
    found = word_weights(text, places[:, 0], places[:, 1], weights[real])
    return [
        {
            "word": word,
            "start": int(start),
            "end": int(end),
            "weight": short(weight),
        }
        for word, (start, end), weight in zip(
            found.words, found.spans, found.weights, strict=True
        )
    ]


def _drawable(explanation):
    words = explanation["words"]
    return {
        **{key: explanation[key] for key in ("text", "label", "probability")},
        "words": [word["word"] for word in words],
        "weights": [word["weight"] for word in words],
    }
