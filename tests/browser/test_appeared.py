"""What a call has made and other programs will run stands on its card, and one press moves it away."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Home

pytestmark = pytest.mark.browser

COMMAND = "mkdir a .vscode; echo all: > a/Makefile; echo {} > .vscode/tasks.json"
MAKES = {"name": "bash", "arguments": {"command": COMMAND, "description": "x"}}


def test_11_what_other_programs_will_run_is_listed_and_moves_away(make_home: Callable[..., Home]) -> None:
    home = make_home([{"text": "I make.", "calls": [MAKES]}])
    session, folder = home.session()
    page = home.open(session)
    listed = page.locator(".tool .appeared")
    expect(listed).to_contain_text("Files that other programs of yours will run")
    expect(listed.locator("li")).to_have_count(2)
    page.get_by_role("button", name="Move away: a/Makefile").click()
    expect(listed.locator("li").filter(has_text="a/Makefile")).to_contain_text("moved away")
    assert not (folder / "a" / "Makefile").exists()
    assert (folder / ".vscode" / "tasks.json").exists()
    expect(page.get_by_text("a/Makefile was moved away, to")).to_be_visible()
    page.reload()
    expect(listed.locator("li").filter(has_text="a/Makefile")).to_contain_text("moved away")
    moved = list((home.cli.home / "state" / "quarantine" / session).iterdir())
    assert [path.read_text() for path in moved] == ["all:\n"]
