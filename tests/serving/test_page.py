"""The page in a real Chromium, under its own policy; pictures are kept.

They go to `outputs/page/`. Where no Chromium is installed, this is skipped.
"""

import json
import pathlib
import urllib.parse

import pytest

from keras_seq.serving.app import create_app
from keras_seq.serving.repository import ModelRepository
from keras_seq.serving.settings import ServerSettings
from tests.serving.chromium import find_chromium
from tests.serving.conftest import SHIPPED, running
from tests.serving.page_models import ATTACK

pytest.importorskip("websocket", reason="needs websocket-client")
pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(
        find_chromium() is None, reason="no Chromium is installed"
    ),
]
PROJECT = pathlib.Path(__file__).parents[2]
PICTURES = PROJECT / "outputs" / "page"
WORDS = "#{} .words[data-words={}] button"
TARGETS = WORDS.format("translation", "target")
TRACK = "document.querySelector('.track')"


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
    assert texts(page, ".scale > span") == ["negative", "", "positive"]
    assert float(page.run(f"{TRACK}.style.getPropertyValue('--w')")) > 0.5
    assert texts(page, "#spoken")[0].startswith("positive, ")
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


def press(page, key):
    for kind in ("rawKeyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)


def test_the_keyboard_reaches_tabs_and_words(page):
    submit(page, "translation", "one two three")
    focused = "document.activeElement.textContent"
    page.run(
        "document.querySelector('#translation [data-words=target] button')"
        ".focus()"
    )
    for key, word in (
        ("ArrowRight", "two"),
        ("End", "three"),
        ("ArrowRight", "three"),
        ("Home", "one"),
    ):
        press(page, key)
        assert page.run(focused) == word
        assert texts(page, "#translation .detail")[0].startswith(word)
        assert texts(page, "[aria-current=true]") == [word]
    page.run("document.getElementById('tab-translation').focus()")
    for key, tab in (("ArrowLeft", "Describe"), ("Home", "Translate")):
        press(page, key)
        assert page.run(focused) == tab
        assert texts(page, "[role=tab][aria-selected=true]") == [tab]


def test_a_new_width_keeps_the_word_in_focus(page):
    submit(page, "translation", "one two three")
    page.run(f"document.querySelectorAll('{TARGETS}')[2].focus()")
    page.look(700, 900)
    assert page.run("document.activeElement.textContent") == "three"
    page.wait("document.querySelectorAll('.links path').length === 1")


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


def give_key(browser, key):
    browser.run(
        f"document.querySelector('#key input').value = '{key}';"
        "document.querySelector('#key').requestSubmit()"
    )


def test_the_key_is_asked_for_once(browser, page_models):
    app = create_app(page_models, ServerSettings(api_key="secret"))
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
