"""Translators: trained, saved, scored, and given what strangers give."""

import json
import warnings

import numpy as np
import pytest

from keras_seq.models import transformer
from keras_seq.tasks import translation
from keras_seq.tasks.translation import Translator, training_batches
from keras_seq.tasks.translation_evaluation import token_crossentropy
from keras_seq.tasks.translation_export import translation_signatures
from keras_seq.tasks.translation_recipes import (
    TRAINING_DEFAULTS,
    learning_rate_schedule,
    resolve_settings,
)
from keras_seq.text import SubwordTokenizer
from tests.tasks.translation_toy import SETTINGS, toy_dataset

pytestmark = pytest.mark.tensorflow


def train(folder, **overrides):
    settings = {**SETTINGS, "folder": folder, "verbose": 0, **overrides}
    return translation.train(toy_dataset(), **settings)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("translation")
    return folder, *train(folder, epochs=24)


def test_a_transformer_learns_the_toy_language(trained):
    _, translator, result = trained
    columns = toy_dataset().columns("test")
    found = translator.translate(columns["source"])
    right = np.mean(
        [a == b for a, b in zip(found, columns["target"], strict=True)]
    )
    assert right >= 0.9, result.history[-1]
    scores = translation.evaluate(translator, toy_dataset())
    assert scores["bleu"] > 80 and scores["sentences"] <= 40
    assert (
        sum(part["sentences"] for part in scores["bleu_by_length"].values())
        == (scores["sentences"])
    )
    assert translator.translate(["dog sees red cat"]) == [
        "chien voit rouge chat"
    ]


def test_crossentropy_is_of_each_token_whatever_the_batches(trained):
    translator = trained[1]
    columns = toy_dataset().columns("test")
    columns = {name: column[:11] for name, column in columns.items()}
    start, end = translator.tokenizer.start_id, translator.tokenizer.end_id
    losses = []
    for source, target in zip(
        *map(translator.encode_rows, columns.values()), strict=True
    ):
        logits = translator.model(
            {
                "source_ids": np.append(source, end)[None],
                "target_ids": np.insert(target, 0, start)[None],
            }
        )[0].numpy()
        logits = logits.astype("float64")
        highest = logits.max(-1, keepdims=True)
        log_sum = np.log(np.exp(logits - highest).sum(-1)) + highest[:, 0]
        right = np.append(target, end)
        losses += list(log_sum - logits[np.arange(len(right)), right])
    for tokens in (16, 4096):
        found = token_crossentropy(translator, columns, tokens)
        np.testing.assert_allclose(found, np.mean(losses), rtol=1e-4)


def test_greedy_and_beams_of_any_batch_agree_on_it(trained):
    translator = trained[1]
    texts = list(toy_dataset(seed=1).columns("test")["source"])
    found = translator.translate(texts)
    assert translator.translate(texts, batch_size=3) == found
    assert translator.translate(texts, beam_size=1) == found
    assert translator.translate(texts[::-1])[::-1] == found


def test_the_coverage_penalty_is_that_of_the_settings_if_none_is_said(trained):
    translator = Translator(trained[1].tokenizer, trained[1].model)
    texts = list(toy_dataset(seed=1).columns("test")["source"])
    plain = translator.translate(texts)
    translator.settings["coverage_penalty"] = 30.0
    found = translator.translate(texts)
    assert found == translator.translate(texts, coverage_penalty=30.0)
    assert plain == translator.translate(texts, coverage_penalty=0.0) != found


def test_every_signature_searches_with_the_coverage_penalty(trained):
    translator = Translator(trained[1].tokenizer, trained[1].model)
    texts = np.array(["one red cat and two dog", "", "cat"], object)
    ids = translator.encode(texts)
    without = translator.search(ids).scores[:, 0]
    want = translator.search(ids, coverage_penalty=0.4).scores[:, 0]
    # The empty text has none: its translation is empty whatever is asked.
    assert (np.abs(want - without) > 1e-3).tolist() == [True, False, True]
    translator.settings["coverage_penalty"] = 0.4
    signatures = translation_signatures(translator, n_best=2)
    for name in ("serving_default", "fast", "explain"):
        found = signatures[name](texts)["score"]
        np.testing.assert_allclose(found, want, rtol=1e-4, err_msg=name)
    best = signatures["n_best"](texts)["scores"][:, 0]
    np.testing.assert_allclose(best, want, rtol=1e-4)
    by_ids = signatures["from_ids"](ids)["score"]
    np.testing.assert_allclose(by_ids, want, rtol=1e-4)


def test_a_folder_gives_the_translator_back(trained):
    folder, translator, _ = trained
    again = Translator.load(folder)
    assert again.translate(["two cat and dog"]) == translator.translate(
        ["two cat and dog"]
    )
    assert again.settings == json.loads(json.dumps(translator.settings))
    record = json.loads((folder / "run.json").read_text())
    for name in ("padding_share", "pairs_too_long"):
        assert record["settings"][name] == again.settings[name]
    assert 0 < again.settings["padding_share"] < 0.5
    assert again.settings["pairs_too_long"] == 0
    assert record["settings"]["label_smoothing"] == 0.0


@pytest.mark.parametrize(
    "text", ["", "   ", "\u200b", b"\xff\xfe", "日本語 👍"]
)
def test_any_text_has_an_answer(trained, text):
    (answer,) = trained[1].translate([text])
    assert isinstance(answer, str)
    if not isinstance(text, bytes) and not text.strip():
        assert answer == ""


def test_no_texts_have_no_answers(trained):
    assert trained[1].translate([]) == []


