"""Captioning as a SavedModel: image files in; sentences and looks out."""

import numpy as np
import tensorflow as tf

from keras_seq import export
from keras_seq.data.png import encode_png
from keras_seq.tasks.padded_sizes import pad_to_sizes
from keras_seq.tasks.signature_choice import chosen_signatures

NONE = -1e9  # the score of a caption that there is not
# Sizes that the compiled search is made for: the next larger one is used.
BATCHES = (1, 4, 16, 32, 64)
_BAD_INPUT = (
    "a file that is no image, is damaged, is narrower than 8 pixels or has "
    "more than 36 million of them fails the call with INVALID_ARGUMENT, and "
    "with it the other files of the call: ask for them one by one"
)


def captioning_signatures(
    captioner, beam_size=None, length_penalty=None, n_best=4
) -> dict:
    """Return the signatures of a captioner, as `tf.function`s by name.

    - `serving_default(image_bytes)`: `text`, the caption, and its `score`,
      the log-probability after the length penalty.
    - `n_best(image_bytes)`: the best `texts` and their `scores`, best first;
      where there are fewer, the rest is "" with a score of -1e9.
    - `explain(image_bytes)`: what `serving_default` says; `words`, padded
      with ""; and `attention`, where the model looked before it said each of
      them, over the picture as `captioner.fit` has it; 0 for padding. A
      model without attention does not have this signature.
    - `from_features(features)`: as `serving_default`, with no operation on
      images.
    - `fast(image_bytes)`: as `serving_default`, from a loop that XLA
      compiles, once for each of a few sizes of batch.

    An image is the bytes of a JPEG, PNG, GIF or BMP file; see
    `vision.decode_images`. One that cannot be read stops the graph with an
    `InvalidArgumentError` that says why, and so the whole call: a caption of
    nothing would pass for an answer. That is known from the header for files
    that are too large, before anything is unpacked.

    The network that sees and the search are functions that the signatures
    share, so each is in the file once.

    Shapes:
        image_bytes `(B,)` strings; features `(B, N, D)`; text, score `(B,)`;
        texts, scores `(B, n_best)`; words `(B, T)`; attention
        `(B, T, h, w)`.

    Args:
        captioner: A `Captioner`.
        beam_size: How many beams; by default what its settings say.
        length_penalty: As in `decoding.beam_search`; the same default.
        n_best: How many alternatives `n_best` gives.
    """
    tokenizer = captioner.tokenizer
    image_bytes = tf.TensorSpec((None,), tf.string, name="image_bytes")
    width = captioner.model.input["features"].shape[-1]
    features = tf.TensorSpec((None, None, width), tf.float32, name="features")

    def search(features, **how):
        return captioner.search(features, beam_size, length_penalty, **how)

    def function(python_function, spec, **options):
        return tf.function(
            python_function, input_signature=[spec], autograph=False, **options
        )

    see = function(captioner.encode_images, image_bytes)
    best = function(lambda x: _best(search(x)), features)

    def serving_default(image_bytes):
        return _answer(tokenizer, *best(see(image_bytes)))

    def from_features(features):
        return _answer(tokenizer, *best(features))

    def best_few(image_bytes):
        found = search(see(image_bytes), n_best=n_best)
        return {
            "texts": tokenizer.detokenize(found.token_ids),
            # Where there are fewer, JSON has no word for minus infinity.
            "scores": tf.maximum(found.scores, NONE),
        }

    compiled = function(
        lambda x: _best(search(x, max_steps=captioner.max_length)),
        features,
        jit_compile=True,
    )

    def fast(image_bytes):
        seen = see(image_bytes)
        rows = tf.shape(seen)[0]
        token_ids, scores = compiled(pad_to_sizes(seen, BATCHES))
        return _answer(tokenizer, token_ids[:rows], scores[:rows])

    def explain_image(image_bytes):
        seen = see(image_bytes)
        token_ids, scores = best(seen)
        words = captioner.words_of(token_ids)
        is_word = words != ""
        counts = tf.reduce_sum(tf.cast(is_word, tf.int32), axis=1)
        # One, where nothing was said: JSON cannot hold the axes behind none.
        longest = tf.reduce_max(tf.concat([[1], counts], axis=0))
        attention = captioner.attend(seen, token_ids[:, :longest])
        is_shown = is_word[:, :longest, tf.newaxis, tf.newaxis]
        return {
            **_answer(tokenizer, token_ids, scores),
            "words": words[:, :longest],
            "attention": tf.where(is_shown, attention, 0.0),
        }

    signatures = {
        "serving_default": function(serving_default, image_bytes),
        "n_best": function(best_few, image_bytes),
        "from_features": function(from_features, features),
        "fast": function(fast, image_bytes),
    }
    if captioner.has_attention:
        signatures["explain"] = function(explain_image, image_bytes)
    return signatures


