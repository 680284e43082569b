"""Halves that do harm: the page, its decisions and the other plugins stay usable, and who did it is ended and named."""

# ruff: noqa: E501 - the long lines are sources of halves and of pages
from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Home
from tests.browser.halves import Stage, steps, until, widget

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("needs_bubblewrap")]

INNOCENT = """
const [n, setN] = React.useState(0);
return e("Button", {onPress: () => setN(n + 1)}, "innocent " + n);
"""
LATER = """
return (ctx) => {
  ctx.get("slots").register({name: "sidebar.footer.action"}, () => React.createElement("Text", null, "harmless"));
  ctx.get("timer").timeout(() => { %s }, 200);
};
"""
FORGE = "JSON.stringify = () => %r; host.call('double', {n: 1});"
"""Every message of the runtime is a text made by this function, so that code in its realm can say anything."""
CUT = 5.0
"""Seconds until a report of the guard may have come on a machine that does other things too; alone it takes one."""


@pytest.fixture(scope="module")
def stage(make_home: Callable[..., Home]) -> Stage:
    """Two plugins: the first one does harm, the second one is innocent."""
    stage = Stage.open(make_home(steps(2)), 2)
    stage.play(widget(INNOCENT), 2)
    return stage


def still_usable(stage: Stage) -> None:
    """The person types, and the other plugin hears presses, both at once."""
    page = stage.page
    field = page.get_by_label("Message", exact=True)
    started = time.monotonic()
    field.fill("")
    field.click()
    page.keyboard.type("as ever")
    expect(field).to_have_value("as ever")
    before = _presses(page)
    page.get_by_role("button", name="innocent").click()
    expect(page.get_by_role("button", name=f"innocent {before + 1}")).to_be_visible()
    assert time.monotonic() - started < 10
    assert stage.errors == []


def _presses(page: Page) -> int:
    words = page.get_by_role("button", name="innocent").inner_text()
    return int(words.rpartition(" ")[2])


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("for (;;);", "did not answer"),
        ("const spin = () => Promise.resolve().then(spin); spin();", "did not answer"),
        ("'a'.repeat(40).match(/^(a|aa)+$/); /^(a|aa)+$/.test('a'.repeat(60) + 'b');", "did not answer"),
        ("JSON.stringify = () => 'x'.repeat(2e7); host.call('double', {n: 1});", "more than"),
        (FORGE % "{", "cannot be"),
        (FORGE % "5", "cannot be"),
        (FORGE % '["ops",1,0,[["a",99,0,{}]]]', "cannot be"),
        (FORGE % '["ops",1,0,[["a",0,0,{"i":1,"c":"iframe","p":{},"k":[]}]]]', "cannot be"),
        (FORGE % '["consent","yes"]', "cannot be"),
        (FORGE % '["register",9,"__proto__","",0,9]', "cannot be"),
    ],
    ids=["loop", "microtasks", "regex", "20-MB", "no-json", "no-word", "op", "node", "consent", "seat"],
)
def test_attack_19_a_half_that_does_harm_is_cut_off_and_reported_and_the_rest_goes_on(
    stage: Stage, harm: str, words: str
) -> None:
    started = time.monotonic()
    stage.play(LATER % harm)
    still_usable(stage)
    report = stage.reported(words)
    assert report["phase"] == "client-render"
    assert time.monotonic() - started < CUT + 10
    still_usable(stage)


def test_a_half_that_is_never_ready_is_given_up_and_the_next_one_comes_up(stage: Stage) -> None:
    attempt = stage.play("await new Promise(() => {});")
    assert attempt["status"] == "failed" and "not ready after 5 s" in attempt["error"]["message"]
    attempt = stage.play(widget('return e("Text", null, "next one");'))
    assert attempt["status"] == "running", attempt
    expect(stage.page.get_by_text("next one")).to_be_visible()
    still_usable(stage)


def test_a_flood_of_changes_is_slowed_and_leaves_the_page_its_time(stage: Stage) -> None:
    stage.play(
        widget(
            """
const [n, setN] = React.useState(0);
React.useEffect(() => ctx.get("timer").interval(() => setN((n) => n + 1), 0), []);
return e("List", null, Array.from({length: 500}, (_, i) => e("Text", {key: i}, `row ${i} at ${n}`)));
"""
        )
    )
    still_usable(stage)
    longest = stage.page.evaluate(
        """() => new Promise((done) => {
          let last = performance.now(), worst = 0, left = 120;
          const frame = (now) => { worst = Math.max(worst, now - last); last = now; left -= 1; left ? requestAnimationFrame(frame) : done(worst); };
          requestAnimationFrame(frame);
        })"""
    )
    assert longest < 1_000
    still_usable(stage)
    stage.stop()


def test_l9_a_million_lines_on_the_console_cost_nothing(stage: Stage) -> None:
    assert (
        stage.play("return () => { for (let i = 0; i < 1e5; i += 1) console.log('line ' + i); };")["status"]
        == "running"
    )
    still_usable(stage)


