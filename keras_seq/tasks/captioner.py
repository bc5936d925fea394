"""What a captioning training makes: something that puts pictures into words."""

import dataclasses
import pathlib

import keras
import numpy as np
import tensorflow as tf

from keras_seq.tasks.caption_graphs import CaptionGraphs
from keras_seq.tasks.image_inputs import as_list, read_inputs, warn_of
from keras_seq.tasks.trained_folder import load_parts, save_parts
from keras_seq.training.atomic_files import replacing

DESCRIPTION, VISION = "captioner.json", "vision.keras"


@dataclasses.dataclass(frozen=True, eq=False)
class ExplainedCaption:
    """A caption, and where the model looked before it said each word.

    Attributes:
        text: The caption.
        score: Its log-probability, after the length penalty.
        words: Its T words.
        attention: `(T, h, w)`, over the grid of the picture.
    """

    text: str
    score: float
    words: tuple[str, ...]
    attention: np.ndarray


class Captioner(CaptionGraphs):
    """Pictures in, sentences out.

    A picture is `bytes` (a JPEG, PNG, GIF or BMP file), a path, or pixels
    `(height, width, 3)`. Of a list, those that cannot be read have the answer
    None, and a warning says which and why; the others have theirs.

    Args:
        tokenizer: A `text.Tokenizer`.
        model: An `models.image_captioner.ImageCaptioner`, from a grid of
            features to words, such as `models.show_attend_tell`.
        vision: A model from pixels `(B, H, W, 3)`, 0 to 255, to a grid of
            features `(B, h, w, D)`, such as `vision.EfficientNetLite0`.
        image_size: `(H, W)` of the pixels that `vision` is given.
        fit: How pictures come to that size, as in `vision.decode_images`.
        max_length: The most tokens of a caption, its end included.
        settings: How it was made, for `run.json` and the model card. Its
            `beam_size` and `length_penalty` are the search's, and
            `attention_heads`, `[[layer, head], ...]`, says whose attention
            `explain` gives; by default the mean of all.

    Attributes:
        grid: `(h, w)`.

    Example:
        >>> from keras_seq.models import show_attend_tell
        >>> from keras_seq.text import WordTokenizer
        >>> from keras_seq.vision import small_cnn
        >>> tokenizer = WordTokenizer(["a", "red", "cup"])
        >>> captioner = Captioner(
        ...     tokenizer, show_attend_tell(7, feature_dim=6, preset="test"),
        ...     small_cnn(widths=(4, 6)), image_size=(28, 20), max_length=5)
        >>> captioner.grid
        (7, 5)
        >>> (said,) = captioner.explain([np.zeros((60, 80, 3))])
        >>> said.attention.shape == (len(said.words), 7, 5)
        True
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._graphs = {}

    # === Of pictures ===

    def read(self, images):
        """Return `(pixels (n, H, W, 3), {place: why not})`; see the class."""
        return read_inputs(images, self.image_size, self.fit)

    def features(self, images, batch_size=32):
        """Return `(features (n, h * w, D), {place: why not})`.

        Those are of the n pictures that could be read, in their order.
        """
        images, found, failures = as_list(images), [], {}
        encode = self._graph("features")
        for at in range(0, len(images), batch_size):
            pixels, bad = self.read(images[at : at + batch_size])
            failures |= {at + place: why for place, why in bad.items()}
            if len(pixels):
                found.append(encode(pixels).numpy())
        width = self.model.input["features"].shape[-1]
        empty = np.zeros((0, self.grid[0] * self.grid[1], width), "float32")
        return np.concatenate([empty, *found]), failures

    def caption(
        self, images, beam_size=None, length_penalty=None, batch_size=32
    ) -> list[str | None]:
        """Return the best caption of each picture.

        Args:
            images: Pictures; see the class.
            beam_size: As in `search`.
            length_penalty: As in `search`.
            batch_size: How many at a time.
        """
        return self._answer(
            images,
            lambda x: self.caption_features(x, beam_size, length_penalty),
            batch_size,
        )

    def n_best(
        self,
        images,
        n_best=4,
        beam_size=None,
        length_penalty=None,
        batch_size=32,
    ) -> list[list[tuple[str, float]] | None]:
        """Return the best captions of each picture with scores, best first."""

        def best_few(features):
            search = self._graph("n_best", n_best, beam_size, length_penalty)
            texts, scores = (x.numpy() for x in search(features))
            return [
                [(t.decode(), float(s)) for t, s in zip(*r, strict=True)]
                for r in zip(texts, scores, strict=True)
            ]

        return self._answer(images, best_few, batch_size)

    def explain(
        self, images, beam_size=None, length_penalty=None, batch_size=32
    ) -> list[ExplainedCaption | None]:
        """Return captions and where the model looked for each word."""
        return self._answer(
            images,
            lambda x: self.explain_features(x, beam_size, length_penalty),
            batch_size,
        )

    # === Of features, where they were kept ===

    def caption_features(
        self, features, beam_size=None, length_penalty=None, batch_size=32
    ) -> list[str]:
        """Return the best caption of each row of features `(n, h * w, D)`."""
        search = self._graph("n_best", 1, beam_size, length_penalty)
        found = []
        for at in range(0, len(features), batch_size):
            texts, _ = search(_floats(features[at : at + batch_size]))
            found += [text.decode() for text in texts[:, 0].numpy()]
        return found

    def explain_features(
        self, features, beam_size=None, length_penalty=None, batch_size=32
    ) -> list[ExplainedCaption]:
        """Return an `ExplainedCaption` of each row of features."""
        look = self._graph("explain", 1, beam_size, length_penalty)
        found = []
        for at in range(0, len(features), batch_size):
            given = _floats(features[at : at + batch_size])
            parts = (x.numpy() for x in look(given))
            for text, score, tokens, weights in zip(*parts, strict=True):
                words = tuple(t.decode() for t in tokens if t)
                found.append(
                    ExplainedCaption(
                        text.decode(),
                        float(score),
                        words,
                        weights[: len(words)],
                    )
                )
        return found

    # === The folder ===

    def save(self, folder) -> None:
        """Write `model.keras`, `vision.keras` and `captioner.json`."""
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / VISION) as unfinished:
            self.vision.save(unfinished)
        save_parts(
            folder,
            DESCRIPTION,
            self.model,
            self.tokenizer,
            image_size=self.image_size,
            fit=self.fit,
            max_length=self.max_length,
            settings=self.settings,
        )

    @classmethod
    def load(cls, folder):
        """Return the captioner that `save` wrote into `folder`."""
        tokenizer, model, rest = load_parts(folder, DESCRIPTION, "captioning")
        path = pathlib.Path(folder) / VISION
        if not path.is_file():
            raise ValueError(
                "`folder` must hold a finished captioning training. "
                f"Received: {str(folder)!r}, which has no {VISION}"
            )
        vision = keras.saving.load_model(path, compile=False)
        return cls(tokenizer, model, vision, **rest)

    def _answer(self, images, answer, batch_size):
        """Apply `answer` to the features of those that can be read."""
        images, found, failures = as_list(images), [], {}
        for at in range(0, len(images), batch_size):
            part = images[at : at + batch_size]
            features, bad = self.features(part, batch_size)
            failures |= {at + place: why for place, why in bad.items()}
            answers = iter(answer(features) if len(features) else ())
            found += [
                None if place in bad else next(answers)
                for place in range(len(part))
            ]
        warn_of(failures, images, stacklevel=3)
        return found

    def _graph(self, name, *how):
        """Return a graph, traced only once for each way to search."""
        if name == "features":
            key = (name,)
            inputs = tf.TensorSpec((None, *self.image_size, 3), tf.float32)
            make = lambda: self.encode_pixels  # noqa: E731
        else:
            n_best, *search = how
            key = (name, n_best, *self.search_settings(*search))
            width = self.model.input["features"].shape[-1]
            inputs = tf.TensorSpec((None, None, width), tf.float32)
            make = lambda: getattr(self, f"_{name}_graph")(*key[1:])  # noqa: E731
        if key not in self._graphs:
            self._graphs[key] = tf.function(
                make(), input_signature=[inputs], autograph=False
            )
        return self._graphs[key]

    def _n_best_graph(self, n_best, beam_size, length_penalty):
        def search(features):
            found = self.search(features, beam_size, length_penalty, n_best)
            return self.tokenizer.detokenize(found.token_ids), found.scores

        return search

    def _explain_graph(self, n_best, beam_size, length_penalty):
        def look(features):
            found = self.search(features, beam_size, length_penalty)
            token_ids = found.token_ids[:, 0]
            return (
                self.tokenizer.detokenize(token_ids),
                found.scores[:, 0],
                self.words_of(token_ids),
                self.attend(features, token_ids),
            )

        return look


def _floats(features):
    return np.asarray(features, "float32")
