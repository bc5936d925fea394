"""Models that answer as a translator and a captioner do, and mean no good.

They write back what they are given, so HTML in is HTML out.
"""

import json

import tensorflow as tf

ATTACK = '<img src=x onerror="window.attacked=1">'


class Echo(tf.Module):
    """Translates every word into itself, in two layers of two heads."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def explain(self, text):
        words = tf.strings.split(text).to_tensor("")
        count = tf.shape(words)[1]
        straight = tf.eye(count, batch_shape=[tf.shape(words)[0]])
        by_head = tf.stack([straight, straight[:, ::-1]], axis=1)
        return {
            "text": text,
            "source_words": words,
            "target_words": words,
            "alignment": straight,
            "source_tokens": words,
            "target_tokens": words,
            "attention": tf.stack([by_head, by_head[:, ::-1]], axis=1),
        }

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def n_best(self, text):
        other = tf.strings.join([text, "<b>bold</b>"], " ")
        texts = tf.stack([text, other, text], axis=1)
        scores = tf.zeros_like(text, tf.float32)[:, None]
        return {
            "texts": texts,
            "scores": scores + tf.constant([[-0.5, -1.5, -1e9]]),
        }

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def plain(self, text):
        return {"text": text}


class Painter(tf.Module):
    """Says the same of every image, one corner after the other."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "image")])
    def explain(self, image):
        count = tf.shape(image)[0]
        words = tf.constant([["a", "red", "<b>ball</b>", "here"]])
        maps = tf.one_hot([0, 2, 5, 8], 9)[None]
        return {
            "text": tf.repeat(tf.constant(["a red <b>ball</b> here"]), count),
            "words": tf.repeat(words, count, axis=0),
            "attention": tf.repeat(maps, count, axis=0),
        }


def write_page_models(base):
    """Write `translation` and `captioning` below a folder."""
    echo, painter = Echo(), Painter()
    for task, model, signatures in (
        (
            "translation",
            echo,
            {
                "serving_default": echo.plain,
                "explain": echo.explain,
                "n_best": echo.n_best,
            },
        ),
        ("captioning", painter, {"explain": painter.explain}),
    ):
        folder = base / f"my-{task}" / "1"
        tf.saved_model.save(model, str(folder), signatures)
        card = json.dumps({"task": task, "golden": {}, "note": ATTACK})
        (folder / "model_card.json").write_text(card)
