"""Translators, from a run or from an export, as `task.OpenModel`."""

import numpy as np

from keras_seq.commands.run_folders import read_settings
from keras_seq.commands.run_notes import RunNotes, base_name, short
from keras_seq.commands.translation_task import DEFAULTS, EVALUATE, usage_error
from keras_seq.commands.usage_error import UsageError
from keras_seq.commands.wording import on_one_line


class TranslationModel:
    """A translator behind its signatures.

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
        """Return `source`, `text` and `score` of each."""
        answer = self._ask("serving_default", inputs)
        return [
            _translation(source, answer, row)
            for row, source in enumerate(inputs)
        ]

    def line(self, answer: dict) -> str:
        """Return an answer in a line for people: the translation."""
        return on_one_line(answer["text"])

    def explain(self, inputs: list[bytes]) -> list[dict]:
        """Return each translation, its words and tokens, and where it looked.

        `alignment` is from target words (rows) to source words; `attention`
        from target tokens to source tokens, by layer and head.
        """
        answer = self._ask("explain", inputs)
        return [
            {**_translation(source, answer, row), **_looks(answer, row)}
            for row, source in enumerate(inputs)
        ]

    def draw(self, explanation: dict) -> str:
        """Return an explanation for a terminal: each word and its source."""
        words = explanation["target_words"]
        lines = [on_one_line(explanation["text"])]
        width = max(map(len, words), default=0)
        for word, weights in zip(words, explanation["alignment"], strict=True):
            if not weights or max(weights) <= 0:
                lines.append(f"  {on_one_line(word)}")
                continue
            best = int(np.argmax(weights))
            source = on_one_line(explanation["source_words"][best])
            shown = f"{on_one_line(word):{width}}"
            lines.append(f"  {shown}  <-  {source}  ({weights[best]:.2f})")
        return "\n".join(lines)

    def page(self, explanations: list[dict]) -> str:
        """Return explanations as one page of HTML."""
        from keras_seq.explain import attention_html

        maps, rows, columns = {}, {}, {}
        for n, explanation in enumerate(explanations, start=1):
            if not explanation["target_words"]:
                continue
            title = f"{n}. {on_one_line(explanation['source'])[:60]}"
            name = f"{title} (words)"
            maps[name] = explanation["alignment"]
            rows[name] = explanation["target_words"]
            columns[name] = explanation["source_words"]
            for layer, heads in enumerate(explanation["attention"], start=1):
                name = f"{title} (tokens, layer {layer})"
                maps[name] = heads
                rows[name] = explanation["target_tokens"]
                columns[name] = explanation["source_tokens"]
        if not maps:
            raise UsageError("--html needs a text with at least one word")
        return attention_html(
            {name: np.asarray(weights) for name, weights in maps.items()},
            rows,
            columns,
            title="Which words were translated from which",
        )

    def write(self, path, explanations: list[dict]) -> list:
        """Write one page of HTML; return its path in a list."""
        path.write_text(self.page(explanations), encoding="utf-8")
        return [path]

    def evaluate(self, said: dict) -> dict:
        """Score the model on the data that was named."""
        from keras_seq.tasks import translation

        if "data" not in said:
            said = {**self._own_data(), **said}
        try:
            return translation.evaluate(self._translator(said), **said)
        except ValueError as error:
            raise usage_error(error) from error

    def _translator(self, said):
        if "beam_size" in said:
            raise UsageError(
                "--beam-size is chosen when a model is exported; this one has "
                "its own. Name the run it was made from"
            )
        return _Translator(self)

    def _own_data(self):
        data = self.card.get("data", {})
        if data.get("name") not in ("grammar", "multi30k", "tatoeba"):
            raise UsageError(
                "--data must name what to score on: this model was trained "
                f"with {data.get('name')!r}, which is not at hand"
            )
        return {
            "data": data["name"],
            "languages": data.get("languages", DEFAULTS["languages"]),
        }

    def _ask(self, signature, inputs):
        if signature not in self.signatures:
            raise UsageError(
                f"the model must have the signature {signature!r}. "
                f"Received: {sorted(self.signatures)}"
            )
        answer = self.signatures[signature](text=np.array(inputs, object))
        return {name: np.asarray(value) for name, value in answer.items()}


class TranslationRun(TranslationModel):
    """The translator of a run; it can also be exported.

    Args:
        folder: The folder of the run.
    """

    def __init__(self, folder):
        from keras_seq.tasks.translation_export import translation_signatures
        from keras_seq.tasks.translator import Translator

        self.folder = folder
        self.notes = RunNotes(folder, "translation", DEFAULTS)
        self.translator = Translator.load(folder)
        super().__init__(translation_signatures(self.translator), {})

    def evaluate(self, said: dict) -> dict:
        """Score the model, and note the score for the model card."""
        numbers = super().evaluate(said)
        self.notes.note(said, EVALUATE, numbers)
        return numbers

    def export(self, folder, only=None, half=False):
        """Export; return the version folder.

        Args:
            folder: The folder of the versions.
            only: Names of signatures, if not all are wanted.
            half: Whether to write the weights as float16.
        """
        from keras_seq.tasks.translation_export import export_translation

        settings = self.translator.settings
        name = base_name(settings.get("data", "unknown"))
        licence = settings.get("licence", "unknown")
        return export_translation(
            self.translator,
            folder,
            only=only,
            half=half,
            card={
                "data": {
                    "name": name,
                    "languages": settings.get("languages"),
                    "licence": licence,
                },
                "metrics": self.notes.metrics(),
                "settings": {**settings, "data": name},
                "licence": licence,
                "credits": [f"trained on {name} ({licence})"],
            },
        )

    def _translator(self, said):
        return self.translator

    def _own_data(self):
        """The data of the training, of which files keep a part aside."""
        from keras_seq.tasks import translation

        noted = read_settings(self.folder) or {}
        names = ("data_dir", "languages")
        how = {k: noted[k] for k in names if noted.get(k) is not None}
        data = noted.get("data") or self.translator.settings["data"]
        return {"data": translation.load_data(data, **how)}


class _Translator:
    """What `tasks.translation.evaluate` asks of a translator."""

    def __init__(self, model):
        self.model = model

    def translate(self, texts, batch_size=64, **search):
        rows = [str(text).encode("utf-8", "surrogatepass") for text in texts]
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        found = [""] * len(rows)
        for first in range(0, len(order), batch_size):
            places = order[first : first + batch_size]
            answers = self.model.predict([rows[place] for place in places])
            for place, answer in zip(places, answers, strict=True):
                found[place] = answer["text"]
        return found


def _translation(source, answer, row):
    return {
        "source": source.decode("utf-8", "replace"),
        "text": answer["text"][row].decode("utf-8", "replace"),
        "score": short(answer["score"][row]),
    }


def _looks(answer, row):
    """Return one row of the answer without its padding, as plain lists."""
    words = {
        name: [
            word.decode("utf-8", "replace")
            for word in answer[name][row]
            if word
        ]
        for name in (
            "source_words",
            "target_words",
            "source_tokens",
            "target_tokens",
        )
    }
    sizes = {name: len(found) for name, found in words.items()}
    alignment = answer["alignment"][row]
    attention = answer["attention"][row]
    return {
        **words,
        "alignment": _rounded(
            alignment[: sizes["target_words"], : sizes["source_words"]]
        ),
        "attention": _rounded(
            attention[..., : sizes["target_tokens"], : sizes["source_tokens"]]
        ),
    }


def _rounded(array):
    return np.round(array.astype("float64"), 5).tolist()
