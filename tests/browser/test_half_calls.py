"""Calls of a half that never return: the person's own gestures find a way to the server all the same."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Request, expect

from tests.browser.conftest import Home, asking, sign
from tests.browser.halves import Stage, steps, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("needs_bubblewrap")]

NEVER = """
    import asyncio

    async def hang(args):
        await asyncio.sleep(3600)

    harness.handle("hang", hang)
"""
CALLS = """
return (ctx) => {
  const again = () => host.call("hang").catch(() => ctx.get("timer").sleep(100)).then(again);
  for (let i = 0; i < 60; i += 1) again();
};
"""


def test_16_calls_that_never_return_hold_up_neither_the_verdict_nor_an_answer(
    make_home: Callable[..., Home],
) -> None:
    script = steps(1)
    script[1]["calls"][0]["arguments"]["code"]["host"] += NEVER
    ask_too = {"text": "I ask.", "calls": [asking("printf x >> ran.txt")]}
    stage = Stage.open(make_home([*script[:-1], ask_too, {"text": "Done."}]))
    ask = until(lambda: stage.home.get("/api/asks")["asks"] or None, "the ask")[0]["id"]
    stage.page.goto(f"{stage.home.url}#/session/{stage.session}/{ask}")
    other = stage.home.open(f"{stage.session}/{ask}")
    expect(other.locator(".acts")).to_be_visible()
    going: set[Request] = set()
    most = 0

    def begun(request: Request) -> None:
        nonlocal most
        if request.url.endswith("/invoke"):
            going.add(request)
            most = max(most, len(going))

    def over(request: Request) -> None:
        going.discard(request)

    for page in (stage.page, other):
        page.on("request", begun)
        page.on("requestfinished", over)
        page.on("requestfailed", over)
    stage.bring_up(CALLS)  # the page's word on the half goes the same way
    for page in (stage.page, other):
        expect(page.locator("iframe[title='placet half']").first).to_be_attached()
    stage.page.wait_for_timeout(1_000)
    assert most == 2  # both tabs call, the second for its source too: they share the places of one plugin
    started = time.monotonic()
    sign(other, "Allow")
    until(lambda: None if stage.home.get("/api/asks")["asks"] else True, "the answer at the server")
    assert time.monotonic() - started < 5
    stage.stop()
