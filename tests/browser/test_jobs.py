"""Commands in the background, as a person sees and ends them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Home


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Home]) -> Home:
    """A server whose agent is the rehearsal, which runs a line that ends with & in the background."""
    return make_home()


@pytest.mark.usefixtures("needs_bubblewrap")
def test_a_job_shows_its_output_and_a_person_ends_it(home: Home) -> None:
    session, _ = home.session("$ echo up; sleep 600 &")
    page = home.open(session)
    card = page.locator("article.tool")
    expect(card.get_by_text("Running in the background")).to_be_visible()
    card.get_by_role("button", name="Show its output").click()
    expect(card.locator(".out")).to_have_text("up\n")
    head = page.get_by_role("button", name="1 job")
    head.click()
    expect(page.get_by_role("dialog", name="Commands that run in the background")).to_contain_text("echo up; sleep 600")
    page.keyboard.press("Escape")
    card.get_by_role("button", name="Stop it").click()
    expect(card.get_by_text("Stopped by a person.")).to_be_visible()
    expect(head).to_have_count(0)
    page.close()


@pytest.mark.usefixtures("needs_bubblewrap")
def test_a_narrower_preset_names_the_jobs_that_it_ends(home: Home) -> None:
    session, _ = home.session("$ sleep 600 &")
    page = home.open(session)
    card = page.locator("article.tool")
    expect(card.get_by_text("Running in the background")).to_be_visible()
    for answer, ended in (("Leave it as it is", False), ("Switch and end them", True)):
        page.get_by_role("button", name="Workspace").click()
        page.get_by_role("menuitemradio", name="Read only").click()
        sheet = page.get_by_role("alertdialog", name="This ends what runs in the background")
        expect(sheet).to_contain_text("sleep 600")
        sheet.get_by_role("button", name=answer).click()
        expect(sheet).to_have_count(0)
        expect(card.get_by_text("Ended when the session's access was narrowed.")).to_have_count(int(ended))
    expect(page.get_by_role("button", name="Read only")).to_be_visible()
    page.close()