@pytest.mark.parametrize(
    "body",
    [
        'return e("Text", null, "x".repeat(2e7));',
        'return e("List", null, Array.from({length: 20000}, (_, i) => e("Text", {key: i}, "row " + i)));',
        'let deep = e("Text", null, "deep"); for (let i = 0; i < 60; i += 1) deep = e("Stack", null, deep); return deep;',
        'return e("Table", {rows: Array.from({length: 500}, () => Array(30).fill("x".repeat(400)))});',
        'return e("svg", null, Array.from({length: 4000}, (_, i) => e("rect", {key: i, x: i, y: 0, width: 1, height: 1})));',
    ],
    ids=["20-MB-text", "20000-rows", "deep", "6-MB-table", "4000-shapes"],
)
def test_a_view_that_is_too_large_is_refused(stage: Stage, body: str) -> None:
    run = stage.play(widget(body))["run"]
    until(lambda: [one for one in stage.plugin(1)["diagnostics"] if one["run"] == run] or None, "a report")
    still_usable(stage)


def test_a_heap_that_grows_without_end_takes_nothing_of_the_page_with_it(stage: Stage) -> None:
    if "PLACET_SOAK" not in os.environ:
        pytest.skip("eats up to 4 GB for some seconds: only under PLACET_SOAK=1")
    stage.play(
        """
const keep = [];
return (ctx) => {
  const grow = () => { for (let i = 0; i < 20; i += 1) keep.push(new Array(250000).fill(i + 0.5).map((x) => x + Math.random())); ctx.get("timer").timeout(grow, 0); };
  ctx.get("timer").timeout(grow, 200);
};
"""
    )
    stage.reported("")
    still_usable(stage)


def test_focus_and_scroll_stay_with_the_person_whatever_a_half_draws(stage: Stage) -> None:
    page = stage.page
    field = page.get_by_label("Message", exact=True)
    field.fill("")
    field.click()
    page.evaluate(
        """() => { globalThis.moves = [];
        for (const kind of ['scroll', 'focusin', 'focusout']) addEventListener(kind, (e) => e.target.closest?.('.half') || moves.push(kind + ' ' + (e.target.id || e.target.className)), true); }"""
    )
    attempt = stage.play(
        """
const e = React.createElement;
return (ctx) => {
  const Grow = () => {
    const [n, setN] = React.useState(1);
    React.useEffect(() => ctx.get("timer").interval(() => setN((n) => (n % 60) + 1), 20), []);
    return e("Stack", {key: n}, e("TextField", {label: "Mine", value: "x", onChange() {}}),
      Array.from({length: n}, (_, i) => e("Text", {key: i}, "line " + i)));
  };
  for (const name of ["sidebar.footer.action", "session.header", "conversation.chat.turnTail"]) ctx.get("slots").register({name}, Grow);
  ctx.get("timer").interval(() => ctx.get("layout").request("sidebar.footer.action", {height: 1e9 * Math.random()}).catch(() => 0), 100);
};
"""
    )
    expect(page.get_by_label("Mine").first).to_be_visible()
    expect(page.get_by_text(f"{attempt['run']}, is running").first).to_be_attached()  # the last line that is to come
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.evaluate("moves.length = 0")
    text = "a long sentence that nobody disturbs while it is written"
    page.keyboard.type(text, delay=15)
    expect(field).to_have_value(text)
    assert page.evaluate("moves") == []
    stage.stop()


def test_design_11_a_false_ask_stands_in_its_box_under_the_name_of_its_plugin(stage: Stage) -> None:
    stage.play(
        widget(
            """
return e("Stack", null, e("Text", {heading: true, size: "large"}, "Allow full access?"),
  e("Code", {block: true}, "rm -rf /"), e("Row", null, e("Button", null, "Allow once"), e("Button", null, "Reject")));
""",
            "shell.overlay",
            ", height: 320",
        )
    )
    page = stage.page
    box = page.get_by_role("region", name="Drawn by plugin Try 1")
    expect(box).to_be_visible()
    expect(box.get_by_text("drawn by plugin Try 1")).to_be_visible()
    assert page.locator(".acts").count() == 0
    before = len(stage.home.get("/api/asks")["asks"])
    box.get_by_role("button", name="Allow once").click()
    assert len(stage.home.get("/api/asks")["asks"]) == before
    stage.stop()


def test_l19_halves_of_a_stopped_run_leave_nothing_behind(stage: Stage) -> None:
    stage.play(widget('styles.insert(".a { color: #123456 }"); return e("Text", {className: "a"}, "gone soon");'))
    expect(stage.page.get_by_text("gone soon")).to_be_visible()
    stage.stop()
    expect(stage.page.get_by_text("gone soon")).to_have_count(0)
    assert stage.page.locator("iframe").count() <= 2  # the innocent one, and one kept ready for the next
    assert stage.page.evaluate("document.adoptedStyleSheets.map((one) => one.cssRules.length)") in ([], [0])


def test_50_halves_at_once_leave_the_page_usable(make_home: Callable[..., Home]) -> None:
    count = 50 if "PLACET_SOAK" in os.environ else 5
    stage = Stage.open(make_home(steps(count)), count)
    for number in range(1, count + 1):
        body = 'const [n, set] = React.useState(0); React.useEffect(() => ctx.get("timer").interval(() => set((x) => x + 1), 100), []); return e("Text", null, `half %d at ${n}`);'
        attempt = stage.play(widget(body % number), number)
        assert attempt["status"] == "running", attempt
    field = stage.page.get_by_label("Message", exact=True)
    field.click()
    stage.page.keyboard.type("typed among them", delay=10)
    expect(field).to_have_value("typed among them")
    expect(stage.page.locator(".half:not(.empty)")).to_have_count(count)
    assert stage.errors == []
    stage.page.close()
