"""Where the page itself cannot draw one part: one clear line stands there, and everything else goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ONE_ASK, Home, sign
from tests.browser.consent import panel, press, read
from tests.browser.halves import Stage, steps, until, widget

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def stage(make_home: Callable[..., Home]) -> Stage:
    """One session with two plugins that have consent."""
    return Stage.open(make_home(steps(2)), 2)


ALTER = """
globalThis.spoilt ??= new Map();
if (!globalThis.plainFetch) {
  globalThis.plainFetch = fetch;
  globalThis.fetch = async (path, ...more) => {
    const answer = await plainFetch(path, ...more);
    const change = [...spoilt].find(([pattern]) => new RegExp(pattern).test(path));
    if (!change || !answer.ok) return answer;
    const body = await answer.json();
    change[1](body);
    return new Response(JSON.stringify(body), { status: answer.status, headers: answer.headers });
  };
}
"""


def spoil(pattern: str, change: str) -> str:
    """The script that lets answers of these paths reach the page changed, as a fault of its own would leave them."""
    return f"{ALTER}; spoilt.set({json.dumps(pattern)}, (body) => {{ {change} }});"


HEAL = "spoilt.clear()"


@pytest.mark.usefixtures("needs_bubblewrap")
def test_one_row_of_the_panel_that_cannot_be_drawn_leaves_the_others_and_the_page(stage: Stage) -> None:
    page = stage.page
    panel(page)

    page.evaluate(spoil("/api/plugins$", 'body.plugins.find((one) => one.plugin === "try-1").packages = null;'))
    page.get_by_role("tab", name="To decide").click()
    rows = panel(page)  # reads the inventory again
    line = rows.locator(".not-drawn")
    expect(line).to_contain_text("The row of try-1 could not be drawn.")
    expect(rows.get_by_role("heading", name="Try 2")).to_be_visible()
    expect(page.get_by_label("Message", exact=True)).to_be_editable()

    page.evaluate(HEAL)
    line.get_by_role("button", name="Try again").click()
    expect(rows.locator(".not-drawn")).to_have_count(0)
    expect(rows.get_by_role("heading", name="Try 1")).to_be_visible()


@pytest.mark.usefixtures("needs_bubblewrap")
def test_a_seat_that_cannot_be_drawn_shows_its_usual_content_and_can_be_tried_again(stage: Stage) -> None:
    page = stage.page
    page.evaluate(
        """() => {
            const observe = ResizeObserver.prototype.observe;
            globalThis.broken = true;
            ResizeObserver.prototype.observe = function (element, ...more) {
                if (globalThis.broken && element.matches(".half-box")) throw new Error("no size today");
                return observe.call(this, element, ...more);
            };
        }"""
    )
    stage.play(widget('return e("Text", null, "drawn after all");'))
    line = page.locator(".side-foot .not-drawn")
    expect(line).to_contain_text("What plugins show here could not be drawn.")
    expect(line).to_contain_text("no size today")
    expect(page.get_by_role("button", name="Settings")).to_be_visible()
    page.evaluate("() => { globalThis.broken = false; }")
    line.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("region", name="Drawn by plugin Try 1")).to_contain_text("drawn after all")
    expect(page.locator(".not-drawn")).to_have_count(0)


def test_a_sheet_that_cannot_be_drawn_says_that_it_still_waits_and_is_read_again(
    make_home: Callable[..., Home],
) -> None:
    home = make_home()
    session, _ = home.session("plugin")
    page = home.open(session)
    expect(page.locator("article.consent")).to_be_visible()
    page.add_init_script(spoil("/api/consents/run-", "body.wants = null;"))
    page.reload()
    line = page.locator(".desk .not-drawn")
    expect(line).to_contain_text("It still waits: nothing was decided.")
    expect(page.locator(".tool").first).to_be_visible()
    expect(page.locator(".acts")).to_have_count(0)
    page.evaluate(HEAL)
    line.get_by_role("button", name="Try again").click()
    read(page)
    press(page, "This version only")
    expect(page.locator(".seal")).to_contain_text("only")


def test_an_entry_of_the_conversation_that_cannot_be_drawn_leaves_the_ask_beside_it(
    make_home: Callable[..., Home],
) -> None:
    home = make_home(ONE_ASK)
    session, folder = home.session()
    until(lambda: home.get("/api/asks?state=open")["asks"] or None, "the ask")
    page = home.context.new_page()
    wrong = 'for (const one of body.events) if (one.type === "user/message") one.time = "never";'
    page.add_init_script(spoil(f"/api/sessions/{session}$", wrong))
    page.goto(f"{home.url}#/session/{session}")
    expect(page.locator(".minutes .not-drawn").first).to_contain_text(
        "This entry could not be drawn. The log holds it."
    )
    sign(page, "Allow once")
    expect(page.locator(".seal")).to_contain_text("placet")
    expect(page.locator(".tool").first).to_contain_text("Ran, exit code 0")
    assert (folder / "ran.txt").read_text() == "x"


def test_a_page_that_cannot_be_drawn_at_all_offers_to_be_loaded_anew(make_home: Callable[..., Home]) -> None:
    home = make_home(ONE_ASK)
    session, _ = home.session()
    page = home.context.new_page()
    page.goto(f"{home.url}#/session/{session}")
    expect(page.locator("article.ask[data-ask]")).to_be_visible()
    page.evaluate(spoil("/api/sessions$", "body.sessions[0].cwd = null;"))
    home.post(f"/api/sessions/{session}/messages", {"text": "more", "id": f"m-{uuid4()}", "steer": False})
    expect(page.locator(".anew")).to_contain_text("The page could not be drawn. Nothing was decided or lost")
    page.get_by_role("button", name="Load the page anew").click()
    expect(page.locator("article.ask[data-ask]")).to_be_visible()
