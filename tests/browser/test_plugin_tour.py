"""The walk of docs/tutorial/first-plugin.md: two plugins, a request, a view, a reload, the next versions."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Home
from tests.browser.consent import card, field_of, panel, press, read

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("needs_bubblewrap")]

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial" / "first-plugin.md"
WRITTEN = re.findall(r"^    (.+)$", TUTORIAL.read_text(encoding="utf-8"), re.MULTILINE)
NAMED = set(re.findall(r"\*\*(.+?)\*\*", TUTORIAL.read_text(encoding="utf-8")))
PLUGIN, UPDATE, BROKEN = WRITTEN


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Home]) -> Home:
    return make_home()


def begun(home: Home, text: str) -> tuple[Page, Path]:
    """Write to the rehearsal in a new session, and wait for its card."""
    session, folder = home.session(text)
    page = home.open(session)
    card(page)
    return page, folder


def next_card(page: Page, before: str | None) -> None:
    """Wait until another card than the one before asks."""
    expect(page.locator(f"article.consent:not([data-ask='{before}']) .acts")).to_be_visible()


def say(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_label("Message", exact=True).press("Enter")


def test_m8_the_tour_leads_to_a_view_that_asks_its_host_half_and_to_its_next_version(home: Home) -> None:
    page, folder = begun(home, PLUGIN)
    first = card(page).get_attribute("data-ask")
    read(page)
    press(page, "This version only")
    view = page.get_by_role("region", name="Drawn by plugin File count")
    expect(view.get_by_text("0 files in the folder")).to_be_visible()
    (folder / "a.txt").write_text("a")
    view.get_by_role("button", name="Count again").click()
    expect(view.get_by_text("1 files in the folder")).to_be_visible()
    expect(page.get_by_text("For its next version write")).to_be_visible()

    page.reload()
    expect(view).to_have_count(0)
    rows = panel(page)
    rows.get_by_role("button", name="Load here").click()
    expect(view.get_by_text("1 files in the folder")).to_be_visible()

    say(page, UPDATE)
    next_card(page, first)
    read(page)
    press(page, "Future versions too")
    press(page, "Future versions too")
    expect(view.get_by_text("counted every ten seconds")).to_be_visible()
    page.close()


def test_what_was_read_stays_read_over_a_look_elsewhere_and_who_says_something_sees_it(home: Home) -> None:
    page, _ = begun(home, PLUGIN)
    read(page)
    panel(page)
    page.get_by_role("button", name="Read and decide").last.click()
    expect(card(page).locator(".unread")).to_have_count(0)
    expect(field_of(card(page), "This version only")).not_to_have_attribute("aria-disabled", "true")

    page.locator("#conversation").hover()
    page.mouse.wheel(0, -4000)
    expect(page.get_by_role("button", name="To the newest")).to_be_visible()
    say(page, "Here I am.")
    expect(page.get_by_text("Here I am.").last).to_be_in_viewport()
    expect(page.get_by_role("button", name="To the newest")).to_have_count(0)
    page.close()


def test_i24_after_a_decline_the_rehearsal_says_that_it_does_not_ask_again(home: Home) -> None:
    page, _ = begun(home, PLUGIN)
    press(page, "Decline")
    expect(page.get_by_text("do not ask again unless you want it")).to_be_visible()
    page.close()


def test_o14_a_version_with_a_slip_is_repaired_in_front_of_the_person(home: Home) -> None:
    page, _ = begun(home, BROKEN)
    broken = card(page).get_attribute("data-ask")
    read(page)
    press(page, "This version only")
    expect(page.get_by_text("I repair the same plugin")).to_be_visible()
    next_card(page, broken)
    page.close()


def test_the_tutorial_names_what_is_on_the_screen(home: Home) -> None:
    page, _ = begun(home, PLUGIN)
    shown = {"This version only", "Future versions too", "Decline"}
    for name in shown:
        expect(card(page).locator(".act b", has_text=re.compile(f"^{name}$"))).to_be_visible()
    read(page)
    press(page, "This version only")
    expect(page.get_by_role("button", name="Count again")).to_be_visible()
    rows = panel(page)
    expect(rows.get_by_role("button", name="Revoke").first).to_be_visible()
    assert {*shown, "Count again", "Plugins", "Revoke", "Load here"} == NAMED
    page.close()
