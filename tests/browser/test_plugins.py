"""The plugins panel and the cards of plugin tools: what runs, what was agreed to, and what a person can do about it."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Home
from tests.browser.consent import card, panel, press, read, row

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Home]) -> Home:
    """A server whose agent shows its tour of plugins on request."""
    return make_home()


HOST = "async def apply(ctx):\n    pass\n"
DEFINE = {"plugin": {"kind": "new", "idPrefix": "cal"}, "name": "Strip", "purpose": "Days.", "code": {"host": HOST}}
STOPS = [
    {"text": "", "calls": [{"name": "cordis_define", "arguments": DEFINE}]},
    {
        "text": "",
        "calls": [{"name": "cordis_run", "arguments": {"pluginId": "cal-1", "packageId": "pkg-1", "mode": "run"}}],
    },
    {"text": "", "calls": [{"name": "cordis_stop", "arguments": {"pluginId": "cal-1"}}]},
    {"text": "", "calls": [{"name": "cordis_undefine", "arguments": {"pluginId": "cal-1"}}]},
    {"text": "Done."},
]


def say(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def test_m9_m10_m11_m14_m15_m20_a_plugin_from_its_definition_to_its_removal(home: Home) -> None:
    session, _ = home.session("plugin")
    page = home.open(session)

    # m14, m15: what was defined stands in the conversation, with its code; the run's card follows its run
    defined = page.get_by_role("article", name="Defines a plugin files-")
    expect(defined).to_contain_text("Defined, nothing runs yet")
    defined.get_by_role("tab", name="Host half").click()
    expect(defined.locator(".code")).to_contain_text("async def apply(ctx)")
    runs = page.get_by_role("article", name="Runs a plugin files-")
    expect(runs).to_contain_text("Awaiting approval")
    expect(page.get_by_role("article", name="Runs a plugin tally-")).to_contain_text("Running")

    read(page)
    press(page, "This version only")
    expect(page.locator(".seal")).to_contain_text("pkg-2 only")
    expect(runs).to_contain_text("Running")
    page.get_by_role("button", name="Put away").click()

    # an update: the difference first, and the old version stays when it is declined
    say(page, "plugin update")
    sheet = card(page)
    expect(sheet.locator(".ask-title")).to_have_text("Let this new version into your page?")
    expect(sheet.get_by_role("tab", selected=True)).to_contain_text("Changes since pkg-2")
    assert sheet.locator(".diff .add").count() > 0
    expect(sheet).to_contain_text("pkg-2 runs now and keeps running until you agree to pkg-3.")
    press(page, "Decline")
    expect(page.locator(".seal")).to_contain_text("pkg-2 runs on")
    rows = panel(page)
    mine = row(page, "File count")
    expect(mine).to_contain_text("pkg-3 rejected")
    expect(mine).to_contain_text("pkg-2 running")

    # m9, m10: ask again from the panel opens the card, nothing else
    mine.get_by_role("button", name="Ask again").click()
    sheet = read(page)
    expect(sheet).to_contain_text("started by owner")
    press(page, "Future versions too")
    press(page, "Future versions too")
    expect(page.locator(".seal")).to_contain_text("Future versions too")
    panel(page)
    expect(mine).to_contain_text("Both halves run. Loaded here.")

    # after a reload nothing is loaded here until the person wants it (l1, m11)
    page.reload()
    expect(page.locator(".desk-panel")).to_be_visible()  # it was open, so it is
    expect(mine).to_contain_text("Not loaded in this page.")
    mine.get_by_role("button", name="Load here").click()
    expect(mine).to_contain_text("Loaded here.")

    # i26, j6: stop keeps versions and consents, so that the next start asks nobody
    mine.get_by_role("button", name="Stop").click()
    expect(mine).to_contain_text("Stopped")
    mine.get_by_label("Version of files-").select_option("pkg-2")
    mine.get_by_role("button", name="Update to pkg-2").or_(mine.get_by_role("button", name="Run", exact=True)).click()
    expect(mine).to_contain_text("pkg-2, current")
    expect(mine).to_contain_text("Running")
    assert page.locator("article.consent .acts").count() == 0

    # revoking ends nothing that runs, and makes the next start ask
    wide = rows.get_by_role("row").filter(has_text="Future versions too")
    expect(wide).to_contain_text("owner")
    wide.get_by_role("button", name="Revoke").click()
    expect(wide).to_have_count(0)
    while rows.get_by_role("button", name="Revoke").count():
        left = rows.get_by_role("button", name="Revoke").count()
        rows.get_by_role("button", name="Revoke").first.click()
        expect(rows.get_by_role("button", name="Revoke")).to_have_count(left - 1)
    expect(mine).to_contain_text("Running")
    mine.get_by_role("button", name="Run again").click()
    expect(card(page)).to_contain_text("started by owner")
    press(page, "Decline")
    expect(page.locator(".seal")).to_contain_text("Declined")

    # remove asks once more, and then the cards say that it is gone
    panel(page)
    mine.get_by_role("button", name="Remove…").click()
    mine.get_by_role("button", name="Keep it").click()
    mine.get_by_role("button", name="Remove…").click()
    mine.get_by_role("button", name="Remove it").click()
    expect(page.locator(".prow").filter(has_text="File count")).to_have_count(0)
    expect(runs.first).to_contain_text("Removed since")
    page.close()


def test_m6_m7_the_panel_comes_by_itself_for_another_session_and_leads_to_its_card(home: Home) -> None:
    quiet, _ = home.session("hello")
    page = home.open(quiet)
    expect(page.get_by_text("The turn is complete")).to_be_attached()
    other, _ = home.session("plugin")
    theirs = page.locator(".prow").filter(has_text="Awaiting approval").first
    expect(theirs).to_be_visible()
    expect(page.locator(".side").get_by_role("button", name="Plugins")).to_contain_text("1")
    theirs.get_by_role("button", name="Read and decide").click()
    expect(card(page)).to_be_visible()
    assert other in page.url
    press(page, "Decline")
    page.close()


def test_m6_on_the_start_page_the_panel_comes_beside_it_and_a_desk_that_is_gone_to_shows_its_card(home: Home) -> None:
    page = home.context.new_page()
    page.goto(home.url)
    expect(page.get_by_role("button", name="Start a session")).to_be_visible()
    theirs, _ = home.session("plugin")
    column = page.get_by_role("complementary", name="Plugins")
    expect(column.locator(".prow").filter(has_text="Awaiting approval").first).to_be_visible()
    assert page.evaluate("document.activeElement === document.body")  # it comes without taking the focus
    column.get_by_role("button", name="Close").click()
    expect(column).to_have_count(0)
    page.locator(".side").get_by_role("button", name="Plugins").click()
    expect(column).to_be_visible()
    page.goto(f"{home.url}#/session/{theirs}")
    card(page)
    press(page, "Decline")
    page.close()


def test_a_start_that_the_policy_refuses_says_so_to_the_person(home: Home) -> None:
    session, _ = home.session("plugin")
    page = home.open(session)
    card(page)
    press(page, "Decline")
    expect(page.locator(".seal")).to_be_visible()
    home.post(f"/api/sessions/{session}/permission", {"policy": "never", "key": uuid4().hex})
    panel(page)
    mine = row(page, "File count")
    mine.get_by_role("button", name="Ask again").click()
    said = mine.get_by_role("alert")
    expect(said).to_contain_text("Questions are switched off in this session, and code in your page needs your yes.")
    expect(said).not_to_contain_text("do not try again")
    page.close()


def test_m13_an_old_list_stays_and_says_so_when_it_cannot_be_read(home: Home) -> None:
    session, _ = home.session("plugin")
    page = home.open(session)
    card(page)
    page.route("**/api/plugins", lambda route: route.abort())
    rows = panel(page)
    expect(rows).to_contain_text("It is older than it looks.")
    expect(row(page, "File count")).to_be_visible()
    page.unroute("**/api/plugins")
    expect(rows).not_to_contain_text("It is older than it looks.")
    page.close()


def test_m12_a_half_that_fails_is_told_with_its_phase_and_text(home: Home) -> None:
    session, _ = home.session("plugin broken")
    page = home.open(session)
    read(page)
    press(page, "This version only")
    failed = page.get_by_role("article", name="Runs a plugin").filter(has_text="Failed").first
    expect(failed.locator(".perr")).to_contain_text("In the host half")
    page.close()


def test_m17_stopping_and_removing_have_cards_of_their_own(make_home: Callable[..., Home]) -> None:
    home = make_home(STOPS)
    session, _ = home.session()
    page = home.open(session)
    stops = page.get_by_role("article", name="Stops a plugin cal-1")
    expect(stops).to_contain_text("Stopped. Its versions and consents are kept.")
    expect(page.get_by_role("article", name="Removes a plugin cal-1")).to_contain_text("Removed with all its versions")
    expect(page.get_by_role("article", name="Runs a plugin cal-1")).to_contain_text("Removed since")
    page.close()


def test_m18_a_plugin_of_this_session_is_named_while_writing(home: Home) -> None:
    session, _ = home.session("plugin")
    page = home.open(session)
    card(page)
    box = page.get_by_label("Message", exact=True)
    box.press_sequentially("Look at @ta")
    found = page.get_by_role("listbox", name="Plugins of this session").get_by_role("option")
    expect(found).to_have_count(1)
    expect(found).to_contain_text("counts the files")
    page.keyboard.press("Enter")
    expect(box).to_be_focused()
    panel(page)
    expect(box).to_have_value(f"Look at @{row(page, 'Tally').get_attribute('data-plugin')} ")
    page.close()


NOTED = """
window.Notification = class {
  static permission = 'granted';
  static requestPermission = async () => 'granted';
  constructor(title, options) {
    document.body.dataset.told = `${document.body.dataset.told ?? ''}${title}: ${options.body}`;
  }
};
document.hasFocus = () => false;
"""


def test_a_system_notification_says_that_something_waits_and_nothing_of_what(home: Home) -> None:
    quiet, _ = home.session("hello")
    page = home.context.new_page()
    page.add_init_script(NOTED)
    page.goto(f"{home.url}#/session/{quiet}")
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Tell me with a system notification").check()
    page.keyboard.press("Escape")
    home.session("plugin")
    told = "An agent asks you: In plugin. Open it to read and decide."
    expect(page.locator("body")).to_have_attribute("data-told", told)
    page.evaluate("localStorage.removeItem('placet.preferences')")
    page.close()
