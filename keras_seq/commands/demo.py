"""`keras-seq demo`: from nothing to a SavedModel that translates."""

import argparse
import pathlib
import sys
import time

from keras_seq.commands.run_folders import next_run, write_settings
from keras_seq.commands.wording import duration, in_shell, on_one_line

_DONE = 0
_SENTENCE = "The little girl doesn't like these red apples."
_SHOWN = 10
_SECONDS = 220  # to learn in; three epochs, seven minutes, do better
_EXPORT = pathlib.Path("outputs/exported/translation")


def add_parser(commands) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "demo",
        help="train a small translator, look into it, export it, use it",
        description="Train a Transformer on the built-in English-French "
        "sentences, score it, draw what it looked at, export it, and let a "
        "process without keras_seq translate TEXT.",
        epilog="example:\n"
        '  keras-seq demo "We know that my aunts are going to sing."',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "texts",
        nargs="*",
        metavar="TEXT",
        help="English to translate in the end (default: you are asked)",
    )
    parser.add_argument(
        "--fast",
        action="store_true",
        help="learn next to nothing, to see that all of it runs",
    )
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Go through it all; return the exit code."""
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    begun = time.perf_counter()
    folder, *trained = _train(arguments.fast)
    _score(*trained)
    _draw(*trained, folder)
    # Compiling takes longest, and learns nothing from being done again.
    _export(folder, ("serving_default", "explain") if arguments.fast else None)
    _translate(arguments.texts or _ask_for_text())
    print(f"\nAll of it took {duration(time.perf_counter() - begun)}.")
    print(f"Next: keras-seq explain {in_shell(_EXPORT)} {in_shell(_SENTENCE)}")
    return _DONE


def _train(fast):
    from keras_seq.commands import translation_task
    from keras_seq.data import load_grammar_pairs
    from keras_seq.tasks import translation

    folder = next_run("translation")
    settings = {**translation_task.DEFAULTS, "data": "grammar"}
    write_settings(folder, "translation", settings)
    _headline(f"Training a Transformer on built-in sentences, in {folder}")
    how = {"time_limit": _SECONDS}
    if fast:
        how = {"preset": "test", "epochs": 1, "vocabulary_size": 600}
        data = load_grammar_pairs(200, 20, 20)
    else:
        data = load_grammar_pairs()
    translator, _ = translation.train(data, folder=folder, verbose=1, **how)
    return folder, translator, data


def _score(translator, data):
    from keras_seq.tasks import translation

    _headline("Translating sentences whose words it never saw together")
    scores = translation.evaluate(translator, data)
    print(f"BLEU {scores['bleu']:.1f}  ({scores['bleu_signature']})")
    print(f"chrF {scores['chrf']:.1f}  ({scores['chrf_signature']})")
    if "alignment_error" in scores:
        print(
            f"alignment error {scores['alignment_error']:.2f}  (of the "
            "attention head that was best on other sentences; 0 is perfect)"
        )
    columns = data.columns("test")
    rows = range(min(_SHOWN, len(columns["source"])))
    found = translator.translate([columns["source"][row] for row in rows])
    for row, text in zip(rows, found, strict=True):
        right = text == columns["target"][row]
        print(f"\n  {columns['source'][row]}")
        print(f"  {'=' if right else '!'} {on_one_line(text)}")
        if not right:
            print(f"  . {columns['target'][row]}")
    print("\n  (= as the reference, ! otherwise, . the reference)")


def _draw(translator, data, folder):
    from keras_seq import explain
    from keras_seq.data import split_words
    from keras_seq.tasks.translation_alignment import word_attention

    columns = data.columns("test")
    # A sentence of a length that can be read off a picture.
    row = min(
        range(len(columns["source"])),
        key=lambda row: abs(len(columns["source"][row].split()) - 9),
    )
    source, target = columns["source"][row], columns["target"][row]
    (weights,) = word_attention(translator, [source], [target])
    ((layer, head),) = translator.settings["alignment_heads"]
    path = folder / "alignment.png"
    explain.plot_attention(
        weights[layer, head],
        split_words(target),
        split_words(source),
        path,
        title="Which English word each French word looks at",
    )
    print(f"\nWhere it looked is drawn in {path}")


def _export(folder, signatures):
    from keras_seq.commands.translation_model import TranslationRun

    _headline("Exporting, and asking the export in a process of its own")
    path = TranslationRun(folder).export(_EXPORT, signatures)
    size = sum(p.stat().st_size for p in path.rglob("*") if p.is_file())
    print(f"{path} ({size / 1e6:.1f} MB) gives the same answers there.")


def _ask_for_text():
    """Return what to translate in a list; Ctrl-D is for nothing."""
    if not sys.stdin.isatty():
        return [_SENTENCE]
    print(f"\nAn English sentence, please, or Enter for {_SENTENCE!r}:")
    try:
        return [input("> ").strip() or _SENTENCE]
    except EOFError:
        print()
        return []


def _translate(texts):
    if not texts:
        return
    from keras_seq.export.clean_process import ask_in_clean_process
    from keras_seq.export.version_folders import find_version

    folder = find_version(_EXPORT)
    answer = ask_in_clean_process(folder, "serving_default", texts)
    for text, translation in zip(texts, answer["text"], strict=True):
        print(f"\n  {on_one_line(text)}")
        print(f"  {on_one_line(translation)}")


def _headline(text):
    print(f"\n{text}\n{'-' * len(text)}")
