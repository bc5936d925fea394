"""Captioners scored: what they say, and where they look as they say it."""

import statistics

import numpy as np

from keras_seq.explain import pointing_accuracy
from keras_seq.tasks.captioning_data import load_data
from keras_seq.tasks.captioning_scores import captioning_scores
from keras_seq.tasks.image_inputs import warn_of


def evaluate(
    captioner,
    data,
    *,
    data_dir=None,
    split="test",
    beam_size=None,
    length_penalty=None,
    use_meteor=True,
    limit=None,
) -> dict[str, float]:
    """Score a captioner.

    Args:
        captioner: A `Captioner`.
        data: As in `captioning.train`.
        data_dir: As in `captioning.train`.
        split: "test", "validation", "train"; painted scenes have more.
        beam_size: As in `Captioner.search`.
        length_penalty: As in `Captioner.search`.
        use_meteor: As in `captioning_scores`.
        limit: How many pictures to score; by default all of them.

    Returns:
        The scores of `captioning_scores`, and `pictures`, how many there
        were. Where the data has gold boxes, `pointing_accuracy` too, with its
        `pointing_chance` and `pointing_share` (see
        `explain.pointing_accuracy`), if the model has attention; and
        `relative_bleu_4`, see `relative_bleu`.
    """
    dataset = load_data(data, data_dir)
    captions = dataset.columns(split)["captions"]
    rows = list(range(len(captions)))[:limit]
    features, rows = picture_features(captioner, dataset, split, rows)
    how = {"beam_size": beam_size, "length_penalty": length_penalty}
    gold = dataset.gold.get(split)
    looks = None
    if gold is not None and captioner.has_attention:
        said = captioner.explain_features(features, **how)
        found = [one.text for one in said]
        looks = [(one.words, one.attention) for one in said]
    else:
        found = captioner.caption_features(features, **how)
    return score_captions(found, dataset, split, rows, looks, use_meteor)


def score_captions(
    found, dataset, split, rows, looks=None, use_meteor=True
) -> dict[str, float]:
    """Return what `evaluate` does, of captions that something has said.

    Args:
        found: A caption for each of `rows`.
        dataset: A `data.CaptionedImages`.
        split: Which part of it.
        rows: Which pictures.
        looks: `(words, attention (T, h, w))` for each, if there is gold.
        use_meteor: As in `captioning_scores`.
    """
    captions = dataset.columns(split)["captions"]
    references = [list(captions[row]) for row in rows]
    scores = captioning_scores(found, references, use_meteor)
    if looks is not None:
        scores |= _pointing(looks, dataset, split, rows)
    if dataset.gold.get(split) is not None:
        scores["relative_bleu_4"] = relative_bleu(found, references)
    return {**scores, "pictures": len(rows)}


def picture_features(captioner, dataset, split, rows, chunk=64):
    """Return features of some pictures, and the rows that could be read.

    Args:
        captioner: A `Captioner`.
        dataset: A `data.CaptionedImages`.
        split: Which part of it.
        rows: Which pictures.
        chunk: How many to hold in memory at a time.
    """
    columns = dataset.columns(split)
    found, bad = [], {}
    for at in range(0, len(rows), chunk):
        some = rows[at : at + chunk]
        if "image" in columns:
            images, lost = [columns["image"][row] for row in some], {}
        else:
            images, lost = read_rows(dataset, split, some)
        read = [row for row in some if row not in lost]
        features, failures = captioner.features(images)
        # Half as much to hold, and no caption the worse for it.
        found.append(features.astype("float16"))
        bad |= lost
        bad |= {read[place]: why for place, why in failures.items()}
    leave_out(dataset, split, rows, bad, stacklevel=3)
    return np.concatenate(found), [row for row in rows if row not in bad]


def read_rows(dataset, split, rows) -> tuple[list[bytes], dict[int, str]]:
    """Return the bytes of those pictures that can be read, and what is not.

    Args:
        dataset: A `data.CaptionedImages`.
        split: Which part of it.
        rows: Which pictures.

    Returns:
        The bytes, in order; and `{row: why it could not be read}`.
    """
    found, bad = [], {}
    for row in rows:
        try:
            found.append(dataset.image_bytes(split, row))
        except OSError as error:
            bad[row] = error.strerror or str(error)
    return found, bad