def test_2000_words_are_cut_with_a_warning(trained):
    with pytest.warns(UserWarning, match="1 of 2 texts.*more than 199 tokens"):
        answers = trained[1].translate(["cat " * 2000, "cat"], beam_size=1)
    assert answers[1] == "chat"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trained[1].translate(["cat " * 50], beam_size=1)


def test_a_vocabulary_that_does_not_fit_is_refused(trained):
    tokenizer = trained[1].tokenizer
    size = tokenizer.vocabulary_size
    with pytest.raises(
        ValueError, match=f"{size + 1} tokens. Received: {size}"
    ):
        Translator(tokenizer, transformer(size + 1, "test"))


def test_a_folder_without_a_translator_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has no translator.json"):
        Translator.load(tmp_path)


def test_batches_shift_the_target_by_one_and_drop_what_is_too_long():
    tokenizer = SubwordTokenizer.train(["a b c d"], 270)
    model = transformer(tokenizer.vocabulary_size, "test")
    translator = Translator(tokenizer, model)
    columns = {
        "source": np.array(["a b", "a " * 30], object),
        "target": np.array(["c d c", "d"], object),
    }
    how = {**TRAINING_DEFAULTS, "max_length": 12}
    batches = training_batches(translator, columns, how)
    ((inputs, labels),) = batches.arrays()
    start, end = tokenizer.start_id, tokenizer.end_id
    source, target = (
        tokenizer.tokenize([text])[0].numpy().tolist()
        for text in ("a b", "c d c")
    )
    assert inputs["source_ids"].tolist() == [[*source, end]]
    assert inputs["target_ids"].tolist() == [[start, *target]]
    assert labels.tolist() == [[*target, end]]
    with pytest.raises(ValueError, match="`max_length`.*Received: 2"):
        training_batches(translator, columns, {**how, "max_length": 2})


def test_words_are_split_by_chance_anew_in_each_epoch():
    columns = toy_dataset(30).columns("train")
    tokenizer = SubwordTokenizer.train(
        [*columns["source"], *columns["target"]], 310
    )
    model = transformer(tokenizer.vocabulary_size, "test")
    translator = Translator(tokenizer, model)
    how = {**TRAINING_DEFAULTS, "subword_dropout": 0.5}

    def rows(epoch, **options):
        batches = training_batches(translator, columns, how, **options)
        (((inputs, labels)),) = batches.arrays(epoch)
        assert (inputs["target_ids"][:, 1:] == labels[:, :-1])[
            labels[:, 1:] > 0
        ].all()
        return inputs["source_ids"].tolist(), labels.tolist()

    def texts(ids):
        return sorted(tokenizer.detokenize(ids).numpy().tolist())

    epochs = [rows(epoch) for epoch in (0, 1, 0)]
    assert epochs[0] == epochs[2] != epochs[1]
    for sides in epochs:
        for ids, side in zip(sides, ("source", "target"), strict=True):
            assert texts(ids) == sorted(x.encode() for x in columns[side])
    # What the training is judged by is split as the translator does it.
    assert rows(0, shuffle=False) == rows(1, shuffle=False)
    # Letters by themselves would not fit; the pair is not lost.
    longest = max(map(len, translator.encode_rows(columns["source"])))
    how["max_length"] = longest + 1
    fitting = rows(0)
    assert texts(fitting[0]) == texts(epochs[0][0])
    assert max(map(len, fitting[0])) <= longest + 1


@pytest.mark.parametrize("model", ["rnn_search", "seq2seq"])
def test_recurrent_models_train_and_translate(model, tmp_path):
    dataset = toy_dataset(60)
    translator, result = translation.train(
        dataset,
        model,
        "test",
        folder=tmp_path,
        vocabulary_size=330,
        epochs=2,
        bleu_sentences=5,
        patience=1,
        monitor="bleu",
        verbose=0,
    )
    assert np.isfinite(result.history[-1]["val_loss"])
    assert "bleu" in result.history[-1]
    assert len(translator.translate(["one cat", ""])) == 2


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"model": "lstm"}, "`model`"),
        ({"preset": "huge"}, "`preset`"),
        ({"num_layer": 2}, "`overrides`"),
        ({"patience": 2, "monitor": "bleu"}, "`bleu_sentences`"),
        ({"schedule": "linear"}, "`schedule`"),
        ({"subword_dropout": 1.0}, "`subword_dropout`"),
        ({"average_epochs": -1}, "`average_epochs`"),
        ({"languages": "nonsense"}, "`languages`"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, named, tmp_path):
    given = {"preset": "test", "vocabulary_size": 330, **settings}
    with pytest.raises(ValueError, match=f"{named}.*Received"):
        translation.train(
            toy_dataset(20), folder=tmp_path, verbose=0, epochs=1, **given
        )


def test_a_cosine_ends_with_the_last_batch():
    how = {**TRAINING_DEFAULTS, "schedule": "cosine", "warmup_steps": 100}
    how |= {"learning_rate": 8e-3, "gradient_accumulation_steps": 2}
    schedule = learning_rate_schedule(how, 2200)  # 1,100 updates
    rates = [float(schedule(step)) for step in (50, 100, 600, 1100)]
    np.testing.assert_allclose(rates, [4e-3, 8e-3, 4e-3, 0.0], atol=1e-8)
    short = learning_rate_schedule(how, 80)  # 40 updates, 10 to warm up
    assert float(short(10)) == pytest.approx(8e-3)


def test_recipes_give_way_to_what_was_asked():
    preset, how, model = resolve_settings(
        "multi30k", overrides={"epochs": 3, "dropout": 0.4}
    )
    assert how["epochs"] == 3
    assert how["label_smoothing"] == TRAINING_DEFAULTS["label_smoothing"]
    assert model["dropout"] == 0.4
