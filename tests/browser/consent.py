"""What a person does with a request for consent, with a real mouse."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

_PRESSES = 5


def card(page: Page) -> Locator:
    """The sheet of a request that waits."""
    sheet = page.locator("article.consent")
    expect(sheet).to_be_visible()
    expect(sheet.locator(".code")).to_be_visible()
    return sheet


def read(page: Page) -> Locator:
    """Look at all of the code, as somebody does who is asked for a yes: every tab, each to its end."""
    sheet = card(page)
    for tab in sheet.get_by_role("tab").all():
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        sheet.locator(".ask-body").evaluate(
            """(body) => new Promise((done) => {
                for (const region of body.querySelectorAll('[data-signed]')) region.scrollTop = region.scrollHeight;
                body.scrollTop = body.scrollHeight;
                requestAnimationFrame(() => requestAnimationFrame(done));
            })"""
        )
    expect(sheet.locator(".unread")).to_have_count(0)
    return sheet


def field_of(sheet: Locator, name: str) -> Locator:
    """One of the worded fields, by its whole name."""
    return sheet.locator(".act").filter(has=sheet.page.locator("b", has_text=re.compile(f"^{re.escape(name)}$")))


def press(page: Page, field: str) -> None:
    """Press a field as soon as it is armed; one that moved under the hand is pressed again, as a person does."""
    sheet = page.locator("article.consent")
    button = field_of(sheet, field)
    for _ in range(_PRESSES):
        expect(sheet.locator(".acts[data-armed]")).to_be_visible()
        before = button.inner_text()
        button.click()
        if sheet.locator(".acts").count() == 0 or sheet.locator(".busy .st, .banner").count():
            return
        if button.all_inner_texts() != [before]:  # the wide field asks for its second press
            return
    raise AssertionError(f"{field} was pressed {_PRESSES} times, and never taken")


def panel(page: Page) -> Locator:
    """Open the plugins beside the conversation."""
    page.get_by_role("tab", name="Plugins").click()
    rows = page.locator(".desk-panel")
    expect(rows).to_be_visible()
    return rows


def row(page: Page, name: str) -> Locator:
    """One plugin in the panel, by its name; where several have it, the one of this session."""
    return page.locator(".prow").filter(has=page.get_by_role("heading", name=name, exact=True)).first
