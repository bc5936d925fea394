"""Learning curves: what is in the picture."""

from keras_seq.training import draw_curves

HISTORY = [
    {
        "epoch": epoch,
        "loss": 4.0 / epoch,
        "token_accuracy": 1 - 0.7 / epoch,
        "learning_rate": 0.1 / epoch,
        "val_loss": 4.4 / epoch,
        "val_token_accuracy": 1 - 0.8 / epoch,
        "bleu": 30 - 20 / epoch,
        "per_class": [0.1, 0.2],
        "seconds": 10.0 * epoch,
    }
    for epoch in range(1, 8)
]


def panels(figure):
    return {axes.get_title(): axes for axes in figure.axes}


def test_training_and_validation_share_a_panel():
    found = panels(draw_curves(HISTORY))
    assert list(found) == ["loss", "token accuracy", "learning rate", "bleu"]
    lines = found["loss"].get_lines()
    assert [line.get_label() for line in lines] == ["training", "validation"]
    assert list(lines[1].get_xdata()) == [1, 2, 3, 4, 5, 6, 7]
    assert list(lines[1].get_ydata()) == [logs["val_loss"] for logs in HISTORY]
    assert len(found["bleu"].get_lines()) == 1


def test_best_epoch_is_marked():
    axes = panels(draw_curves(HISTORY, best_epoch=5))["bleu"]
    mark = axes.get_lines()[-1]
    assert mark.get_label() == "best epoch" and mark.get_xdata()[0] == 5


def test_metric_that_came_late_and_validation_alone_are_drawn():
    history = [{"epoch": 1, "val_bleu": 1.0}, {"epoch": 2, "chrf": 2.0}]
    found = panels(draw_curves(history))
    assert list(found) == ["bleu", "chrf"]
    assert list(found["chrf"].get_lines()[0].get_xdata()) == [2]


def test_picture_is_a_png(tmp_path):
    draw_curves(HISTORY, tmp_path / "curves.png", best_epoch=7)
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    draw_curves([], tmp_path / "nothing.png")
    assert (tmp_path / "nothing.png").exists()
