"""The page in a real Chromium, under its own policy; pictures are kept.

They go to `outputs/page/`. Where no Chromium is installed, this is skipped.
"""

import base64
import json
import pathlib
import struct
import urllib.parse
import zlib

import pytest

from keras_seq.serving.app import create_app
from keras_seq.serving.repository import ModelRepository
from keras_seq.serving.settings import ServerSettings
from tests.serving.chromium import Chromium, find_chromium
from tests.serving.page_models import ATTACK, write_page_models
from tests.serving.test_hostile import running

pytest.importorskip("websocket", reason="needs websocket-client")
pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(
        find_chromium() is None, reason="no Chromium is installed"
    ),
]
PROJECT = pathlib.Path(__file__).parents[2]
SHIPPED = PROJECT / "saved_models"
PICTURES = PROJECT / "outputs" / "page"
WORDS = "#{} .words[data-words={}] button"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Chromium(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    base = tmp_path_factory.mktemp("page-models")
    write_page_models(base)
    repository = ModelRepository([base, SHIPPED / "sentiment"])
    repository.scan()
    yield repository
    repository.stop()


@pytest.fixture(scope="module")
def site(models):
    with running(create_app(models)) as ((host, port), _):
        yield f"http://{host}:{port}/"


@pytest.fixture
def page(browser, site):
    """The page, opened anew; nothing may have gone wrong on it at the end."""
    browser.problems.clear()
    browser.requests.clear()
    browser.look()
    browser.open(site)
    browser.wait(
        "document.getElementById('status').textContent.startsWith('Ready')"
    )
    yield browser
    assert browser.run("window.attacked") is None
    assert browser.problems == []
    outside = [
        url
        for url in browser.requests
        if not url.startswith((site, "about:", "data:", "blob:"))
    ]
    assert outside == []


def submit(page, task, text):
    """Choose a tab, type, send, and wait for the answer."""
    page.run(f"document.getElementById('tab-{task}').click()")
    field = f"document.querySelector('#{task} textarea')"
    page.run(f"{field}.value = {json.dumps(text)}")
    page.run(f"{field}.form.requestSubmit()")
    page.wait(
        f"!document.querySelector('#{task} .result').hidden &&"
        f"!document.querySelector('#{task} .result').ariaBusy"
    )


def texts(page, selector):
    return page.run(
        f"[...document.querySelectorAll({json.dumps(selector)})]"
        ".map((node) => node.textContent)"
    )


def test_sentiment_shows_the_words_that_decide(page):
    review = "A warm, funny film that I would gladly see again."
    submit(page, "sentiment", review)
    assert texts(page, "#sentiment .verdict strong") == ["positive"]
    assert texts(page, "#sentiment .review") == [review]
    assert len(texts(page, "#sentiment .review mark")) >= 8
    assert len(texts(page, "#sentiment tbody tr")) == 6
    page.screenshot(PICTURES / "sentiment-light.png")
    page.look(dark=True)
    page.screenshot(PICTURES / "sentiment-dark.png")
    page.look(390, 844, phone=True)
    page.screenshot(PICTURES / "sentiment-phone.png")
    assert fits_the_width(page)


def fits_the_width(page):
    return page.run("document.documentElement.scrollWidth <= innerWidth")


def test_translation_shows_where_a_word_came_from(page):
    submit(page, "translation", "one two three")
    assert texts(page, WORDS.format("translation", "target")) == [
        "one",
        "two",
        "three",
    ]
    hover = WORDS.format("translation", "target")
    page.run(
        f"document.querySelectorAll('{hover}')[1]"
        ".dispatchEvent(new PointerEvent('pointerenter'))"
    )
    detail = "#translation .detail"
    assert texts(page, detail) == ["two \u2190 two 100 %"]
    assert page.run("document.querySelectorAll('.links path').length") == 1
    rows = texts(page, "#translation .n-best tbody tr td:first-child")
    assert rows == ["one two three", "one two three <b>bold</b>"]
    page.run(
        "(() => { for (const [name, value] of [['layer', '0'], ['head', '1']])"
        "{ const s = document.querySelector(`[data-choice=${name}]`);"
        "s.value = value; s.dispatchEvent(new Event('change')); } })()"
    )
    assert texts(page, detail) == ["one \u2190 three 100 %"]
    page.look(390, 844, phone=True)
    assert fits_the_width(page)


def test_a_link_restores_what_was_shared(page, site):
    submit(page, "translation", "a b c")
    page.run(
        "(() => { const s = document.querySelector('[data-choice=layer]');"
        "s.value = '1'; s.dispatchEvent(new Event('change')); })()"
    )
    link = page.run("location.href")
    page.open(link)
    page.wait("document.querySelectorAll('#translation .words li').length")
    assert texts(page, WORDS.format("translation", "source")) == list("abc")
    assert page.run("document.querySelector('[data-choice=layer]').value") == (
        "1"
    )
    assert page.run("location.href") == link


def test_html_of_users_models_and_links_is_never_run(page, site):
    for task in ("translation", "sentiment"):
        submit(page, task, f"good {ATTACK} film")
        assert page.run("document.querySelectorAll('main img').length") == 0
        shown = page.run("document.querySelector('main').innerText")
        assert "<img" in shown
    link = urllib.parse.urlencode({"task": "sentiment", "text": ATTACK})
    page.open(f"{site}#{link}")
    page.wait("!document.querySelector('#sentiment .result').hidden")
    assert page.run("document.querySelectorAll('main img').length") == 0


def test_the_policy_stops_what_would_slip_through(browser, site):
    """The second wall: even HTML that got in would not run."""
    browser.open(site)
    browser.run(
        "document.querySelector('main').insertAdjacentHTML("
        f"'beforeend', {json.dumps(ATTACK)})"
    )
    browser.wait("document.querySelector('main img').complete")
    assert browser.run("window.attacked") is None
    assert any("Content Security Policy" in p for p in browser.problems)
    browser.problems.clear()


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


def test_an_image_lights_up_word_by_word(page):
    page.run("document.getElementById('tab-captioning').click()")
    encoded = base64.b64encode(png()).decode()
    page.run(
        "(() => { const bytes = Uint8Array.from(atob("
        f"'{encoded}'), (c) => c.charCodeAt(0));"
        "const file = new File([bytes], 'a.png', {type: 'image/png'});"
        "runCaptioning(file); })()"
    )
    page.wait("!document.querySelector('#captioning .result').hidden")
    target = WORDS.format("captioning", "target")
    assert texts(page, target) == ["a", "red", "<b>ball</b>", "here"]
    page.run("stop()")
    page.run("document.querySelector('#captioning [data-step=\"1\"]').click()")
    page.screenshot(PICTURES / "captioning-light.png")


def give_key(browser, key):
    browser.run(
        f"document.querySelector('#key input').value = '{key}';"
        "document.querySelector('#key').requestSubmit()"
    )


def test_the_key_is_asked_for_once(browser, models):
    app = create_app(models, ServerSettings(api_key="secret"))
    with running(app) as ((host, port), _):
        browser.open(f"http://{host}:{port}/")
        browser.wait("!document.getElementById('key').hidden")
        status = "document.getElementById('status').textContent"
        browser.run(f"{status} = ''")
        give_key(browser, "wrong")
        browser.wait(f"{status}.includes('401')")
        assert not browser.run("document.getElementById('key').hidden")
        # The refusal of an earlier key may come after the right one's answer.
        give_key(browser, "wrong")
        give_key(browser, "secret")
        browser.wait("document.getElementById('key').hidden")
        submit(browser, "sentiment", "A fine film.")
        browser.run("sessionStorage.clear()")
    browser.problems.clear()


@pytest.mark.skipif(
    not (SHIPPED / "translation").is_dir(), reason="no translator is shipped"
)
def test_the_shipped_translator(browser):
    repository = ModelRepository([SHIPPED / "translation"])
    repository.scan()
    browser.look()
    browser.problems.clear()
    with running(create_app(repository)) as ((host, port), _):
        browser.open(f"http://{host}:{port}/")
        browser.wait("!document.getElementById('tab-translation').disabled")
        submit(browser, "translation", "The black cat sleeps.")
        words = texts(browser, WORDS.format("translation", "target"))
        assert "chat" in words
        assert len(texts(browser, "#translation .n-best tbody tr")) > 1
        browser.screenshot(PICTURES / "translation-light.png")
        browser.look(dark=True)
        browser.screenshot(PICTURES / "translation-dark.png")
        browser.look(390, 844, phone=True)
        browser.screenshot(PICTURES / "translation-phone.png")
        assert fits_the_width(browser)
    repository.stop()
    assert browser.problems == []
