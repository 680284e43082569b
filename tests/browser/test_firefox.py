"""What must hold in every browser, in a real Firefox: no way out of a half, and no way onto a decision."""

# ruff: noqa: E501 - the long lines are sources of pages
from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.browser.conftest import Home, asking
from tests.browser.firefox import Firefox
from tests.browser.halves import Stage, steps, until, widget
from tests.browser.test_decision_area import BUTTONS, COLOURS, HOSTILE, STILL
from tests.browser.test_half_escape import LOOK, SHEETS, WAYS, Ear
from tests.conftest import missing

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("needs_bubblewrap")]


@dataclass
class Walk:
    """A session whose plugin runs, open in a Firefox that is signed in and in no other browser."""

    stage: Stage
    fox: Firefox


@pytest.fixture(scope="module")
def walk(make_home: Callable[..., Home]) -> Iterator[Walk]:
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        missing("firefox", "no firefox is on PATH")
    agent = [*steps(1)[:-1], {"text": "I ask.", "calls": [asking("printf x >> ran.txt")]}, {"text": "Done."}]
    stage = Stage.open(make_home(agent))
    stage.page.close()
    fox = Firefox(str(program))
    try:
        fox.goto(json.loads(stage.home.cli("link", "--json").stdout)["url"])
        fox.press("//button[contains(., 'Sign in this browser')]")
        fox.wait("return document.body.innerText.includes('Connected to this machine')")
        fox.goto(f"{stage.home.url}#/session/{stage.session}")
        fox.wait("return document.querySelector('.composer') !== null")
        yield Walk(stage, fox)
    finally:
        fox.close()


@pytest.fixture
def ear() -> Iterator[Ear]:
    """A listener of its own for each test."""
    ear = Ear()
    yield ear
    for one in (ear.tcp, ear.udp):
        one.close()


def test_l5_attack_17_no_way_to_the_network_or_to_any_store_is_left_in_a_half(walk: Walk, ear: Ear) -> None:
    tcp, udp = ear.ports
    attempt = walk.stage.play(
        WAYS.replace("TCP", str(tcp)).replace("UDP", str(udp))
        + """
return async (ctx) => {
  const open = [];
  const nothing = () => ctx.get("timer").sleep(1000).then(() => { throw new Error("nothing came"); });
  await Promise.all(Object.entries(ways).map(async ([name, way]) => {
    const bare = new (async () => {}).constructor(`const url = ${url}; const blob = ${blob}; return (${way})();`);
    try { await Promise.race([bare(), nothing()]); open.push(name); }
    catch (error) { if (!/not defined|nothing came|undefined|null|error loading dynamically imported module/.test(error.message)) open.push(`${name}: ${error.message}`); }
  }));
  const names = [];
  for (let at = globalThis; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) names.push(...Reflect.ownKeys(at).map(String));
  ctx.get("slots").register({name: "sidebar.footer.action"}, () => React.createElement("Text", null, JSON.stringify({open, names})));
};
"""
    )
    assert attempt["status"] == "running", attempt
    said = json.loads(
        walk.fox.wait(
            "return [...document.querySelectorAll('.half-text')].find((one) => one.textContent.includes('names'))?.textContent"
        )
    )
    assert said["open"] == []
    reaching = {
        "fetch",
        "Worker",
        "WebSocket",
        "postMessage",
        "indexedDB",
        "navigator",
        "location",
        "self",
        "crypto",
        "WebTransport",
    }
    assert not reaching & set(said["names"])
    assert ear.heard == []


def test_attack_17_the_wall_is_the_policy_of_the_frame_whatever_the_realm_has(walk: Walk, ear: Ear) -> None:
    """The same ways from a bare worker in that frame, from which nothing was taken away."""
    walk.stage.play(widget('return e("Text", null, "up");'))
    walk.fox.wait("return [...document.querySelectorAll('.half-text')].some((one) => one.textContent === 'up')")
    tcp, udp = ear.ports
    source = (
        WAYS.replace("TCP", str(tcp)).replace("UDP", str(udp))
        + """
(async () => {
  const told = {};
  delete ways.close;
  for (const [name, way] of Object.entries(ways)) {
    try { await Promise.race([way(), new Promise((r, no) => setTimeout(no, 400, new Error("nothing came")))]); told[name] = "went"; }
    catch (error) { told[name] = String(error?.message ?? error).slice(0, 60); }
  }
  postMessage(told);
})();
"""
    )
    walk.fox.enter("iframe")
    try:
        told = walk.fox.later(
            """const [source, done] = arguments;
            const worker = new Worker(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
            worker.onmessage = ({data}) => typeof data === "object" && done(data);
            worker.onerror = (event) => done({error: event.message});""",
            source,
        )
    finally:
        walk.fox.enter(None)
    assert "error" not in told and len(told) > 30
    assert ear.heard == []


