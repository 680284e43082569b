"""Faults that other systems' pages really had, tried with real input; the ids are those of the collection of cases."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.sync_api import Browser, Page, expect

from placet.approval import events as approvals
from placet.approval.outcome import Policy
from placet.approval.subject import CallKey, build
from placet.session.ids import AskId, SessionId, new_ask_id
from placet.session.stores.sqlite import SqliteStore
from tests.browser.conftest import ONE_ASK, Home, ask_id, asking, sign, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("tabs_closed")]

TURNED = "ok\u202etxt.exe\u200b\u2067x\u2069 \u001b]8;;https://x.example\u0007here\u001b[1A\r\b\u007f\u009b2K done"


def complete(page: Page) -> None:
    expect(page.get_by_text("The turn is complete")).to_be_visible()


def ran(folder: Path) -> str:
    marker = folder / "ran.txt"
    return marker.read_text() if marker.exists() else ""


def test_ui_01_whatever_is_typed_on_answers_nothing_and_stays_in_the_box(make_home: Callable[..., Home]) -> None:
    home = make_home([{"text": "Hello."}, *ONE_ASK])
    session, folder = home.session()
    page, other = home.open(session), home.open(session)
    complete(page)
    complete(other)
    other.get_by_label("Message", exact=True).fill("now")
    page.bring_to_front()
    box = page.get_by_label("Message", exact=True)
    box.click()
    other.get_by_label("Message", exact=True).press("Enter")
    typed = "one two  yes y n 1 2 a A"
    page.keyboard.type(typed, delay=30)
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    page.keyboard.type(typed, delay=30)
    assert box.input_value() == typed * 2
    assert page.evaluate("document.activeElement === document.querySelector('textarea')")
    for key in ("Space", "Shift+Enter", "Control+Enter", "Alt+a", "Alt+y", "Alt+Enter", "Tab", "Enter", "Tab", "Space"):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.closest('.act')") is None
    expect(page.locator("article.ask .ask-head")).to_contain_text("Waiting for you")
    assert ran(folder) == ""


def test_ui_01_a_hand_that_clicks_where_the_field_appears_signs_nothing(make_home: Callable[..., Home]) -> None:
    home = make_home([*ONE_ASK, {"text": "Once."}, *ONE_ASK])
    session, folder = home.session()
    page = home.open(session)
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    field = page.get_by_role("button", name="Allow once").bounding_box()
    assert field is not None
    spot = (field["x"] + field["width"] / 2, field["y"] + field["height"] / 2)
    sign(page, "Reject")
    complete(page)
    page.mouse.move(*spot)
    home.post(f"/api/sessions/{session}/messages", {"text": "again", "id": f"m-{time.time_ns():026}"})
    appeared = page.evaluate_handle("""() => {
        const seen = { at: null, last: 0 };
        addEventListener('pointerup', () => { if (seen.at) seen.last = performance.now() - seen.at; }, true);
        new MutationObserver(() => { if (!seen.at && document.querySelector('.acts')) seen.at = performance.now(); })
            .observe(document.body, { childList: true, subtree: true });
        return seen;
    }""")
    while page.evaluate("(seen) => seen.at === null || performance.now() - seen.at < 250", appeared):
        page.mouse.click(*spot)
    if page.evaluate("(seen) => seen.last >= 400", appeared):
        pytest.skip("this machine was too busy to click within the arming time")
    expect(page.locator("article.ask .ask-head")).to_contain_text("Waiting for you")
    assert ran(folder) == ""


def in_the_store(home: Home, act: Callable[[SqliteStore], Coroutine[Any, Any, None]]) -> None:
    """Do something to the server's store, as another process would."""

    async def main() -> None:
        async with await SqliteStore.open(home.cli.home / "state" / "placet.db") as store:
            await act(store)

    thread = threading.Thread(target=anyio.run, args=(main,))
    thread.start()
    thread.join()


def test_ui_06_without_a_command_on_the_card_nothing_can_be_allowed(make_home: Callable[..., Home]) -> None:
    home = make_home(ONE_ASK)
    session, _ = home.session()
    page = home.open(session)
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    odd = {
        "empty": ("bash", '{"command": " "}'),
        "nothing": ("bash", ""),
        "unknown": ("magic", '{"spell": "rm -rf x"}'),
    }
    asks: dict[str, str] = {}

    async def ask(store: SqliteStore) -> None:
        for number, (name, (tool, arguments)) in enumerate(odd.items()):
            asks[name] = new_ask_id()
            subject = build(
                ask=AskId(asks[name]), session=SessionId(session), agent="m", call=CallKey(1, 1, 10 + number),
                tool=tool, tool_digest="0" * 64, arguments=arguments, cwd="/w", cwd_id="1:2",
                from_mode="workspace-write", to_mode="danger-full-access",
            )  # fmt: skip
            draft = approvals.asked(subject, call_id="c", reason=None, policy=Policy.ASK, chain=["inbox"])
            await store.append(SessionId(session), [draft])

    in_the_store(home, ask)
    expect(page.locator(".queue")).to_contain_text("of 4")
    for name in odd:
        page.goto(f"{home.url}#/session/{session}/{asks[name]}")
        expect(page.locator(f'article.ask[data-ask="{asks[name]}"]')).to_be_visible()
        expect(page.locator(".acts[data-armed]")).to_be_visible()
        allow = page.get_by_role("button", name="Allow once")
        if name == "unknown":
            expect(page.locator("article.ask .code")).to_contain_text('{"spell": "rm -rf x"}')
            expect(allow).not_to_have_attribute("aria-disabled", "true")
        else:
            expect(page.locator("article.ask")).to_contain_text("There is no command to show. It cannot be allowed.")
            expect(allow).to_have_attribute("aria-disabled", "true")
            allow.click(force=True)
            expect(page.locator("article.ask .ask-head")).to_contain_text("Waiting for you")


