"""What a person sees of a plugin's own calls: the card says who wishes, the conversation says whose each call is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Home, sign

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("needs_bubblewrap")]

LOOKS = """
async def apply(ctx):
    async def wider(args):
        ran = await ctx.shell.run("grep Seccomp: /proc/self/status", description="See what holds it",
                                  sandbox_permissions="danger-full-access", justification="The plugin has to look.")
        return ran["stdout"]["text"].strip()
    harness.tool("wider", "Looks outside.", {"type": "object", "properties": {}}, wider)
"""


def step(tool: str, /, **arguments: Any) -> dict[str, Any]:
    return {"text": "", "calls": [{"name": tool, "arguments": arguments}]}


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Home]) -> Home:
    plugin = {"kind": "new", "idPrefix": "look"}
    return make_home(
        [
            step("cordis_define", plugin=plugin, name="Look", purpose="Looks.", code={"host": LOOKS}),
            step("cordis_run", pluginId="look-1", packageId="pkg-1", mode="run"),
            step("look-1.wider"),
            {"text": "Looked."},
        ]
    )


def test_k7_k18_a_plugins_wish_is_on_a_card_that_names_it_and_each_call_says_whose_it_is(home: Home) -> None:
    session, _ = home.session()
    page = home.open(session)
    sheet = page.locator("article.ask[data-ask]")
    expect(sheet.get_by_text("plugin look-1 of script:")).to_be_visible()
    sign(page, "Allow once")
    expect(page.get_by_text("Looked.")).to_be_visible()
    inner = page.locator("[data-call='call:1.3.1000']")
    expect(inner).to_contain_text("Called by plugin look-1.")
    outer = page.locator("[data-call='call:1.3.0']")
    expect(outer).to_contain_text("Tool of plugin look-1.")
    expect(outer).to_contain_text("Seccomp:\t0")
    page.close()