def test_the_listeners_would_hear_who_gets_out(walk: Walk, ear: Ear) -> None:
    """The control: the same browser, from a page without such a policy, reaches the listener."""
    walk.fox.goto("data:text/html,<p>free")
    walk.fox.later(
        "const [port, done] = arguments; fetch(`http://127.0.0.1:${port}/`, {mode: 'no-cors'}).then(done, () => done(1));",
        ear.ports[0],
    )
    walk.fox.goto(f"{walk.stage.home.url}#/session/{walk.stage.session}")
    walk.fox.wait("return document.querySelector('.composer') !== null")
    assert "tcp" in ear.heard


def test_l8_no_trick_of_a_style_sheet_loads_anything_or_changes_what_is_not_its_own(walk: Walk, ear: Ear) -> None:
    plain = 'return e("Stack", {className: "a"}, e("Text", {className: "b"}, MARK), e("Button", {className: "b"}, "Styled"));'
    styled = "return [...document.querySelectorAll('.half-text')].some((one) => one.textContent === arguments[0])"
    walk.stage.play(widget(plain.replace("MARK", '"plain"')))
    walk.fox.wait(styled, "plain")
    before = walk.fox.run(f"return ({LOOK})()")
    sheets = [sheet.replace("TCP", str(ear.ports[0])) for sheet in SHEETS]
    for part in range(0, len(sheets), 12):  # a half may have 16 sheets
        mark = f"styled {part}"
        inserts = f"for (const css of {json.dumps(sheets[part : part + 12])}) styles.insert(css);\n"
        walk.stage.play(inserts + widget(plain.replace("MARK", json.dumps(mark))))
        walk.fox.wait(styled, mark)
        walk.fox.later("const [done] = arguments; requestAnimationFrame(() => requestAnimationFrame(() => done(1)));")
        assert walk.fox.run(f"return ({LOOK})()") == before
        assert walk.fox.run("return getComputedStyle(document.querySelector('.half-box')).contain") == "strict"
    assert walk.fox.run("return getComputedStyle(document.querySelector('.half-stack')).color") == "rgb(1, 2, 3)"
    assert ear.heard == []


def test_attack_19_a_half_that_loops_is_cut_off_and_the_page_goes_on(walk: Walk) -> None:
    """In Firefox the frame shares the page's thread: the loop must not be in the frame, and it is not."""
    walk.stage.play(
        """return (ctx) => {
          ctx.get("slots").register({name: "sidebar.footer.action"}, () => React.createElement("Text", null, "looping"));
          ctx.get("timer").timeout(() => { for (;;); }, 1500);
        };"""
    )
    worst = walk.fox.later(
        """const [done] = arguments; let last = performance.now(), worst = 0; const begun = last;
        (function look() { const now = performance.now(); worst = Math.max(worst, now - last); last = now; now - begun < 4000 ? setTimeout(look, 10) : done(worst); })();"""
    )
    assert worst < 1_000
    assert walk.stage.reported("did not answer")["phase"] == "client-render"


def test_attack_20_nothing_of_a_half_reaches_a_decision(walk: Walk) -> None:
    ask = until(lambda: walk.stage.home.get("/api/asks")["asks"] or None, "the ask")[0]["id"]
    walk.fox.goto(f"{walk.stage.home.url}#/session/{walk.stage.session}/{ask}")
    card = f"document.querySelector(\"article.ask[data-ask='{ask}']\")"
    walk.fox.wait(f"return {card}?.querySelector('.acts[data-armed]') != null")
    colours = walk.fox.run(f"return ({COLOURS})({card})")
    walk.stage.play(HOSTILE)
    walk.fox.wait(
        "return getComputedStyle(document.body).backgroundColor === 'rgb(255, 224, 224)' && document.querySelectorAll('.half:not(.empty) .half-stack').length > 3"
    )
    assert walk.fox.run(f"return ({COLOURS})({card})") == colours
    assert set(walk.fox.run(f"return ({BUTTONS})({card})")) == {True}
    seen = walk.fox.later(f"const done = arguments[0]; ({STILL})({card}).then(done);")
    assert seen["moved"] < 1 and seen["unarmed"] == 0
    meets = walk.fox.run(
        """const desk = document.querySelector('.desk').getBoundingClientRect();
        return [...document.querySelectorAll('.half-over, .side, .middle')].some((one) => { const box = one.getBoundingClientRect();
          return box.left < desk.right - 1 && desk.left < box.right - 1 && box.top < desk.bottom - 1 && desk.top < box.bottom - 1; });"""
    )
    assert meets is False
    walk.fox.press("//button[contains(., 'Settings')]")
    assert walk.fox.wait("return document.querySelector('.veil')?.matches(':popover-open')")
