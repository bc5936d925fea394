"""Sentiment models, from a run or from an export, as `task.OpenModel`."""

import pathlib

import numpy as np

from keras_seq.commands.run_folders import read_settings
from keras_seq.commands.run_notes import RunNotes, base_name, short
from keras_seq.commands.sentiment_task import DEFAULTS, usage_error
from keras_seq.commands.usage_error import UsageError
from keras_seq.commands.wording import on_one_line


class SentimentModel:
    """A classifier behind its signatures.

    Args:
        signatures: `{name: function}` of arrays by name, as `export.load` has
            them.
        card: What the model card says.
    """

    asks_for = "a text"
    drawn_as = ("html",)

    def __init__(self, signatures: dict, card: dict):
        self.signatures = signatures
        self.card = card

    def predict(self, inputs: list[bytes]) -> list[dict]:
        """Return `text`, `label`, `probability`, `probabilities` of each."""
        answer = self._ask("serving_default", inputs)
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
        answer = self._ask("explain", inputs)
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

    def write(self, path, explanations: list[dict]) -> list:
        """Write one page of HTML; return its path in a list."""
        path.write_text(self.page(explanations), encoding="utf-8")
        return [path]

    def evaluate(self, said: dict) -> dict:
        """Score the model on the data that was named."""
        from keras_seq.tasks import sentiment

        if "data" not in said:
            said = {**self._own_data(), **said}
        try:
            return sentiment.evaluate(_Predictor(self), **said)
        except ValueError as error:
            raise usage_error(error) from error

    def _own_data(self):
        from keras_seq.tasks import sentiment

        name = self.card.get("data", {}).get("name")
        if name not in sentiment.LOADERS:
            raise UsageError(
                "--data must name what to score on: this model was trained "
                f"with {name!r}, which is not at hand"
            )
        return {"data": name}

    def _ask(self, signature, inputs):
        if signature not in self.signatures:
            raise UsageError(
                f"the model must have the signature {signature!r}. "
                f"Received: {sorted(self.signatures)}"
            )
        answer = self.signatures[signature](text=np.array(inputs, object))
        return {name: np.asarray(value) for name, value in answer.items()}


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
        settings = self.classifier.settings
        name = base_name(settings.get("data", "unknown"))
        licence = settings.get("licence", "unknown")
        return {
            "data": {"name": name, "licence": licence},
            "metrics": self.notes.metrics(),
            "settings": {**settings, "data": name},
            "licence": licence,
            "credits": [f"trained on {name} ({licence})"],
        }

    def _own_data(self):
        """The data of the training, of which a table keeps a part aside."""
        from keras_seq.tasks import sentiment

        noted = read_settings(self.folder) or {}
        names = ("data_dir", "text_column", "label_column")
        how = {k: noted[k] for k in names if noted.get(k) is not None}
        data = noted.get("data") or self.classifier.settings["data"]
        return {"data": sentiment.load_data(data, **how)}


class _Predictor:
    """What `tasks.sentiment.evaluate` asks of a classifier."""

    def __init__(self, model):
        self.model = model

    def predict(self, texts, batch_size=64):
        rows = [str(text).encode("utf-8", "surrogatepass") for text in texts]
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        found = np.zeros((len(rows), len(self.model.card["labels"])), "f")
        for first in range(0, len(order), batch_size):
            places = order[first : first + batch_size]
            some = [rows[place] for place in places]
            answer = self.model._ask("serving_default", some)
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
