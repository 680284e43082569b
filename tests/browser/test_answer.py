"""Answers with real input: they count once, they are the person's own, and the page says what became of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import ONE_ASK, Home, ask_id, asking, sign

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("tabs_closed")]


@pytest.fixture(scope="module")
def two_home(make_home: Callable[..., Home]) -> Home:
    """A server whose agent asks twice in one message."""
    return make_home([{"text": "Two.", "calls": [asking("printf a >> ran.txt"), asking("printf b >> ran.txt")]}])


def ran(folder: Path) -> str:
    marker = folder / "ran.txt"
    return marker.read_text() if marker.exists() else ""


def complete(page: Page) -> None:
    expect(page.get_by_text("The turn is complete")).to_be_visible()


def test_allow_once_runs_exactly_this_command_once(asking_home: Home) -> None:
    session, folder = asking_home.session()
    page = asking_home.open(session)
    sign(page, "Allow once")
    complete(page)
    assert ran(folder) == "x"
    record = page.locator(".tool .rec")
    expect(record).to_contain_text("Allowed once by owner, with full access for this call")
    expect(page.locator(".seal")).to_contain_text("Allowed once")


def test_a_rejection_with_a_note_reaches_the_agent_and_nothing_runs(asking_home: Home) -> None:
    session, folder = asking_home.session()
    page = asking_home.open(session)
    page.get_by_role("button", name="Reject with a note").click()
    expect(page.get_by_role("button", name="Allow once")).to_have_count(0)
    page.get_by_label("Note to the agent").fill("Not before Friday.")
    page.keyboard.press("Enter")  # a new line, never an answer
    sign(page, "Reject with note")
    complete(page)
    assert ran(folder) == ""
    expect(page.locator(".tool .rec")).to_contain_text("Not before Friday.")
    log = asking_home.cli("log", "export", session).stdout
    result = next(line for line in log.splitlines() if '"tool/result"' in line)
    assert "Not before Friday." in result


def test_stop_works_while_the_card_is_open(asking_home: Home) -> None:
    session, folder = asking_home.session()
    page = asking_home.open(session)
    expect(page.locator(".acts")).to_be_visible()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("Stopped by owner").first).to_be_visible()
    expect(page.locator("article.ask .ask-head")).to_contain_text("Cancelled")
    assert ran(folder) == ""


def test_reject_and_stop_ends_the_turn_with_all_that_waits_in_it(two_home: Home) -> None:
    session, folder = two_home.session()
    page = two_home.open(session)
    expect(page.locator(".queue")).to_contain_text("1 of 2")
    sign(page, "Reject and stop")
    expect(page.get_by_text("Stopped by owner").first).to_be_visible()
    assert ran(folder) == ""


def test_m19_the_preset_can_be_switched_while_the_card_is_open_and_never_answers_it(asking_home: Home) -> None:
    session, folder = asking_home.session()
    page = asking_home.open(session)
    expect(page.locator(".acts")).to_be_visible()
    before = ask_id(page)
    page.get_by_role("button", name="What the agent may touch").click()
    page.get_by_role("menuitemradio", name="Full access").click()
    dialog = page.get_by_role("alertdialog")
    expect(dialog).to_contain_text("The sandbox is off.")
    expect(dialog).to_contain_text("Nobody is asked.")
    dialog.get_by_role("button", name="Switch the sandbox off").click()
    expect(page.get_by_role("button", name="What the agent may touch: Full access")).to_be_visible()
    assert ask_id(page) == before
    assert ran(folder) == ""
    sign(page, "Reject")
    complete(page)


def test_the_first_of_two_tabs_wins_and_the_other_says_who_answered(asking_home: Home) -> None:
    session, folder = asking_home.session()
    first, second = asking_home.open(session), asking_home.open(session)
    for page in (first, second):
        expect(page.locator(".acts[data-armed]")).to_be_visible()
    held: list[Route] = []
    second.route("**/decision", lambda route: held.append(route))  # the second answer leaves its tab, but arrives later
    sign(second, "Allow once")
    expect(second.get_by_text("Sending “Allow once”…")).to_be_visible()
    first.bring_to_front()
    sign(first, "Reject")
    expect(first.locator(".seal")).to_contain_text("Rejected")
    expect(second.get_by_text("Your “Allow once” was not applied.")).to_be_visible()
    expect(second.locator(".banner")).to_contain_text("owner was first: Rejected")
    held[0].continue_()
    expect(second.get_by_text("Your “Allow once” was not applied.")).to_be_visible()
    assert ran(folder) == ""


def test_ui01_typing_on_while_a_card_appears_answers_nothing(make_home: Callable[..., Home]) -> None:
    home = make_home([{"text": "Hello."}, *ONE_ASK, {"text": "Heard."}])
    session, folder = home.session()
    page = home.open(session)
    complete(page)
    other = home.open(session)
    complete(other)
    box = page.get_by_label("Message", exact=True)
    other.get_by_label("Message", exact=True).fill("now")
    other.keyboard.press("Enter")
    page.bring_to_front()
    box.click()
    page.keyboard.type("I write on and on, and a card appears in the middle of it ", delay=12)
    expect(page.locator(".acts")).to_be_visible()
    page.keyboard.type("y1 ", delay=12)
    assert box.input_value().startswith("I write on") and box.input_value().endswith("y1 ")
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    page.keyboard.press("Enter")  # sends the message; it is not an answer
    page.keyboard.press("Enter")
    expect(page.get_by_text("I write on and on").first).to_be_visible()
    assert page.locator("article.ask .ask-head").inner_text().startswith("Waiting for you")
    assert ran(folder) == ""


def test_ui01_clicks_and_keys_within_the_arming_time_do_nothing(asking_home: Home) -> None:
    session, folder = asking_home.session()
    page = asking_home.open(session)
    allow = page.get_by_role("button", name="Allow once")
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    box = allow.bounding_box()
    assert box is not None
    spot = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*spot)
    # a sheet that moves with every frame never arms: rapid clicks on the very spot stay without effect
    page.evaluate(
        """() => {
            const sheet = document.querySelector('article.ask');
            let n = 0;
            const move = () => {
                sheet.style.transform = `translateY(${(n += 1) % 2 * 4}px)`;
                window.moving = requestAnimationFrame(move);
            };
            move();
        }"""
    )
    for _ in range(8):
        page.mouse.click(*spot)
    page.evaluate(
        "() => { cancelAnimationFrame(window.moving); document.querySelector('article.ask').style.transform = ''; }"
    )
    expect(page.locator("article.ask .ask-head")).to_contain_text("Waiting for you")
    page.evaluate("document.querySelector('.act.c-allow').click()")
    page.evaluate(
        "document.querySelector('.act.c-allow').dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}))"
    )
    page.evaluate(
        "document.querySelector('.act.c-allow').dispatchEvent(new PointerEvent('pointerup', {bubbles: true}))"
    )
    expect(page.locator("article.ask .ask-head")).to_contain_text("Waiting for you")
    assert ran(folder) == ""
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    page.mouse.move(*spot)
    page.mouse.down()
    page.mouse.move(20, 300)
    page.mouse.up()  # pressed on the field, let go elsewhere
    expect(page.locator("article.ask .ask-head")).to_contain_text("Waiting for you")
    assert ran(folder) == ""


def test_the_keyboard_alone_reaches_text_and_fields_in_order_and_signs(asking_home: Home) -> None:
    session, folder = asking_home.session()
    page = asking_home.open(session)
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    assert page.evaluate("document.activeElement.closest('.ask')") is None  # the card took no focus
    page.get_by_role("button", name="Copy").focus()
    seen = []
    for _ in range(6):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.innerText || ''").split("\n")[0])
    assert [word for word in seen if word in ("Reject", "Allow once")] == ["Reject", "Allow once"]
    page.get_by_role("button", name="Allow once").focus()
    page.keyboard.press("Enter")
    complete(page)
    assert ran(folder) == "x"


def test_m2_ui10_a_lost_answer_is_called_unknown_and_can_be_sent_again_safely(asking_home: Home) -> None:
    session, folder = asking_home.session()
    page = asking_home.open(session)
    page.route("**/decision", lambda route: route.abort())
    sign(page, "Allow once")
    expect(page.get_by_text("It is not known whether your “Allow once” arrived.")).to_be_visible()
    expect(page.locator(".act.c-reject, .act[aria-disabled=true]").first).to_be_visible()
    page.unroute("**/decision")
    page.get_by_role("button", name="Send the same answer again").click()
    complete(page)
    assert ran(folder) == "x"


def test_ui10_a_lost_response_is_settled_by_the_log(asking_home: Home) -> None:
    session, folder = asking_home.session()
    page = asking_home.open(session)
    expect(page.locator(".acts")).to_be_visible()
    page.evaluate(
        """() => {
            const real = window.fetch;
            window.fetch = async (url, options) => {
                const answer = await real(url, options);
                if (String(url).endsWith('/decision')) throw new TypeError('the answer was lost');
                return answer;
            };
        }"""
    )
    sign(page, "Allow once")
    expect(page.locator(".seal")).to_contain_text("Allowed once")
    complete(page)
    assert ran(folder) == "x"


def test_m2_ui10_the_fields_lock_at_once_and_say_that_it_is_on_its_way(asking_home: Home) -> None:
    session, _ = asking_home.session()
    page = asking_home.open(session)
    held: list[Route] = []
    page.route("**/decision", lambda route: held.append(route))
    sign(page, "Reject")
    expect(page.get_by_text("Sending “Reject”…")).to_be_visible()
    expect(page.locator(".act[aria-disabled=true]")).to_have_count(2)
    held[0].continue_()
    expect(page.locator(".seal")).to_contain_text("Rejected")


def test_a_reload_keeps_the_card_with_the_same_id(asking_home: Home) -> None:
    session, _ = asking_home.session()
    page = asking_home.open(session)
    expect(page.locator(".acts")).to_be_visible()
    before = ask_id(page)
    page.reload()
    expect(page.locator(".acts")).to_be_visible()
    assert ask_id(page) == before
    page.close()
    again = asking_home.open(session)
    expect(again.locator(".acts")).to_be_visible()
    assert ask_id(again) == before


def test_ses03_after_kill_9_the_card_is_dead_then_back_with_the_same_id_and_runs_once(
    make_home: Callable[..., Home],
) -> None:
    home = make_home(ONE_ASK)
    session, folder = home.session()
    page = home.open(session)
    expect(page.locator(".acts[data-armed]")).to_be_visible()
    before = ask_id(page)
    home.server.kill()
    expect(page.locator(".banner")).to_contain_text("No connection to placet since")
    expect(page.locator(".act[aria-disabled=true]")).to_have_count(2)
    allow = page.locator(".act.c-allow").bounding_box()
    assert allow is not None
    page.mouse.click(allow["x"] + 20, allow["y"] + 20)  # a press on a dead field is not kept for later
    home.restart()
    expect(page.locator(".banner")).to_contain_text("placet was restarted. This ask is back.")
    assert ask_id(page) == before
    time.sleep(0.3)
    assert ran(folder) == ""
    sign(page, "Allow once")
    complete(page)
    assert ran(folder) == "x"


def test_two_asks_of_one_message_stand_in_a_queue(two_home: Home) -> None:
    session, folder = two_home.session()
    page = two_home.open(session)
    expect(page.locator(".queue")).to_contain_text("1 of 2")
    assert page.title().startswith("(2) ")
    code = page.locator("article.ask .code")
    first, second = ("a", "b") if "printf a" in code.inner_text() else ("b", "a")  # the calls run side by side
    expect(code).to_contain_text(f"printf {first}")
    page.get_by_role("button", name="Next ask").click()
    expect(page.locator(".queue")).to_contain_text("2 of 2")
    expect(code).to_contain_text(f"printf {second}")
    sign(page, "Allow once")
    expect(page.locator(".seal")).to_contain_text("Allowed once")
    expect(code).to_contain_text(f"printf {first}")  # the next one comes by itself, armed afresh
    sign(page, "Reject")
    complete(page)
    assert ran(folder) == second
