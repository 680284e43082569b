"""What concerns the whole house: browsers that are signed out, sessions that somebody deletes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import ONE_ASK, WIDE, Home, sign_in

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Home]) -> Home:
    """A server of this module's own."""
    return make_home(ONE_ASK)


def test_a_browser_that_is_signed_out_elsewhere_says_so_and_stops(home: Home, chromium: Browser) -> None:
    session, folder = home.session()
    other = chromium.new_context(viewport=WIDE, locale="en-US")  # type: ignore[arg-type]
    link = home.cli("link").stdout.split()[0]
    theirs = sign_in(other, link)
    theirs.goto(f"{home.url}#/session/{session}")
    expect(theirs.locator(".acts[data-armed]")).to_be_visible()

    page = home.open(session)
    page.get_by_role("button", name="Settings").click()
    rows = page.locator(".browser").filter(has_text="Chromium")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="this browser")).to_have_count(1)
    row = rows.filter(has_not_text="this browser")
    row.get_by_role("button", name="Sign out").click()
    row.get_by_role("button", name="Sign out", exact=True).click()
    expect(rows).to_have_count(1)

    expect(theirs.get_by_text("This browser was signed out")).to_be_visible()
    expect(theirs.locator(".acts")).to_have_count(0)
    theirs.reload()
    expect(theirs.get_by_text("This browser is not signed in.")).to_be_visible()
    expect(page.locator(".acts")).to_have_count(1)
    assert not (folder / "ran.txt").exists()
    other.close()
    page.close()


def test_a_session_that_is_deleted_in_one_tab_is_gone_in_the_other_and_says_by_whom(home: Home) -> None:
    session, _ = home.session("an errand")
    first, second = home.open(session), home.open(session)
    expect(first.locator(".acts[data-armed]")).to_be_visible()
    first.get_by_role("button", name="Stop", exact=True).click()
    expect(first.get_by_text("Stopped by owner").first).to_be_visible()
    expect(second.get_by_text("Stopped by owner").first).to_be_visible()
    row = second.locator(".srow").filter(has_text="an errand")
    expect(row).to_have_count(1)
    first.get_by_role("button", name="This session").click()
    first.get_by_role("menuitem", name="Delete").click()
    first.get_by_role("button", name="Delete the session").click()
    expect(second.get_by_role("heading", name="This session was deleted by owner.")).to_be_visible()
    expect(row).to_have_count(0)
    expect(first.get_by_role("button", name="Start a session")).to_be_visible()
    first.close()
    second.close()