def export_captioning(
    captioner,
    folder,
    *,
    card: dict,
    beam_size: int | None = None,
    length_penalty: float | None = None,
    n_best: int = 4,
    only=None,
    images=None,
    version: int | None = None,
    half: bool = False,
):
    """Export a captioner with its network that sees, verified.

    See `export.save` for what is verified.

    Args:
        captioner: A `Captioner`.
        folder: The folder of all versions of this model.
        card: `data`, `metrics`, `licence` and `credits` for the model card;
            `task` and the settings of images and search are added.
        beam_size: As in `captioning_signatures`.
        length_penalty: As in `captioning_signatures`.
        n_best: As in `captioning_signatures`.
        only: Names of signatures, if not all are wanted.
        images: The golden questions, bytes of image files; by default
            `golden_images()`.
        version: Default: the next one.
        half: Whether to write the weights as float16.

    Returns:
        The version folder.
    """
    signatures = chosen_signatures(
        captioning_signatures(captioner, beam_size, length_penalty, n_best),
        only,
    )
    images = golden_images() if images is None else list(images)
    width = captioner.model.input["features"].shape[-1]
    golden = {
        name: {"features": _golden_features(width)}
        if name == "from_features"
        else {"image_bytes": images}
        for name in signatures
    }
    beam_size, length_penalty = captioner.search_settings(
        beam_size, length_penalty
    )
    return export.save(
        folder,
        signatures,
        tracked=[captioner.model, captioner.vision, captioner.tokenizer],
        card={
            "task": "captioning",
            "image_size": list(captioner.image_size),
            "fit": captioner.fit,
            "grid": list(captioner.grid),
            "max_length": captioner.max_length,
            "search": {
                "beam_size": beam_size,
                "length_penalty": length_penalty,
                "n_best": n_best,
            },
            "bad_input": _BAD_INPUT,
            **card,
        },
        golden=golden,
        version=version,
        half=half,
    )


def golden_images() -> list[bytes]:
    """Paint the pictures that every export is asked about.

    A ball on a meadow as PNG, as JPEG, in grey, and cut out of its picture.
    """
    y, x = np.mgrid[:48, :64]
    is_ball = (y - 32) ** 2 + (x - 40) ** 2 < 12**2
    picture = np.where((y < 24)[..., None], (120, 170, 240), (70, 150, 60))
    picture = np.where(is_ball[..., None], (210, 40, 30), picture)
    picture = picture.astype("uint8")
    cut_out = np.dstack([picture, 255 * is_ball.astype("uint8")])
    grey = picture.mean(axis=-1, keepdims=True).astype("uint8")
    return [
        encode_png(picture),
        tf.io.encode_jpeg(picture).numpy(),
        tf.io.encode_jpeg(grey, format="grayscale").numpy(),
        tf.io.encode_png(cut_out).numpy(),
    ]


def _golden_features(width):
    """Features of two pictures of two regions, short to write down."""
    numbers = np.random.default_rng(0).integers(0, 16, (2, 2, width))
    return (numbers / 8).astype("float32")


def _best(found):
    return found.token_ids[:, 0], found.scores[:, 0]


def _answer(tokenizer, token_ids, scores):
    return {"text": tokenizer.detokenize(token_ids), "score": scores}
