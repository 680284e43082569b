"""Calls of the file tools in the conversation read as on the card that asks: by their fields, and whole."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, WIDE, Home
from tests.browser.test_files import look

pytestmark = pytest.mark.browser

OLD, NEW = "def total(rows):\n    return sum(rows)\n", "def total(rows):\n    return sum(rows, 0)\n"
LONG = "".join(f"line {n}\n" for n in range(1, 41)) + "the e\u200bnd"
CALLS = [
    ("write_file", {"path": "notes.txt", "content": LONG}),
    ("write_file", {"path": "total.py", "content": OLD}),
    ("edit_file", {"path": "total.py", "old_text": OLD, "new_text": NEW}),
    ("read_file", {"path": "total.py", "offset": 1, "limit": 2}),
    ("list_files", {"path": ".", "depth": 2}),
    ("search_files", {"pattern": "sum|line 7", "glob": "*.py", "ignore_case": True}),
    ("write_file", {"path": "empty\u202e", "content": ""}),
    ("read_file", {"path": "total.py", "unknown": 1}),
]


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Home]) -> Home:
    """A server whose agent makes all of them, one after the other."""
    steps = [{"text": "", "calls": [{"name": tool, "arguments": args}]} for tool, args in CALLS]
    return make_home(steps)


def cards(page: Page) -> list[Locator]:
    """The cards of the calls, once all of them have ended."""
    expect(page.locator(".minutes .tool")).to_have_count(len(CALLS))
    expect(page.get_by_text("The turn is complete")).to_be_visible()
    return page.locator(".minutes .tool").all()


def rows(card: Locator) -> list[str]:
    return [row.rstrip("\n") for row in card.locator(".fields > .code .l .x").all_inner_texts()]


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_conversation_shows_calls_of_file_tools_by_their_fields(home: Home, size: dict[str, int]) -> None:
    session, folder = home.session()
    page = home.open(session, size=size)
    write, old, edit, read, listed, search, empty, unreadable = cards(page)
    assert (folder / "total.py").read_text() == NEW

    assert rows(write) == [*(f"line {n}" for n in range(1, 41)), "the eZWSPnd"]
    expect(write.locator(".datum")).to_have_text(["Pathnotes.txt"])
    box = write.locator(".fields > .code").evaluate("one => [one.clientHeight, one.scrollHeight]")
    assert box[0] < 300 < box[1]
    assert rows(old) == OLD.split("\n")
    assert [row.strip() for row in edit.locator(".fields .code .l.del .x").all_inner_texts()] == ["return sum(rows)"]
    assert [row.strip() for row in edit.locator(".fields .code .l.add .x").all_inner_texts()] == ["return sum(rows, 0)"]
    expect(edit.locator(".out")).to_have_text(
        re.compile(r"^Changed \S+/total\.py \(\d+ bytes, 1 lines? added, 1 removed\)$")
    )
    for card, values in (
        (read, ["total.py", "1", "2"]),
        (listed, [".", "2"]),
        (search, ["sum|line 7", "*.py", "true"]),
    ):
        expect(card.locator(".datum > code")).to_have_text(values)
    for card in (write, old, edit, read, listed, search, empty):
        expect(card.locator(".cmd")).to_have_count(0)
    expect(empty.locator(".mk").first).to_be_visible()
    expect(unreadable.locator(".fields")).to_have_count(0)
    expect(unreadable.locator(".cmd")).to_contain_text('"unknown"')

    edit.get_by_text("Exactly as the model sent it").click()
    expect(edit.locator(".sent .code .l .x").first).to_be_visible()
    sent = "".join(edit.locator(".sent .code .l .x").all_inner_texts())
    assert json.loads(sent) == CALLS[2][1]
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    look(page, f"conversation-{'wide' if size is WIDE else 'phone'}")


@pytest.mark.parametrize(("language", "word"), [("de", "Pfad"), ("zh", "路径")])
def test_the_fields_of_a_call_have_names_in_the_persons_language(home: Home, language: str, word: str) -> None:
    session, _ = home.session()
    page = home.context.new_page()
    page.add_init_script(f"Object.defineProperty(navigator, 'languages', {{ get: () => ['{language}'] }})")
    page.goto(f"{home.url}#/session/{session}")
    expect(page.locator(".minutes .tool .datum .sub").first).to_have_text(word)
