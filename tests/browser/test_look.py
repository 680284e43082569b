"""The page on a wide screen and on a phone, in each theme and language: reachable, named and free of axe's findings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ONE_ASK, PHONE, WIDE, Home, sign

pytestmark = pytest.mark.browser

AXE = Path(__file__).resolve().parents[2] / "ui" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Home]) -> Home:
    """A server with one card open."""
    return make_home(ONE_ASK)


@pytest.fixture(scope="module")
def session(home: Home) -> str:
    return home.session()[0]


def findings(page: Page) -> list[Any]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    return page.evaluate(
        """axe.run(document, { resultTypes: ['violations'] })
            .then((r) => r.violations.map((v) => [v.id, v.nodes.map((n) => n.target.join(' '))]))"""
    )


def themed(page: Page, theme: str) -> None:
    page.evaluate(  # and wait until no colour is on its way any more
        """(theme) => {
            document.documentElement.dataset.theme = theme;
            return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
                .then(() => Promise.allSettled(document.getAnimations()
                    .filter((one) => one.effect.getComputedTiming().endTime !== Infinity).map((one) => one.finished)))
                .then(() => null);
        }""",
        theme,
    )


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_axe_finds_nothing_on_the_session_with_its_card(home: Home, session: str, theme: str) -> None:
    page = home.open(session)
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    themed(page, theme)
    assert findings(page) == []
    page.get_by_role("button", name="Reject with a note").click()
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    assert findings(page) == []
    page.close()


def test_axe_finds_nothing_on_inbox_start_dialogs_and_gate(home: Home) -> None:
    page = home.context.new_page()
    page.goto(f"{home.url}#/inbox")
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    assert findings(page) == []
    page.goto(f"{home.url}#/")
    expect(page.get_by_role("button", name="Start a session")).to_be_visible()
    assert findings(page) == []
    page.get_by_role("button", name="Start a session").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert findings(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert findings(page) == []
    page.close()


def test_on_a_phone_the_card_docks_above_the_composer_and_both_stay_usable(home: Home) -> None:
    session, folder = home.session()
    page = home.open(session, size=PHONE)
    allow, box = page.get_by_role("button", name="Allow once"), page.get_by_label("Message", exact=True)
    expect(page.get_by_role("button", name="Reject").first).to_be_in_viewport(ratio=1)
    expect(allow).to_be_in_viewport(ratio=1)
    expect(box).to_be_in_viewport(ratio=1)
    expect(allow).to_have_attribute("aria-disabled", "true")
    assert findings(page) == []
    page.locator(".ask-body").evaluate("body => body.scrollTo(0, body.scrollHeight)")
    expect(allow).not_to_have_attribute("aria-disabled", "true")
    page.get_by_role("button", name="Sessions, ").click()
    expect(page.get_by_role("link", name="Inbox")).to_be_visible()
    page.get_by_role("button", name="Close the list of sessions").click()
    sign(page, "Allow once")
    expect(page.locator(".seal")).to_contain_text("Allowed once")
    expect(page.get_by_text("The turn is complete")).to_be_attached()
    assert (folder / "ran.txt").read_text() == "x"
    page.close()


def test_escape_closes_the_list_of_sessions_on_a_phone_and_a_wider_window_is_not_left_in_its_shade(home: Home) -> None:
    session, _ = home.session()
    page = home.open(session, size=PHONE)
    menu = page.locator(".menu-btn")
    menu.click()
    sessions = page.locator(".side")
    expect(sessions).to_be_visible()
    page.keyboard.press("Escape")
    expect(sessions).to_be_hidden()
    expect(menu).to_be_focused()
    menu.click()
    expect(page.locator(".shade")).to_be_visible()
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    expect(page.locator(".shade")).to_be_hidden()
    page.close()


def test_a_new_card_is_announced_once_politely(home: Home, session: str) -> None:
    page = home.open(session)
    expect(page.locator("#announcer")).to_contain_text("Run this command once, without the sandbox?")
    assert page.locator("#announcer").get_attribute("aria-live") == "polite"
    page.close()


@pytest.mark.parametrize(
    ("language", "word"),
    [("de-DE", "Einmal erlauben"), ("zh-CN", "允许一次"), ("fr-FR", "Allow once")],
    ids=["de", "zh", "other"],
)
def test_the_page_speaks_the_language_of_the_browser(home: Home, session: str, language: str, word: str) -> None:
    page = home.context.new_page()
    page.add_init_script(f"Object.defineProperty(navigator, 'languages', {{ get: () => ['{language}'] }})")
    page.goto(f"{home.url}#/session/{session}")
    expect(page.get_by_role("button", name=word)).to_be_visible()
    for width in (1280, 390, 360):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("width => innerWidth === width", arg=width)
        assert page.evaluate("document.querySelector('.app').scrollWidth <= innerWidth")
        assert page.locator(".composer .bar").evaluate("bar => bar.scrollWidth <= bar.clientWidth"), width
    page.close()


def test_keys_move_between_regions_and_list_themselves(home: Home, session: str) -> None:
    page = home.open(session)
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("No shortcut signs")
    page.keyboard.press("Escape")
    seen = set()
    for _ in range(4):
        page.keyboard.press("F6")
        seen.add(page.evaluate("(document.activeElement.closest('[data-region]') || document.body).className"))
    assert len(seen) == 4
    page.keyboard.press("Escape")
    page.locator(".side").focus()
    page.keyboard.press("g")
    page.keyboard.press("i")
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    page.close()


def test_the_strict_content_policy_is_not_violated_by_the_page_itself(home: Home, session: str) -> None:
    page = home.context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{home.url}#/session/{session}")
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    page.get_by_role("button", name="What the agent may touch").click()
    expect(page.get_by_role("menuitemradio", name="Read only")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="New", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert said == []
    page.close()
