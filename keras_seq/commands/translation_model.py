"""Translators, from a run or from an export, as `task.OpenModel`."""

import os
import sys

import numpy as np

from keras_seq.commands.cut_texts import letters, say_cut
from keras_seq.commands.run_notes import RunNotes, short
from keras_seq.commands.signature_model import refuse_beam_size
from keras_seq.commands.text_model import TextModel, batches_of_like_length
from keras_seq.commands.translation_task import DEFAULTS, EVALUATE, OPTIONS
from keras_seq.commands.usage_error import UsageError
from keras_seq.commands.wording import on_one_line


class TranslationModel(TextModel):
    """A translator behind its signatures."""

    options = OPTIONS

    def predict(self, inputs: list[bytes]) -> list[dict]:
        """Return `source`, `text` and `score` of each."""
        found = [{}] * len(inputs)
        long = [self.may_be_cut(text) for text in inputs]
        # The same search, and `explain` says what it has read.
        for signature, is_long in (
            ("serving_default", False),
            ("explain", True),
        ):
            rows = [row for row, x in enumerate(long) if x == is_long]
            if not rows:
                continue
            texts = [inputs[row] for row in rows]
            answer = self.ask(signature, texts)
            self.warn_of_cuts(texts, answer)
            for at, row in enumerate(rows):
                found[row] = _translation(inputs[row], answer, at)
        return found

    def may_be_cut(self, text: bytes) -> bool:
        """Whether a text could be too long, as far as its bytes tell."""
        limit = self.card.get("max_length")
        if limit is None or "explain" not in self.signatures:
            return False
        return len(text) + 2 > limit  # a space before it, an end behind it

    def warn_of_cuts(self, inputs: list[bytes], answer: dict) -> None:
        """Say of which texts only the beginning was read, if that is known."""
        limit = self.card.get("max_length")
        if limit is None or "source_tokens" not in answer:
            return
        for row, text in enumerate(inputs):
            if len(_without_padding(answer["source_tokens"][row])) < limit:
                continue
            words = _without_padding(answer["source_words"][row])
            read = letters("".join(words))
            there_are = letters(text.decode("utf-8", "replace"))
            if read < there_are:
                say_cut(text, read, there_are, "letters")

    def line(self, answer: dict) -> str:
        """Return an answer in a line for people: the translation."""
        return on_one_line(answer["text"])

    def explain(self, inputs: list[bytes]) -> list[dict]:
        """Return each translation, its words and tokens, and where it looked.

        `alignment` is from target words (rows) to source words; `attention`
        from target tokens to source tokens, by layer and head.
        """
        answer = self.ask("explain", inputs)
        self.warn_of_cuts(inputs, answer)
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

    def scores(self, said: dict) -> dict:
        """Score what the signatures answer."""
        from keras_seq.tasks import translation

        refuse_beam_size(said)
        return translation.evaluate(_Translator(self), **said)

    def evaluate(self, said: dict) -> dict:
        """Score the model on what was named, or on what is at hand."""
        if "data" not in said:
            said = _what_is_at_hand({**self.own_data(), **said})
        return super().evaluate(said)

    def own_data(self) -> dict:
        """Return which data the model was trained with, and its languages."""
        from keras_seq.tasks.translation_data import named_data

        data = self.card.get("data", {})
        name, languages = named_data(data.get("name"))
        if name is None:
            return super().own_data()  # which says what is missing
        return {"data": name, "languages": data.get("languages") or languages}

    def known_data(self) -> tuple:
        """Return the names of data sets that can be loaded."""
        return ("grammar", "multi30k", "tatoeba")


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

    def may_be_cut(self, text: bytes) -> bool:
        """No need to ask for what was read: the tokenizer is at hand."""
        return False

    def warn_of_cuts(self, inputs: list[bytes], answer: dict) -> None:
        """Say of which texts only the beginning was read."""
        room = self.translator.max_length - 1
        rows = self.translator.encode_rows(inputs)
        for text, row in zip(inputs, rows, strict=True):
            if len(row) > room:
                say_cut(text, room, len(row), "tokens")

    def evaluate(self, said: dict) -> dict:
        """Score the model, and note the score for the model card."""
        numbers = super().evaluate(said)
        self.notes.note(said, EVALUATE, numbers)
        return numbers

    def export(self, folder, only=None, half=False):
        """Export, all signatures or `only` some; return the version folder."""
        from keras_seq.tasks.translation_export import export_translation

        settings = self.translator.settings
        languages = settings.get("languages")
        of_data = {"languages": languages} if languages else {}
        return export_translation(
            self.translator,
            folder,
            only=only,
            half=half,
            card=self.notes.card(settings, **of_data),
        )

    def scores(self, said: dict) -> dict:
        """Score the translator itself, which can search otherwise, too."""
        from keras_seq.tasks import translation

        return translation.evaluate(self.translator, **said)

    def own_data(self) -> dict:
        """Load the data of the training, of which files keep a part aside."""
        from keras_seq.tasks.translation import load_data

        names = ("data_dir", "languages")
        settings = self.translator.settings
        return {"data": self.notes.load_data(load_data, settings, names)}


def _what_is_at_hand(said):
    """Leave out data that is in a folder, where no folder is known."""
    from keras_seq.data.folders import VARIABLE
    from keras_seq.tasks.translation_data import BUILT_IN

    data = said["data"]
    if not isinstance(data, str) or said.get("data_dir"):
        return said
    if os.environ.get(VARIABLE):
        return said
    names = data.split("+")
    here = [name for name in names if name in BUILT_IN]
    if not here or here == names:
        return said
    print(
        f"keras-seq: scored on {'+'.join(here)} alone. The model was trained "
        f"with {data}: say --data-dir for all of it, or --data",
        file=sys.stderr,
    )
    return {**said, "data": "+".join(here)}


class _Translator:
    """What `tasks.translation.evaluate` asks of a translator."""

    def __init__(self, model):
        self.model = model

    def translate(self, texts, batch_size=64, **search):
        found = [""] * len(texts)
        for places, rows in batches_of_like_length(texts, batch_size):
            answers = self.model.predict(rows)
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
        name: _without_padding(answer[name][row])
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


def _without_padding(words):
    """Return words without those at the end that are empty.

    >>> _without_padding([b"a", b"", b"b", b""])  # a word may be empty
    ['a', '', 'b']
    """
    words = [word.decode("utf-8", "replace") for word in words]
    while words and not words[-1]:
        words.pop()
    return words


def _rounded(array):
    return np.round(array.astype("float64"), 5).tolist()
