"""A session of a hundred thousand events: what is read and painted stays as small as for a short one. Counts only."""

from __future__ import annotations

import threading
from collections.abc import Callable

import anyio
import pytest
from playwright.sync_api import Response, expect

from bench.page import LAST, LONG, fill
from placet.session import SessionId
from tests.browser.conftest import Home

pytestmark = [pytest.mark.browser, pytest.mark.soak]

NEWEST = 200


def filled(home: Home) -> SessionId:
    """Write the long session into the server's store, as another process would."""
    made: list[SessionId] = []
    folder = home.cli.root / "long"
    folder.mkdir()

    def write() -> None:
        made.append(anyio.run(fill, home.cli.home / "state" / "placet.db", folder))

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    return made[0]


def test_only_the_newest_events_are_read_and_painted_and_older_ones_page_by_page(
    make_home: Callable[..., Home],
) -> None:
    home = make_home()
    session = filled(home)
    page = home.context.new_page()
    read: list[Response] = []
    page.on("response", lambda answer: read.append(answer) if f"/api/sessions/{session}" in answer.url else None)
    page.goto(f"{home.url}#/session/{session}")
    expect(page.get_by_text(LAST)).to_be_visible()
    bodies = [answer.json() for answer in read]
    assert [len(body["events"]) for body in bodies] == [NEWEST] * len(bodies)
    assert len(bodies) <= 2  # once, and perhaps once more when the stream is there
    assert bodies[0]["events"][-1]["seq"] >= LONG - 10
    assert bodies[0]["before"] == bodies[0]["events"][0]["seq"]
    turns = NEWEST // 6
    first = page.locator(".minutes .say").count()
    assert 0 < first <= 4 * (turns + 1)
    assert page.locator(".minutes .say.you").count() in (turns, turns + 1)

    read.clear()
    page.get_by_role("button", name="Show earlier entries").click()
    expect(page.locator(".minutes .say.you").nth(2 * turns - 1)).to_be_attached()
    assert [len(answer.json()["events"]) for answer in read] == [NEWEST]
    assert page.locator(".minutes .say").count() <= 2 * first + 4
    print(f"painted of {LONG:,} events: {first} entries, then {page.locator('.minutes .say').count()}")
    page.close()
