"""Many tabs, one stream: nothing hangs, and the stream outlives the tab that reads it."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.conftest import Home, asking, sign

pytestmark = pytest.mark.browser

TABS = 12 if os.environ.get("PLACET_SOAK") == "1" else 8
"""More than the six connections that a browser has to one server."""
TWO = [
    {"text": "One.", "calls": [asking("printf a >> ran.txt")]},
    {"text": "Two.", "calls": [asking("printf b >> ran.txt")]},
]


def test_attack16_with_many_tabs_allow_and_stop_in_the_last_do_not_hang(make_home: Callable[..., Home]) -> None:
    home = make_home(TWO)
    session, folder = home.session()
    streams: list[Page] = []

    def count(page: Page, request: Request) -> None:
        if "/api/stream" in request.url:
            streams.append(page)

    pages: list[Page] = []
    for _ in range(TABS):
        page = home.context.new_page()
        page.on("request", lambda request, page=page: count(page, request))
        page.goto(f"{home.url}#/session/{session}")
        pages.append(page)
    for page in pages:
        expect(page.locator(".acts")).to_be_visible()
    assert len(streams) == 1
    last = next(page for page in reversed(pages) if page is not streams[0])
    last.bring_to_front()
    sign(last, "Allow once")  # were it to wait for one of the six connections, it would never come
    expect(last.locator("article.ask .code")).to_contain_text("printf b")
    for page in pages:
        expect(page.locator(".minutes .tool").first).to_contain_text("Ran, exit code 0")
    assert (folder / "ran.txt").read_text() == "a"

    streams[0].close()  # the leading tab goes; another takes the stream over
    pages.remove(streams[0])
    last.get_by_role("button", name="Stop", exact=True).click()
    expect(last.get_by_text("Stopped by owner").first).to_be_visible()
    for page in pages[:3]:
        expect(page.get_by_text("Stopped by owner").first).to_be_visible()
    assert len(streams) == 2
    for page in pages:
        page.close()