def leave_out(dataset, split, rows, bad, stacklevel) -> None:
    """Warn of pictures that are left out, by name; refuse if all would be.

    Args:
        dataset: A `data.CaptionedImages`.
        split: Which part of it.
        rows: Which pictures were asked for.
        bad: `{row: why it could not be read}`.
        stacklevel: As in `warnings.warn`.
    """
    if not bad:
        return
    names = dataset.columns(split).get("name")
    named = [f"number {row}" if names is None else names[row] for row in rows]
    failures = {place: bad[r] for place, r in enumerate(rows) if r in bad}
    if len(failures) == len(rows):
        raise ValueError(
            f"`split` must have pictures that can be read. Received: {split!r}"
            f", with {len(rows)}, the first of them {named[0]}: {failures[0]}"
        )
    warn_of(failures, named, stacklevel + 1)


def relative_bleu(found, references) -> float:
    """Return BLEU-4 of captions over that of people, scored alike.

    Each of the right captions in turn is taken for a person's answer and
    scored against the others; the captions found are scored against the same
    others.

    >>> right = [["a red cup is on the table", "a red cup is on a table"]] * 2
    >>> relative_bleu(["a red cup is on the table"] * 2, right) > 1
    True
    """
    ours, theirs = [], []
    for out in range(min(map(len, references))):
        left = [[*r[:out], *r[out + 1 :]] for r in references]
        for bleus, said in (
            (ours, found),
            (theirs, [r[out] for r in references]),
        ):
            scores = captioning_scores(said, left, use_meteor=False)
            bleus.append(scores["bleu_4"])
    people = statistics.fmean(theirs)
    return statistics.fmean(ours) / people if people else float("nan")


def count_heads(captioner, features) -> int:
    """Return how many attentions there are, in all layers together.

    Args:
        captioner: A `Captioner` that has attention.
        features: Of one picture, or of more.
    """
    token_ids = np.full((1, 1), captioner.tokenizer.end_id, "int32")
    given = np.asarray(features[:1], "float32")
    layers, heads = captioner.attend_heads(given, token_ids).shape[1:3]
    return layers * heads


def choose_heads(captioner, features, gold, image_size) -> list[list[int]]:
    """Return `[[layer, head]]` of the attention that points best.

    Args:
        captioner: A `Captioner`.
        features: Of pictures to choose by.
        gold: Their gold, with `boxes_of`.
        image_size: `(height, width)` of the pictures.
    """
    found, words = [], []
    for at in range(0, len(features), 32):
        given = np.asarray(features[at : at + 32], "float32")
        token_ids = captioner.search(given, beam_size=1).token_ids[:, 0]
        maps = captioner.attend_heads(given, token_ids).numpy()
        for tokens, weights in zip(
            captioner.words_of(token_ids).numpy(), maps, strict=True
        ):
            said = [token.decode() for token in tokens if token]
            words.append(said)
            found.append(weights[:, :, : len(said)])
    boxes = [one.boxes_of(said) for one, said in zip(gold, words, strict=True)]
    layers, heads = found[0].shape[:2]
    accuracy = {
        (layer, head): pointing_accuracy(
            [one[layer, head] for one in found], words, boxes, image_size
        ).accuracy
        for layer in range(layers)
        for head in range(heads)
    }
    return [list(max(accuracy, key=accuracy.get))]


def _pointing(looks, dataset, split, rows):
    gold = dataset.gold[split]
    scores = pointing_accuracy(
        [maps for _, maps in looks],
        [words for words, _ in looks],
        [
            gold[row].boxes_of(words)
            for row, (words, _) in zip(rows, looks, strict=True)
        ],
        dataset.columns(split)["image"].shape[1:3],
    )
    return {
        "pointing_accuracy": scores.accuracy,
        "pointing_chance": scores.chance,
        "pointing_share": scores.share,
    }
