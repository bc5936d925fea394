"""Captioners behind their signatures, as `task.OpenModel`."""

import itertools
import pathlib
from collections.abc import Iterator

import numpy as np

from keras_seq.commands.captioning_inputs import image_inputs
from keras_seq.commands.captioning_pictures import picture_files
from keras_seq.commands.captioning_task import OPTIONS
from keras_seq.commands.run_notes import short
from keras_seq.commands.signature_model import SignatureModel, refuse_beam_size
from keras_seq.commands.wording import on_one_line

BATCH = 16  # images at a time


class CaptioningModel(SignatureModel):
    """A captioner behind its signatures."""

    asks_for = "the path of an image"
    drawn_as = ("html", "png", "gif")
    options = OPTIONS

    def predict(self, inputs: list[bytes]) -> Iterator[dict]:
        """Yield `image`, `text` and `score` of each file, or its `error`."""
        return self._answers("serving_default", inputs, _caption)

    def line(self, answer: dict) -> str:
        """Return an answer in a line for people."""
        return on_one_line(f"{answer['image']}: {answer['text']}")

    def explain(self, inputs: list[bytes]) -> Iterator[dict]:
        """Yield each caption, its words and where the model looked."""
        return self._answers("explain", inputs, _look)

    def draw(self, explanation: dict) -> str:
        """Return an explanation for a terminal: each word and its place."""
        lines = [self.line(explanation)]
        words = [on_one_line(word) for word in explanation["words"]]
        width = max(map(len, words), default=0)
        for word, weights in zip(words, explanation["attention"], strict=True):
            place, weight = _peak(np.asarray(weights))
            lines.append(f"  {word:{width}}  {place}  ({weight:.2f})")
        return "\n".join(lines)

    def write(
        self, path: pathlib.Path, explanations: list[dict]
    ) -> list[pathlib.Path]:
        """Draw each image, lit up word by word; return the files."""
        size, fit = self.card["image_size"], self.card["fit"]
        return picture_files(path, explanations, size, fit)

    def scores(self, said: dict) -> dict:
        """Score what the signatures answer."""
        from keras_seq.tasks.captioning_data import load_data
        from keras_seq.tasks.captioning_evaluation import (
            leave_out,
            read_rows,
            score_captions,
        )

        refuse_beam_size(said)
        dataset = load_data(said["data"], said.get("data_dir"))
        split = said.get("split", "test")
        count = len(dataset.columns(split)["captions"])
        has_gold = dataset.gold.get(split) is not None
        explains = has_gold and "explain" in self.signatures
        name = "explain" if explains else "serving_default"
        rows, answers, bad = [], [], {}
        for at in range(0, count, BATCH):
            some = range(at, min(at + BATCH, count))
            images, lost = read_rows(dataset, split, some)
            bad |= lost
            read = [row for row in some if row not in lost]
            for row, found in zip(
                read, self._ask_some(name, images), strict=True
            ):
                if isinstance(found, dict):
                    rows.append(row)
                    answers.append(found)
                else:
                    bad[row] = found
        leave_out(dataset, split, range(count), bad, stacklevel=2)
        texts = [_text(found["text"]) for found in answers]
        looks = [_words_and_maps(found) for found in answers if explains]
        return score_captions(texts, dataset, split, rows, looks or None)

    def known_data(self) -> tuple:
        """Return the names of data sets that can be loaded."""
        from keras_seq.tasks.captioning_data import NAMES

        return NAMES

    def _answers(self, signature, inputs, say):
        self.signature(signature)  # rather now than after the work
        files = image_inputs(inputs)
        while some := list(itertools.islice(files, BATCH)):
            good = [file.contents for file in some if file.contents is not None]
            found = iter(self._ask_some(signature, good))
            for file in some:
                answer = file.error if file.error else next(found)
                if isinstance(answer, str):
                    error = f"{file.path}: {answer}"
                    yield {"image": file.path, "error": on_one_line(error)}
                else:
                    yield {"image": file.path, **say(answer)}

    def _ask_some(self, signature, images):
        """Return for each image a row of the answer, or what is wrong."""
        import tensorflow as tf

        if not images:
            return []
        try:
            return self._rows(signature, images)
        except tf.errors.InvalidArgumentError:
            # One of them is to blame; the others are answered all the same.
            wrong = [_problem(image) for image in images]
        good = [im for im, why in zip(images, wrong, strict=True) if not why]
        answers = iter(self._rows(signature, good) if good else ())
        return [why or next(answers) for why in wrong]

    def _rows(self, signature, images):
        ask = self.signature(signature)
        answer = ask(image_bytes=np.array(images, object))
        arrays = {name: np.asarray(value) for name, value in answer.items()}
        return [
            {name: array[row] for name, array in arrays.items()}
            for row in range(len(images))
        ]


def _problem(image):
    from keras_seq.vision import check_image_bytes

    try:
        check_image_bytes(image)
    except ValueError as error:
        said = str(error).removeprefix("`image_bytes` ")
        return said.replace(", and are ", ", and is ")
    return ""


def _text(value):
    return value.decode("utf-8", "replace")


def _caption(answer):
    return {"text": _text(answer["text"]), "score": short(answer["score"])}


def _words_and_maps(answer):
    words = [_text(word) for word in answer["words"] if word]
    return words, answer["attention"][: len(words)]


def _look(answer):
    words, maps = _words_and_maps(answer)
    rounded = np.round(maps.astype("float64"), 5).tolist()
    return {**_caption(answer), "words": words, "attention": rounded}


def _peak(weights):
    """Say where the largest of `(h, w)` weights is, and how large.

    >>> _peak(np.array([[0.1, 0.0, 0.0], [0.0, 0.2, 0.7]]))
    ('bottom right', 0.7)
    """
    at = np.unravel_index(np.argmax(weights), weights.shape)
    down, along = (
        names[int(3 * (place + 0.5) / size)]
        for names, place, size in zip(
            (("top", "middle", "bottom"), ("left", "centre", "right")),
            at,
            weights.shape,
            strict=True,
        )
    )
    return f"{down} {along}", float(weights[at])
