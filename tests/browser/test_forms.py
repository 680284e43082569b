"""A file tool's ask reads as a person reads it, and nothing of what is signed is left out or hidden."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, WIDE, Home, sign
from tests.browser.test_files import look

pytestmark = pytest.mark.browser

WIDER = {"sandbox_permissions": "danger-full-access", "justification": 'You asked for it: "C:\\new".'}
TEXT = "".join(f"line {n}\n" for n in range(1, 61)) + "the e\u200bnd"
OLD, NEW = "def total(rows):\n    return sum(rows)\n", "def total(rows):\n    return sum(rows, 0)\n    # \u202edone\n"
CALLS = {
    "search": ("search_files", {"pattern": "p\u0430ssword|key", "glob": "*.none", "path": "/etc"}),
    "write": ("write_file", {"path": "notes/a b.txt", "content": TEXT}),
    "edit": ("edit_file", {"path": "total.py", "old_text": OLD, "new_text": NEW, "replace_all": True}),
    "empty": ("write_file", {"path": "gone\u202e", "content": ""}),
}


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Home]) -> Home:
    """A server whose agent asks for all of them, one after the other."""
    calls = [{"name": tool, "arguments": {**args, **WIDER}} for tool, args in CALLS.values()]
    return make_home([{"text": "I ask.", "calls": calls}])


@contextmanager
def next_ask(page: Page, name: str, field: str) -> Iterator[Locator]:
    """The sheet of the ask of that tool; the field is pressed at the end."""
    sheet = page.locator("article.ask").filter(has_text=CALLS[name][0]).first
    expect(sheet).to_be_visible()
    yield sheet
    sheet.get_by_text("Exactly as the model sent it").click()
    rows = sheet.locator(".sent .code .l .x")
    expect(rows.first).to_be_visible()
    assert set(json.loads(unmarked(rows))) == {*CALLS[name][1], *WIDER}
    before = sheet.get_attribute("data-ask")
    sheet.locator(".ask-body").evaluate("body => body.scrollTo(0, body.scrollHeight)")
    sign(page, field)
    expect(page.locator(f"article.ask[data-ask='{before}'] .acts")).to_have_count(0)


def unmarked(rows: Locator) -> str:
    """The text of lines, with marks in it as they are drawn."""
    return "".join(rows.all_inner_texts())


def lines(sheet: Locator) -> list[str]:
    return [row.rstrip("\n") for row in sheet.locator(".code[data-signed] .l .x").all_inner_texts()]


@pytest.mark.parametrize("scheme", ["light", "dark"] if os.environ.get("PLACET_PICTURES") else ["light"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_law_7_each_call_of_a_file_tool_is_shown_whole_and_readable(
    home: Home, size: dict[str, int], scheme: str
) -> None:
    session, folder = home.session()
    (folder / "total.py").write_text(OLD)
    page = home.context.new_page()
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size(size)  # type: ignore[arg-type]
    page.goto(f"{home.url}#/session/{session}")
    shot = f"{'wide' if size is WIDE else 'phone'}-{scheme}"

    with next_ask(page, "search", "Allow once") as sheet:
        said = sheet.locator(".data").inner_text()
        assert ("Expression" in said, "/etc" in said, "*.none" in said) == (True, True, True)
        expect(sheet.locator(".datum .flags")).to_contain_text("1 look-alike letter")
        expect(sheet.locator(".facts").first).not_to_contain_text("No hidden characters")
        look(page, f"search-{shot}")

    with next_ask(page, "write", "Reject") as sheet:
        expect(sheet.locator(".datum")).to_have_text(["Pathnotes/a b.txt"])
        assert lines(sheet) == [*(f"line {n}" for n in range(1, 61)), "the eZWSPnd"]
        assert sheet.locator(".code[data-signed] .no").last.inner_text() == "61"
        expect(sheet.locator(".what > dd > .flags")).to_contain_text("1 hidden character is shown as a mark")
        expect(sheet.locator(".voice blockquote")).to_contain_text(WIDER["justification"])
        look(page, f"write-{shot}")
        allow = sheet.get_by_role("button", name="Allow once")
        expect(allow).to_have_attribute("aria-disabled", "true")
        # the driver's own click would scroll to the button first, and with that to the end
        sheet.get_by_role("button", name="Go to the end").evaluate("button => button.click()")
        sheet.locator(".ask-body").evaluate("body => body.scrollTo(0, body.scrollHeight)")
        expect(allow).not_to_have_attribute("aria-disabled", "true")

    with next_ask(page, "edit", "Reject") as sheet:
        expect(sheet.locator(".datum")).to_have_text(["Pathtotal.py", "In every placetrue"])
        signs = [sign_of(row) for row in sheet.locator(".code[data-signed] .l").all()]
        assert list(zip(signs, lines(sheet), strict=True)) == [
            ("", "def total(rows):"), ("del", "    return sum(rows)"), ("add", "    return sum(rows, 0)"),
            ("add", "    # RLOdone"), ("", ""),
        ]  # fmt: skip
        look(page, f"edit-{shot}")

    with next_ask(page, "empty", "Reject") as sheet:
        expect(sheet).to_contain_text("The whole new text is empty")
        expect(sheet.locator(".datum")).to_contain_text(["goneRLO"])
    page.close()
    assert not (folder / "notes").exists()
    assert (folder / "total.py").read_text() == OLD


def sign_of(row: Locator) -> str:
    classes = (row.get_attribute("class") or "").split()
    return next((one for one in ("add", "del") if one in classes), "")
