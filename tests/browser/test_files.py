"""File tools and scripts on the page: what is signed is shown whole, and what became of it is told."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Home, asking, sign

pytestmark = pytest.mark.browser

OUTSIDE = f"{Path.home()}/.cache/placet-not-there"
SCRIPT = "echo one >> ran.txt\necho two >> ran.txt\n"


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Home]) -> Home:
    """A server whose agent writes a script, asks to run it, and asks to write a file with full access."""
    wider = {"sandbox_permissions": "danger-full-access", "justification": "You asked for it."}
    return make_home(
        [
            {"text": "Outside.", "calls": [{"name": "write_file", "arguments": {"path": OUTSIDE, "content": "a"}}]},
            {"text": "A script.", "calls": [{"name": "write_file", "arguments": {"path": "s.sh", "content": SCRIPT}}]},
            {"text": "I run it.", "calls": [asking("bash s.sh")]},
            {
                "text": "A file.",
                "calls": [{"name": "write_file", "arguments": {"path": "w", "content": "a\nb\n", **wider}}],
            },
        ]
    )


def look(page: Page, name: str) -> None:
    """Keep a picture where somebody wants one."""
    if folder := os.environ.get("PLACET_PICTURES"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


def test_a_script_is_shown_with_its_command_and_runs_as_shown(home: Home) -> None:
    session, folder = home.session()
    page = home.open(session)
    sheet = page.locator("article.ask").first
    expect(sheet).to_contain_text("Signed together with it")
    expect(sheet).to_contain_text(f"{folder}/s.sh")
    expect(sheet).to_contain_text("echo two >> ran.txt")
    expect(sheet).to_contain_text("Does not cover what that script starts")
    card = page.get_by_role("article", name="write_file").first
    expect(card).to_contain_text("Denied by the sandbox")
    expect(card).to_contain_text(f"The sandbox refused a write to {OUTSIDE}")
    look(page, "script")
    sign(page, "Allow once")
    expect(page.locator("article.ask").first).to_contain_text("write_file")
    look(page, "write")
    assert (folder / "ran.txt").read_text() == "one\ntwo\n"
    sign(page, "Allow once")
    expect(page.get_by_text("That was the last step of the script.")).to_be_visible()
    assert (folder / "w").read_text() == "a\nb\n"
    look(page, "done")
    page.close()


def test_a_script_that_changed_is_not_run_and_the_person_is_told(home: Home) -> None:
    session, folder = home.session()
    page = home.open(session)
    expect(page.locator("article.ask").first).to_contain_text("Signed together with it")
    (folder / "s.sh").write_text("echo other >> ran.txt\n")
    sign(page, "Allow once")
    expect(page.get_by_text("Your yes was not used")).to_be_visible()
    assert not (folder / "ran.txt").exists()
    look(page, "changed")
    page.close()
