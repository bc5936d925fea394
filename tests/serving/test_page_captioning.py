"""The page describes images, however they are given to it."""

import base64
import json
import struct
import zlib

import pytest

from keras_seq.serving.app import create_app
from keras_seq.serving.repository import ModelRepository
from tests.serving.conftest import SHIPPED, running
from tests.serving.test_page import (
    PICTURES,
    WORDS,
    fits_the_width,
    pytestmark,  # noqa: F401  (a Chromium)
    texts,
)

TARGET = WORDS.format("captioning", "target")
STAGE = "document.querySelector('#captioning .result > canvas')"
SHOWN = "!document.querySelector('#captioning .result').hidden"


def png(size=48):
    """An image of one red quarter."""
    rows = b"".join(
        b"\0"
        + b"".join(
            b"\xd0\x20\x20" if x > size // 2 > y else b"\x40\x60\x90"
            for x in range(size)
        )
        for y in range(size)
    )

    def chunk(kind, data):
        check = zlib.crc32(kind + data)
        return (
            struct.pack(">I", len(data))
            + kind
            + data
            + struct.pack(">I", check)
        )

    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def files(image):
    """JavaScript for a `DataTransfer` that holds an image."""
    encoded = base64.b64encode(image).decode()
    return (
        "(() => { const bytes = Uint8Array.from(atob("
        f"'{encoded}'), (c) => c.charCodeAt(0));"
        "const all = new DataTransfer();"
        "all.items.add(new File([bytes], 'a.png', {type: 'image/png'}));"
        "return all; })()"
    )


def drop(page, path, image):
    page.run(
        "document.querySelector('.drop').dispatchEvent(new DragEvent('drop', "
        f"{{bubbles: true, cancelable: true, dataTransfer: {files(image)}}}))"
    )


def paste(page, path, image):
    page.run(
        "document.body.dispatchEvent(new ClipboardEvent('paste', "
        f"{{bubbles: true, clipboardData: {files(image)}}}))"
    )


def choose(page, path, image):
    path.write_bytes(image)
    root = page.call("DOM.getDocument")["root"]["nodeId"]
    field = page.call(
        "DOM.querySelector", nodeId=root, selector="#captioning-file"
    )
    page.call(
        "DOM.setFileInputFiles", files=[str(path)], nodeId=field["nodeId"]
    )


@pytest.mark.parametrize("give", [drop, paste, choose])
def test_an_image_can_be_dropped_pasted_and_chosen(page, tmp_path, give):
    give(page, tmp_path / "a.png", png())
    page.wait(SHOWN)
    assert texts(page, TARGET) == ["a", "red", "<b>ball</b>", "here"]
    assert texts(page, "[role=tab][aria-selected=true]") == ["Describe"]


def test_an_image_lights_up_word_by_word(page, tmp_path):
    drop(page, tmp_path, png())
    page.wait(SHOWN)
    detail = "#captioning .detail"
    page.run("document.querySelector('[data-play]').click()")  # it plays: stop
    page.run("showStep(0)")
    page.run("document.querySelector('#captioning [data-step=\"1\"]').click()")
    assert texts(page, detail) == ["Word 2 of 4: \u201cred\u201d"]
    # "red" looks at the last third of the first row, where the red is.
    pixel = f"[...{STAGE}.getContext('2d').getImageData({{}}, 40, 1, 1).data]"
    lit, dark = (page.run(pixel.format(x)) for x in (440, 40))
    assert lit[0] > 150 and dark[0] < 60
    assert page.run("document.querySelectorAll('.strip canvas').length") == 4
    page.run("document.querySelector('[data-play]').click()")
    page.wait("document.querySelector('[data-play]').textContent === 'Play'")
    assert texts(page, detail) == ["Word 4 of 4: \u201chere\u201d"]
    page.screenshot(PICTURES / "captioning-light.png")
    page.look(390, 844, phone=True)
    assert fits_the_width(page)


def test_what_is_no_image_is_said_so(page, tmp_path):
    drop(page, tmp_path, b"no image")
    page.wait("!document.querySelector('#captioning .error').hidden")
    assert "no image" in texts(page, "#captioning .error")[0]


@pytest.mark.skipif(
    not (SHIPPED / "captioning").is_dir(), reason="no captioner is shipped"
)
def test_the_shipped_captioner(browser, tmp_path):
    from keras_seq.data import encode_png, paint_scenes

    scene = next(iter(paint_scenes(1, seed=5)))
    repository = ModelRepository([SHIPPED / "captioning"])
    repository.scan()
    browser.look()
    browser.problems.clear()
    with running(create_app(repository)) as ((host, port), _):
        browser.open(f"http://{host}:{port}/")
        browser.wait("!document.getElementById('tab-captioning').disabled")
        drop(browser, tmp_path, encode_png(scene.image))
        browser.wait(SHOWN, 60)
        words = texts(browser, TARGET)
        assert 3 <= len(words) <= 40
        maps = json.loads(browser.run("JSON.stringify(film.maps)"))
        assert len(maps) == len(words)
        for grid in maps:
            assert sum(map(sum, grid)) == pytest.approx(1, abs=0.05)
        browser.run("stop(); showStep(2)")
        for name, look in (
            ("light", {}),
            ("dark", {"dark": True}),
            ("phone", {"width": 390, "height": 844, "phone": True}),
        ):
            browser.look(**look)
            browser.screenshot(PICTURES / f"captioning-shipped-{name}.png")
        assert fits_the_width(browser)
    repository.stop()
    assert browser.problems == []