def test_ui_07_ui_05_reasons_are_marked_too_and_every_kind_of_blank_is_shown(make_home: Callable[..., Home]) -> None:
    blanks = f"echo a{chr(0xA0) * 2000}{chr(0x3000) * 2000}; touch /outside/x"
    home = make_home([{"text": TURNED, "calls": [asking(blanks, justification=TURNED, description=TURNED)]}])
    session, _ = home.session(TURNED)
    page = home.open(session)
    voice = page.locator("article.ask .voice")
    expect(voice).to_contain_text("done")
    for mark in ("RLO", "ZWSP", "RLI", "PDI", "ESC", "BEL", "CR", "BS", "DEL"):
        assert any(said.startswith(mark) for said in voice.locator(".mk").all_inner_texts()), mark
    shown = page.locator("body").inner_text()
    assert not [letter for letter in shown if letter in "\u202e\u200b\u2067\u2069\u001b\u0007\b\u007f\u009b"]
    assert voice.get_by_role("link").count() == 0
    code = page.locator("article.ask .code")
    expect(code).to_contain_text("touch /outside/x")
    assert code.evaluate("code => code.scrollWidth <= code.clientWidth + 1")
    said = home.server.said
    assert not [letter for letter in said if ord(letter) < 32 and letter != "\n"] and "\u202e" not in said


@pytest.mark.parametrize("status", [500, 503])
def test_ui_10_an_error_of_the_server_is_told_and_the_answer_can_be_given_again(asking_home: Home, status: int) -> None:
    session, folder = asking_home.session()
    page = asking_home.open(session)
    page.route("**/decision", lambda route: route.fulfill(status=status, body="broken"))
    sign(page, "Allow once")
    expect(page.locator("article.ask .banner")).to_be_visible()
    expect(page.locator("article.ask .ask-head")).to_contain_text("Waiting for you")
    assert ran(folder) == ""
    page.unroute("**/decision")
    again = page.get_by_role("button", name="Send the same answer again")
    if again.count():
        again.click()
    else:
        sign(page, "Allow once")
    complete(page)
    assert ran(folder) == "x"


def test_ses_01_a_reload_loses_no_card_and_a_second_device_can_answer_it_once(
    asking_home: Home, chromium: Browser
) -> None:
    session, folder = asking_home.session()
    page = asking_home.open(session)
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    before = ask_id(page)
    page.reload()
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    assert ask_id(page) == before
    device = chromium.new_context(locale="en-US")
    sign_in(device, fresh_link(asking_home)).close()
    there = device.new_page()
    there.goto(f"{asking_home.url}#/session/{session}")
    expect(there.locator(".acts[data-armed]")).to_be_visible()
    assert ask_id(there) == before
    sign(there, "Allow once")
    complete(page)
    expect(page.locator(".seal")).to_contain_text("Allowed once")
    assert ran(folder) == "x"
    device.close()


def fresh_link(home: Home) -> str:
    return str(json.loads(home.cli("link", "--json").stdout)["url"])


def test_pol_02_under_never_no_card_is_drawn_and_the_record_says_who_refused(asking_home: Home) -> None:
    page = asking_home.context.new_page()
    page.goto(f"{asking_home.url}#/inbox")
    expect(page.get_by_text("Connected to this machine")).to_be_attached()
    drawn = page.evaluate_handle("""() => {
        const drawn = new Set();
        new MutationObserver(() => document.querySelectorAll('.acts').forEach((one) => drawn.add(one)))
            .observe(document.body, { childList: true, subtree: true });
        return drawn;
    }""")
    session, folder = asking_home.session(policy="never")
    page.evaluate("(session) => { location.hash = `#/session/${session}`; }", session)
    complete(page)
    assert page.evaluate("(drawn) => drawn.size", drawn) == 0
    assert page.locator(".acts").count() == 0 and ran(folder) == ""
    expect(page.locator(".minutes .tool").first).to_contain_text("policy")


def test_pol_05_every_tab_shows_the_preset_that_is_in_force(asking_home: Home) -> None:
    session, _ = asking_home.session()
    first, second = asking_home.open(session), asking_home.open(session)
    shown = "What the agent may touch: "
    for page, choice in ((first, "Read only"), (second, "Workspace"), (first, "Read only")):
        page.bring_to_front()
        page.get_by_role("button", name=shown).click()
        page.get_by_role("menuitemradio", name=choice).click()
        for tab in (first, second):
            expect(tab.get_by_role("button", name=shown + choice)).to_be_visible()
    asking_home.post(
        f"/api/sessions/{session}/permission", {"preset": "danger-full-access", "confirm": True, "key": "k"}
    )
    for tab in (first, second):  # what widens is seen by people who did not choose it
        expect(tab.get_by_role("button", name=shown + "Full access")).to_be_visible()


def test_esc_03_the_tool_card_says_what_the_sandbox_denied(make_home: Callable[..., Home]) -> None:
    call = {"name": "bash", "arguments": {"command": "touch ~/denied-here", "description": "x"}}
    home = make_home([{"text": "I try.", "calls": [call]}])
    session, _ = home.session()
    page = home.open(session)
    complete(page)
    expect(page.locator(".minutes .tool").first).to_contain_text("Denied by the sandbox")
    expect(page.locator(".minutes .tool").first).to_contain_text("denied-here")
