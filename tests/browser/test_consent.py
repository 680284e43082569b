"""A request for consent on the page: whole code, three worded answers, and never a yes by accident."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, Home
from tests.browser.consent import card, field_of, press, read, row
from tests.browser.test_look import findings, themed

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Home]) -> Home:
    """A server whose agent shows its tour of plugins on request."""
    return make_home()


@pytest.fixture(scope="module")
def waiting(home: Home) -> tuple[str, str]:
    """A session with a request that nobody answers; the session and the run."""
    session, _ = home.session("plugin")
    page = home.open(session)
    run = card(page).get_attribute("data-ask")
    page.close()
    assert run is not None
    return session, run


@pytest.fixture
def page(home: Home, waiting: tuple[str, str]) -> Iterator[Page]:
    page = home.open(waiting[0])
    card(page)
    yield page
    page.close()


def events(home: Home, session: str, kind: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in home.cli("log", "export", session).stdout.splitlines()]
    return [one["data"] for one in rows if one["type"] == kind]


def test_m8_j1_the_card_says_who_what_where_and_wants_with_three_worded_answers(page: Page) -> None:
    sheet = card(page)
    expect(sheet.locator(".ask-title")).to_have_text("Let this code into your page?")
    for words in ("Asked by rehearsal", "plugin files-", "version pkg-", "workspace-write", "sidebar.footer.action"):
        expect(sheet).to_contain_text(words)
    expect(sheet.locator(".voice")).to_contain_text("The agent says, not checked by placet")
    expect(sheet.locator(".voice")).to_contain_text("Shows at the foot of the sidebar how many files the folder holds.")
    answers = sheet.locator(".acts b").all_inner_texts()
    assert answers == ["Decline", "This version only", "Future versions too"]
    assert page.evaluate("document.activeElement === document.body || !document.activeElement.closest('.ask')")


def test_nobody_consents_before_all_of_the_code_was_on_screen(page: Page) -> None:
    sheet = card(page)
    yes = [sheet.get_by_role("button", name=name) for name in ("This version only", "Future versions too")]
    for field in yes:
        expect(field).to_have_attribute("aria-disabled", "true")
    expect(field_of(sheet, "Decline")).not_to_have_attribute("aria-disabled", "true")
    read(page)
    for field in yes:
        expect(field).not_to_have_attribute("aria-disabled", "true")


def test_a_script_a_key_held_down_and_a_press_before_arming_do_nothing(
    home: Home, page: Page, waiting: tuple[str, str]
) -> None:
    sheet = read(page)
    expect(sheet.locator(".acts[data-armed]")).to_be_visible()
    page.evaluate(
        """() => { for (const one of document.querySelectorAll('article.consent .act')) {
            one.click();
            for (const kind of ['pointerdown', 'pointerup'])
                one.dispatchEvent(new PointerEvent(kind, { bubbles: true, isPrimary: true, button: 0 }));
            for (const kind of ['keydown', 'keyup'])
                one.dispatchEvent(new KeyboardEvent(kind, { key: 'Enter', bubbles: true }));
        } }"""
    )
    for key in ("Enter", " ", "y", "a"):
        page.keyboard.press(key)
    expect(sheet.locator(".acts[data-armed]")).to_be_visible()
    assert sheet.locator(".busy .st").count() == 0
    assert events(home, waiting[0], "cordis/consented") == []
    assert events(home, waiting[0], "cordis/declined") == []


def test_the_widest_answer_wants_a_second_press_that_says_what_it_means(
    home: Home, page: Page, waiting: tuple[str, str]
) -> None:
    sheet = read(page)
    press(page, "Future versions too")
    expect(sheet.locator(".hold")).to_contain_text("start in your page without a card")
    sheet.get_by_role("button", name="Back").click()
    expect(sheet.locator(".hold")).to_have_count(0)
    assert events(home, waiting[0], "cordis/consented") == []


def test_requests_count_and_stand_in_the_inbox_and_its_row_never_answers(home: Home, waiting: tuple[str, str]) -> None:
    page = home.context.new_page()
    page.goto(f"{home.url}#/inbox")
    rows = page.get_by_role("list", name="Open asks").get_by_role("listitem")
    mine = rows.filter(has_text="File count, pkg-")
    expect(mine).to_have_count(1)
    expect(mine).to_contain_text("Code in your page")
    assert mine.get_by_role("button").count() == 0
    mine.get_by_role("link").click()
    expect(page.locator(f'article.consent[data-ask="{waiting[1]}"]')).to_be_visible()
    assert page.title().startswith("(1) ")
    expect(page.locator("#announcer")).to_contain_text("Let this code into your page?")
    page.close()


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_axe_finds_nothing_on_a_request_and_in_the_panel(page: Page, theme: str) -> None:
    themed(page, theme)
    read(page)
    assert findings(page) == []
    card(page).get_by_role("button", name="Decline with a note").click()
    expect(page.get_by_label("Note to the agent")).to_be_focused()
    assert findings(page) == []
    page.get_by_role("tab", name="Plugins").click()
    expect(row(page, "File count")).to_be_visible()
    assert findings(page) == []


def test_on_a_phone_the_card_leaves_the_composer_and_the_panel_is_a_sheet(home: Home, waiting: tuple[str, str]) -> None:
    page = home.open(waiting[0], size=PHONE)
    sheet = card(page)
    expect(page.get_by_label("Message", exact=True)).to_be_in_viewport(ratio=1)
    for name in ("Decline", "This version only", "Future versions too"):
        expect(sheet.locator(".act").filter(has_text=name)).to_be_in_viewport(ratio=1)
    read(page)
    expect(sheet.get_by_role("button", name="This version only")).not_to_have_attribute("aria-disabled", "true")
    assert findings(page) == []
    page.get_by_role("button", name="Sessions, ").click()
    page.locator(".side").get_by_role("button", name="Plugins").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Awaiting approval")
    assert page.evaluate("document.querySelector('.panel').scrollWidth <= document.querySelector('.panel').clientWidth")
    assert findings(page) == []
    dialog.get_by_role("button", name="Read and decide").click()
    expect(dialog).to_have_count(0)
    expect(sheet).to_be_visible()
    page.close()


DEAF = """
const Channel = window.BroadcastChannel;
window.BroadcastChannel = class extends Channel {
  set onmessage(hear) {
    super.onmessage = (event) => { if (!window.deaf || event.data.kind === 'connection') hear(event); };
  }
};
"""


def test_l23_an_answer_that_comes_too_late_is_told_who_was_first(home: Home) -> None:
    session, _ = home.session("plugin")
    first, second = home.open(session), home.context.new_page()
    read(first)
    second.add_init_script(DEAF)
    second.goto(first.url)
    read(second)
    second.evaluate("window.deaf = true")
    press(first, "This version only")
    expect(first.locator(".seal")).to_contain_text("only")
    press(second, "Decline")
    expect(second.locator(".banner")).to_contain_text("Your “Decline” was not applied.")
    expect(second.locator(".banner")).to_contain_text("owner was first: This version only")
    expect(second.locator(".seal")).to_contain_text("only")
    assert len(events(home, session, "cordis/consented")) == 1
    assert events(home, session, "cordis/declined") == []
    first.close()
    second.close()


def drawn(page: Page) -> Locator:
    """What the plugin of the tour draws at the foot of the sidebar."""
    return page.get_by_role("region", name="Drawn by plugin File count").first


def test_l25_what_was_settled_on_one_page_waits_on_no_other_and_what_is_loaded_there_goes_on(home: Home) -> None:
    session, _ = home.session("plugin")
    first, second = home.open(session), home.open(session)
    for page in (first, second):
        read(page)
    press(first, "This version only")
    for page in (first, second):
        expect(drawn(page)).to_contain_text("files in the folder")
    again, _ = home.session("plugin")
    first.goto(f"{home.url}#/session/{again}")
    read(first)
    listed = second.locator(f".srow[href*='{again}']")
    expect(listed).to_contain_text("1 decision waits for you")
    press(first, "Decline")
    expect(listed).not_to_contain_text("waits for you")
    expect(drawn(second)).to_contain_text("files in the folder")
    first.close()
    second.close()


def test_j8_i21_a_declined_request_starts_nothing_and_the_note_reaches_the_agent(home: Home) -> None:
    session, _ = home.session("plugin")
    page = home.open(session)
    card(page)
    page.get_by_role("button", name="Decline with a note").click()
    page.get_by_label("Note to the agent").fill("Not today.")
    press(page, "Decline with note")
    expect(page.locator(".seal")).to_contain_text("Declined")
    expect(page.locator(".seal")).to_contain_text("Not today.")
    expect(page.get_by_text("You declined")).to_be_visible()
    (declined,) = events(home, session, "cordis/declined")
    assert declined["feedback"] == "Not today."
    started = {one["run"] for one in events(home, session, "cordis/started")}
    assert declined["run"] not in started
    page.get_by_role("tab", name="Plugins").click()
    expect(row(page, "File count")).to_contain_text("Rejected")
    expect(row(page, "File count").get_by_role("button", name="Ask again")).to_be_visible()
    page.close()


def test_without_a_connection_the_fields_are_dead_and_say_so(home: Home, page: Page) -> None:
    read(page)
    home.server.kill()
    sheet = card(page)
    expect(sheet.locator(".banner")).to_contain_text("You cannot answer from this screen now")
    for field in sheet.locator(".act").all():
        expect(field).to_have_attribute("aria-disabled", "true")
    home.restart()
    expect(sheet.locator(".acts[data-armed]")).to_be_visible()


def test_l24_a_request_that_ended_while_the_page_was_away_does_not_stay(home: Home) -> None:
    session, _ = home.session("plugin")
    page = home.context.new_page()
    page.add_init_script(DEAF)
    watching = home.open(session)  # it holds the stream, and the other one is deaf to what it tells
    card(watching)
    page.goto(watching.url)
    sheet = card(page)
    page.evaluate("window.deaf = true")
    page.get_by_role("tab", name="Plugins").click()
    watching.get_by_role("tab", name="Plugins").click()
    plugin = row(watching, "File count").get_attribute("data-plugin")
    mine = watching.locator(f'.prow[data-plugin="{plugin}"]')
    mine.get_by_role("button", name="Remove…").click()
    mine.get_by_role("button", name="Remove it").click()
    expect(mine).to_have_count(0)
    page.evaluate("window.deaf = false")
    home.server.kill()
    home.restart()
    page.get_by_role("tab", name="To decide").click()
    expect(sheet.locator(".acts")).to_have_count(0)
    page.close()
    watching.close()
