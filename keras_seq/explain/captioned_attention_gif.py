"""Pictures lit up word by word, one after the other, in an animated GIF."""

import numpy as np

from keras_seq.explain.captioned_attention_figure import draw_picture
from keras_seq.explain.lit_image import enlarge, light
from keras_seq.explain.token_fonts import drawable_text, fonts_for

_INK, _QUIET, _MARK = "#24292f", "#8c959f", "#bc4c00"
_SIDE, _GAP, _LINE = 3.6, 0.25, 0.34  # inches


def write_captioned_gif(path, pixels, models, title=None, dpi=100, seconds=0.8):
    """Write the GIF: the picture, then a frame for each word, then a rest.

    Args:
        path: Where to write.
        pixels: `(H, W, 3)` uint8.
        models: A list of `CaptionedAttention`, drawn side by side.
        title: Text above all.
        dpi: Dots per inch; a picture is about 3.6 inches wide.
        seconds: How long each word stays.
    """
    import PIL.Image

    count = max(len(m.words) for m in models)
    large = enlarge(pixels, 480)
    frames = [
        PIL.Image.fromarray(_frame(large, pixels, models, title, dpi, t))
        for t in range(-1, count + 1)
    ]
    # One palette for all frames: colours that flicker would draw the eye.
    sheet = PIL.Image.new("RGB", (frames[0].width, 3 * frames[0].height))
    for place in range(3):
        chosen = frames[place * (len(frames) - 1) // 2]
        sheet.paste(chosen, (0, place * frames[0].height))
    palette = sheet.quantize(256, PIL.Image.Quantize.MEDIANCUT)
    frames = [frame.quantize(palette=palette) for frame in frames]
    rest = round(1000 * seconds)
    frames[0].save(
        path,
        save_all=True,
        append_images=frames[1:],
        duration=[rest] * (len(frames) - 1) + [3 * rest],
        loop=0,
        disposal=1,
    )


def _frame(large, pixels, models, title, dpi, step):
    """Draw one frame: word `step` of each; before 0 and after all, none."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height, width = pixels.shape[:2]
    wide, tall = (_SIDE * n / max(height, width) for n in (width, height))
    wide = max(wide, 1.6)
    text = [title or "", *(m.name + m.caption for m in models)]
    families, drawable = fonts_for("".join(text))
    style = {"family": families, "va": "center", "parse_math": False}
    head = _GAP + (_LINE * 1.2 if title else 0)
    head += _LINE if any(m.name for m in models) else 0

    # Where the words go is the same in every frame; so is the room for them.
    probe = FigureCanvasAgg(Figure((1, 1), dpi))

    def length(word):
        drawn = probe.figure.text(
            0, 0, word, fontsize=13, weight="bold", **style
        )
        return drawn.get_window_extent().width / dpi

    placed = []
    for model in models:
        x, line, places = 0.0, 0, []
        for word in (drawable_text(w, drawable) for w in model.words):
            size = length(word)
            if x and x + size > wide:
                x, line = 0.0, line + 1
            places.append((x, line, word))
            x += size + 0.09
        placed.append(places)
    lines = 1 + max(line for places in placed for _, line, _ in places)
    size = (
        _GAP + len(models) * (wide + _GAP),
        head + tall + 0.15 + lines * _LINE + _GAP,
    )
    figure = Figure(size, dpi, facecolor="white", layout="none")
    canvas = FigureCanvasAgg(figure)

    def write(x, y, said, points, **more):
        figure.text(
            x / size[0], 1 - y / size[1], said, fontsize=points, **more, **style
        )

    if title:
        said = drawable_text(title, drawable)
        write(size[0] / 2, _GAP + 0.4 * _LINE, said, 15, ha="center")
    for number, (model, places) in enumerate(zip(models, placed, strict=True)):
        x = _GAP + number * (wide + _GAP)
        name = drawable_text(model.name, drawable)
        write(x, head - 0.6 * _LINE, name, 13, weight="bold", color=_INK)
        is_on = 0 <= step < len(model.words)
        lit = light(large, model.maps[step]) if is_on else large
        axis = figure.add_axes(
            (
                x / size[0],
                1 - (head + tall) / size[1],
                wide / size[0],
                tall / size[1],
            )
        )
        boxes = model.boxes[step] if is_on else []
        draw_picture(axis, lit, boxes, (height, width))
        for t, (left, line, word) in enumerate(places):
            if step < t:
                continue  # Not said yet.
            now = t == step
            colour = _MARK if now else _INK if not is_on else _QUIET
            y = head + tall + 0.15 + (line + 0.5) * _LINE
            weight = "bold" if now else "normal"
            write(x + left, y, word, 13, weight=weight, color=colour)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
