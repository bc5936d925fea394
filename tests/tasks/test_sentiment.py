"""The sentiment task: train, resume, evaluate, save, and awkward input."""

import json

import numpy as np
import pytest

from keras_seq import data
from keras_seq.tasks import sentiment
from keras_seq.tasks.sentiment import SentimentClassifier

pytestmark = pytest.mark.tensorflow
TINY = {"preset": "test", "epochs": 2, "verbose": 0}
AWKWARD = [
    "",
    "   ",
    "\n\t",
    "x" * 10_000,
    "word " * 2_000,
    "zzz qqq xxx",
    "[START] <pad> </s>",
    "\ud800 lone",
    "good \u0000 bad",
]


@pytest.fixture(scope="module")
def reviews():
    return data.load_reviews(num_train=200, num_validation=20, num_test=20)


@pytest.fixture(scope="module")
def trained(reviews, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    classifier, result = sentiment.train(reviews, folder=folder, **TINY)
    return classifier, result, folder


def table(path, rows, header="label\ttext"):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_training_leaves_a_whole_folder(trained):
    classifier, result, folder = trained
    names = {path.name for path in folder.iterdir()}
    assert {"model.keras", "classifier.json", "run.json", "curves.png"} <= names
    assert len(result.history) == 2
    assert result.history[-1]["loss"] < result.history[0]["loss"]
    settings = json.loads((folder / "run.json").read_text())["settings"]
    assert settings["preset"] == "test" and settings["data"] == "reviews"
    assert classifier.settings["licence"].startswith("Apache")


def test_a_loaded_classifier_answers_the_same(trained, reviews):
    classifier, _, folder = trained
    texts = reviews.columns("test")["text"]
    again = SentimentClassifier.load(folder)
    np.testing.assert_array_equal(
        classifier.predict(texts), again.predict(texts)
    )
    assert again.labels == ("negative", "positive")
    assert again.max_length == classifier.max_length
    assert again.settings["preset"] == "test"


def test_the_same_seed_gives_the_same_classifier(trained, reviews, tmp_path):
    classifier, _, _ = trained
    again, _ = sentiment.train(reviews, folder=tmp_path, **TINY)
    for a, b in zip(
        classifier.model.get_weights(), again.model.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_a_run_that_stopped_goes_on_to_the_same_end(
    trained, reviews, tmp_path, monkeypatch
):
    classifier, _, _ = trained
    # One batch of the second epoch is learned from, then the power fails.
    steps = sentiment.training.fit.__globals__["GraphSteps"]
    train_step, count = steps.train, []

    def failing(self, batch):
        if len(count) == 5:
            raise RuntimeError("power cut")
        count.append(1)
        train_step(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(steps, "train", failing)
        with pytest.raises(RuntimeError, match="power cut"):
            sentiment.train(reviews, folder=tmp_path, **TINY)
    with pytest.raises(ValueError, match="already holds a run"):
        sentiment.train(reviews, folder=tmp_path, **TINY)
    again, _ = sentiment.train(reviews, folder=tmp_path, resume=True, **TINY)
    for a, b in zip(
        classifier.model.get_weights(), again.model.get_weights(), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_any_text_has_an_answer(trained):
    classifier, _, _ = trained
    together = classifier.predict(AWKWARD)
    assert together.shape == (len(AWKWARD), 2)
    assert together.dtype == np.float32
    np.testing.assert_allclose(together.sum(axis=1), 1.0, rtol=1e-5)
    alone = np.concatenate([classifier.predict(text) for text in AWKWARD])
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-6)
    assert classifier.predict([]).shape == (0, 2)
    bad_bytes = classifier.predict([b"caf\xe9 \xff"])
    assert np.isfinite(bad_bytes).all()


def test_long_texts_keep_their_beginning_and_end(trained):
    classifier, _, _ = trained
    vocabulary = classifier.tokenizer.vocabulary()
    first, middle, last = vocabulary[10:13]
    text = " ".join([first] * 60 + [middle] * 500 + [last] * 60)
    (ids,) = classifier.encode([text]).numpy()
    assert len(ids) == classifier.max_length == 120
    assert ids.tolist() == [10] * 60 + [12] * 60
    spans = classifier.encode_with_offsets([text])
    assert spans.ids.to_list() == [ids.tolist()]
    start, end = spans.starts[0, -1].numpy(), spans.ends[0, -1].numpy()
    assert text[start:end] == last and end == len(text)


@pytest.mark.parametrize("tokenizer", ["word", "subword"])
def test_letters_are_learnt_with_either_tokenizer(reviews, tmp_path, tokenizer):
    classifier, _ = sentiment.train(
        reviews,
        folder=tmp_path,
        **{**TINY, "epochs": 1, "preset": "ngrams_spelling"},
        num_ngrams=3001,
        num_spellings=3001,
        vocabulary_size=400,
        tokenizer=tokenizer,
    )
    bag = classifier.model.get_layer("spelling_bag")
    ids = np.array(classifier.encode([reviews.columns("train")["text"][0]]))
    assert np.array(bag.find_keys(ids)).any()
    assert np.array(bag(ids)).any()
    assert np.isfinite(classifier.predict(["", "zzz"])).all()


def test_evaluate_counts_right(trained, reviews):
    classifier, _, _ = trained
    scores = sentiment.evaluate(classifier, reviews, split="hard")
    columns = reviews.columns("hard")
    chosen = classifier.predict(columns["text"])
    right = chosen.argmax(axis=1) == columns["label"]
    assert scores["examples"] == 20
    assert scores["accuracy"] == right.mean()
    loss = -np.log(chosen[np.arange(20), columns["label"]]).mean()
    assert scores["crossentropy"] == pytest.approx(loss, rel=1e-5)


def test_a_table_of_ones_own(tmp_path):
    texts = [f"{i} good" if i % 2 else f"{i} bad" for i in range(60)]
    rows = [f"{i % 2}\t{text}" for i, text in enumerate(texts)]
    path = table(tmp_path / "mine.tsv", rows, header="sign\twords")
    columns = {"text_column": "words", "label_column": "sign"}
    classifier, _ = sentiment.train(
        path,
        "test",
        folder=tmp_path / "run",
        epochs=15,
        batch_size=8,
        learning_rate=0.02,
        verbose=0,
        **columns,
    )
    scores = sentiment.evaluate(classifier, path, **columns)
    assert scores["examples"] == 60 and scores["accuracy"] == 1.0
    assert scores["precision"] == scores["recall"] == 1.0


@pytest.mark.parametrize(
    "rows, header, message",
    [
        (["1\tgood"], "label\twords", "line 1.*'text'.*Received"),
        (["good\tgood"], "label\ttext", "line 2.*'0', '1'.*Received: 'good'"),
        ([], "label\ttext", "rows below its header"),
    ],
)
def test_a_bad_table_is_named(tmp_path, rows, header, message):
    path = table(tmp_path / "mine.tsv", rows, header)
    with pytest.raises(ValueError, match=f"mine.tsv.*{message}"):
        sentiment.train(path, folder=tmp_path / "run")


def test_unknown_names_say_what_there_is(tmp_path, reviews):
    folder = tmp_path / "run"
    with pytest.raises(ValueError, match="'imdb'.*Received: 'yelp'"):
        sentiment.train("yelp", folder=folder)
    with pytest.raises(ValueError, match="`preset`.*Received: 'cnn'"):
        sentiment.train(reviews, "cnn", folder=folder)
    with pytest.raises(ValueError, match="'epochs'.*Received: epoch=3"):
        sentiment.train(reviews, folder=folder, epoch=3)
    with pytest.raises(ValueError, match="KERAS_SEQ_DATA"):
        sentiment.train("imdb", folder=folder, data_dir=tmp_path / "none")
    with pytest.raises(ValueError, match="has no classifier.json"):
        SentimentClassifier.load(tmp_path)
    assert not folder.exists()


def test_a_preset_brings_what_it_needs_and_can_be_overruled():
    from keras_seq.tasks.sentiment_recipes import resolve_settings

    of_recipe = resolve_settings("reviews", "gru")[1]
    of_preset = resolve_settings("reviews", "transformer")[1]
    asked = resolve_settings("reviews", "transformer", {"learning_rate": 0.5})
    assert of_preset["learning_rate"] < of_recipe["learning_rate"]
    assert of_preset["epochs"] == of_recipe["epochs"]
    assert asked[1]["learning_rate"] == 0.5
