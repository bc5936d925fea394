"""The work that engines race at: 26 words in, 64 tokens out.

Each loads what `decoding_models.make_models` wrote, and checks its answer
against that of the others before it is timed.
"""

import pathlib

from benchmarks.decoding_models import TOKENS, VOCABULARY, texts

LEAST_AGREEMENT = 0.95  # of tokens; rounding may turn a near tie


def keras_seq(folder, batch, beam, signature):
    """A signature of our SavedModel, text to text."""
    import tensorflow as tf

    path = pathlib.Path(folder) / f"keras_seq-{beam}"
    serve = tf.saved_model.load(str(path)).signatures[signature]
    questions = tf.constant(texts(batch))

    def work():
        return serve(text=questions)["text"].numpy()

    answer = [text.decode().split() for text in work()]
    return _checked(folder, batch, beam, answer, work)


def keras_hub(folder, batch, beam):
    """KerasHub's cached greedy loop, ids to ids."""
    import tensorflow as tf

    path = pathlib.Path(folder) / "keras_hub"
    serve = tf.saved_model.load(str(path)).signatures["serving_default"]
    ids = [[*map(_id_of, row.split()), 3] for row in texts(batch)]
    questions = tf.constant(ids, tf.int32)

    def work():
        return serve(source_ids=questions)["token_ids"].numpy()

    answer = [[f"w{n}" for n in row] for row in work()]
    return _checked(folder, batch, beam, answer, work)


def ctranslate2(folder, batch, beam, threads):
    """CTranslate2, float32, tokens to tokens."""
    from ctranslate2 import Translator

    translator = Translator(
        str(pathlib.Path(folder) / "ctranslate2"),
        compute_type="float32",
        intra_threads=threads,
    )
    questions = [[*row.split(), "</s>"] for row in texts(batch)]

    def work():
        return translator.translate_batch(
            questions,
            beam_size=beam,
            max_decoding_length=TOKENS,
            length_penalty=0.6,
        )

    answer = [result.hypotheses[0] for result in work()]
    return _checked(folder, batch, beam, answer, work)


def _id_of(word):
    return int(word.removeprefix("w"))


def _checked(folder, batch, beam, answer, work):
    """Return `work`, if `answer` is that of the engine that came first."""
    import numpy as np

    ids = np.array([[_id_of(word) for word in row] for row in answer])
    if ids.shape != (batch, TOKENS) or not (ids < VOCABULARY).all():
        raise ValueError(f"{TOKENS} tokens were wanted. Received: {ids.shape}")
    path = pathlib.Path(folder) / f"answer-{batch}-{beam}.npy"
    if not path.exists():
        np.save(path, ids)
    agreement = float(np.mean(ids == np.load(path)))
    if agreement < LEAST_AGREEMENT:
        raise ValueError(f"The engines must agree. Received: {agreement:.3f}")
    return work
