"""What a browser half draws, and what a person does with it, from the server to the painted widget."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Home
from tests.browser.consent import panel, row
from tests.browser.halves import Stage, steps, widget

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("needs_bubblewrap")]

COUNTER = """
const [n, setN] = React.useState(0);
return e("Row", null, e("Text", null, "pressed ", n), e("Button", {onPress: () => setN(n + 1)}, "Press"));
"""


@pytest.fixture(scope="module")
def stage(make_home: Callable[..., Home]) -> Stage:
    """One session with two plugins that have consent."""
    return Stage.open(make_home(steps(2)), 2)


def test_l2_a_half_is_drawn_under_the_name_of_its_plugin_and_hears_presses(stage: Stage) -> None:
    attempt = stage.play(widget(COUNTER))
    assert attempt["status"] == "running", attempt
    view = stage.page.get_by_role("region", name="Drawn by plugin Try 1")
    expect(view.get_by_text("drawn by plugin Try 1")).to_be_visible()
    expect(view.get_by_text("pressed 0")).to_be_visible()
    view.get_by_role("button", name="Press").click()
    expect(view.get_by_text("pressed 1")).to_be_visible()


def test_l7_a_half_calls_its_host_half_and_hears_what_went_wrong_there(stage: Stage) -> None:
    stage.play(
        """
const e = React.createElement;
return async (ctx) => {
  const said = [await host.call("double", {n: 21})];
  for (const [name, args] of [["boom"], ["nothing"], ["double", {n: undefined}], ["double", () => 1]])
    await host.call(name, args).catch((error) => said.push(`${error.code ?? ""}: ${error.message}`));
  ctx.get("slots").register({name: "sidebar.footer.action"}, () => e("Text", null, said.join(" | ")));
};
"""
    )
    view = stage.page.get_by_role("region", name="Drawn by plugin Try 1")
    expect(view).to_contain_text("42 | handler-error: ")
    expect(view).to_contain_text("the host half says no")
    expect(view).to_contain_text("method-not-found: ")
    expect(view).to_contain_text('host.call("double", args): args.n is undefined')
    expect(view).to_contain_text('host.call("double", args): args is a function')


def test_a_field_loses_no_key_and_keeps_the_caret_also_where_the_half_is_slow_and_rewrites(stage: Stage) -> None:
    stage.play(
        widget(
            """
const [text, setText] = React.useState("");
const change = (value) => { const end = Date.now() + 40; while (Date.now() < end); setText(value.toUpperCase()); };
return e("Stack", null, e("TextField", {label: "Name", value: text, onChange: change}), e("Text", null, "has " + text));
""",
            more=", height: 120",
        )
    )
    page, field = stage.page, stage.page.get_by_label("Name")
    field.click()
    page.keyboard.type("hello world", delay=15)
    expect(page.get_by_text("has HELLO WORLD")).to_be_visible()
    for _ in "world":
        page.keyboard.press("ArrowLeft")
    page.keyboard.type("big ", delay=15)
    expect(page.get_by_text("has HELLO BIG WORLD")).to_be_visible()
    expect(field).to_have_value("HELLO BIG WORLD")
    assert field.evaluate("field => field.selectionStart") == len("hello big ")


def test_a_field_that_is_made_anew_under_the_hand_keeps_focus_and_keys(stage: Stage) -> None:
    stage.play(
        widget(
            """
const [text, setText] = React.useState("");
const [key, setKey] = React.useState(0);
React.useEffect(() => ctx.get("timer").interval(() => setKey((n) => n + 1), 30), []);
const field = {label: "Name", value: text, onChange: setText};
return e("Stack", {key}, e("TextField", field), e("Text", null, "has " + text));
""",
            more=", height: 120",
        )
    )
    page = stage.page
    expect(page.get_by_label("Name")).to_be_attached()
    x, y = page.evaluate(  # no field lasts long enough for a locator
        """() => {
            const box = document.querySelector('.half input[type=text]').getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }"""
    )
    page.mouse.click(x, y)
    page.keyboard.type("a b c d e f", delay=60)
    expect(page.get_by_text("has a b c d e f")).to_be_visible()
    page.get_by_label("Message", exact=True).click()
    page.keyboard.type("not disturbed", delay=40)
    expect(page.get_by_label("Message", exact=True)).to_have_value("not disturbed")
    page.get_by_label("Message", exact=True).fill("")


def test_design_10_one_instance_serves_all_its_seats(stage: Stage) -> None:
    stage.play(
        """
const e = React.createElement;
let pressed = 0;
const views = new Set();
const useAll = () => {
  const [, draw] = React.useState(0);
  React.useEffect(() => { views.add(draw); return () => views.delete(draw); }, []);
};
const press = () => { pressed += 1; for (const draw of views) draw(pressed); };
return (ctx) => {
  const Bar = () => (useAll(), e("Button", {onPress: press}, "Press all"));
  const Tail = () => (useAll(), e("Text", null, "tail has " + pressed));
  ctx.get("slots").register({name: "sidebar.footer.action"}, Bar);
  ctx.get("slots").register({name: "conversation.chat.turnTail"}, Tail);
};
"""
    )
    expect(stage.page.get_by_text("tail has 0")).to_be_visible()
    stage.page.get_by_role("button", name="Press all").click()
    expect(stage.page.get_by_text("tail has 1")).to_be_visible()


def test_l20_a_view_that_throws_gives_its_seat_back_and_the_others_go_on(stage: Stage) -> None:
    stage.play(
        """
const e = React.createElement;
return (ctx) => {
  const Bad = () => { throw new RangeError("no such week"); };
  ctx.get("slots").register({name: "sidebar.footer.action"}, () => e("Text", null, "still here"));
  ctx.get("slots").register({name: "tool.call.toolview", key: "bash"}, Bad);
};
"""
    )
    card = stage.page.locator("article.tool", has_text="echo usual output")
    card.scroll_into_view_if_needed()  # what is far away is not drawn
    expect(stage.page.get_by_text("still here")).to_be_visible()
    expect(card.get_by_text("Plugin Try 1 failed here")).to_contain_text("no such week")
    expect(card.locator("pre", has_text="usual output").last).to_be_visible()
    report = stage.reported("no such week")
    assert (report["phase"], report["slot"]) == ("client-render", "tool.call.toolview")
    assert stage.plugin(1)["activeRun"] is not None


def test_l12_of_two_plugins_in_one_seat_the_newest_is_shown_and_the_older_comes_back(stage: Stage) -> None:
    for number in (1, 2):
        stage.play(widget(f'return e("Text", null, "I am {number}")', "session.header"), number)
    expect(stage.page.get_by_text("I am 2")).to_be_visible()
    expect(stage.page.get_by_text("I am 1")).to_have_count(0)
    stage.stop(2)
    expect(stage.page.get_by_text("I am 1")).to_be_visible()
    expect(stage.page.get_by_text("I am 2")).to_have_count(0)


def test_l12_in_a_chain_the_first_by_priority_that_draws_something_is_shown(stage: Stage) -> None:
    tail = "conversation.chat.turnTail"
    stage.page.locator("#conversation").evaluate("one => { one.scrollTop = one.scrollHeight; }")
    stage.play(widget('return e("Text", null, "usual tail")', tail, ", priority: 9"), 1)
    end = stage.page.get_by_text("The turn is complete").last
    end.scroll_into_view_if_needed()  # what is far away is not drawn
    expect(stage.page.get_by_text("usual tail")).to_be_visible()
    stage.play(widget('return e("Text", null, "my turn")', tail), 2)
    expect(stage.page.get_by_text("my turn")).to_be_visible()
    expect(stage.page.get_by_text("usual tail")).to_be_hidden()
    stage.stop(2)
    expect(stage.page.get_by_text("usual tail")).to_be_visible()


@pytest.mark.parametrize(
    ("source", "phase", "words"),
    [
        ("1 + 1;", "client-load", "returned nothing"),
        ("return 5;", "client-load", "it returned a number"),
        ("return {inject: 5, apply() {}};", "client-load", "inject has to be a list"),
        ("throw new Error('at load');", "client-load", "at load"),
        ("return <div/>;", "client-load", "Unexpected token"),
        ("return () => { throw new TypeError('at apply'); };", "client-apply", "TypeError: at apply"),
        ("return () => fetch('/x');", "client-apply", "Let the host half fetch"),
        ("return () => setTimeout(() => 1);", "client-apply", "ctx.timer.timeout"),
        ("return () => require('fs');", "client-apply", "There are no modules"),
        ("return () => harness.handle;", "client-apply", "belongs to the host half"),
        ("return {apply(ctx) { ctx.slots.register; }};", "client-apply", 'inject: ["slots"]'),
    ],
)
def test_l4_l6_l18_what_fails_is_told_with_its_stage_and_the_way_out(
    stage: Stage, source: str, phase: str, words: str
) -> None:
    attempt = stage.play(source)
    assert (attempt["status"], attempt["phase"]) == ("failed", phase)
    assert words in attempt["error"]["message"]


def test_i20_a_half_that_injects_what_is_not_there_waits(stage: Stage) -> None:
    attempt = stage.play("return {inject: ['weather'], apply() { throw new Error('too early'); }};")
    assert (attempt["status"], attempt["client"]["waitingFor"]) == ("waiting", ["weather"])
    panel(stage.page)
    mine = row(stage.page, "Try 1")
    expect(mine).to_contain_text("Its browser half waits for weather, which no page of placet has.")
    expect(mine).not_to_contain_text("wakes by itself")
    stage.page.get_by_role("tab", name="To decide").click()


def test_l1_l22_a_page_that_was_frozen_meanwhile_has_the_newest_half_when_it_wakes(stage: Stage) -> None:
    stage.bring_up(widget('return e("Text", null, "first");'))
    other = stage.home.open(stage.session)
    expect(other.get_by_text("Connected to this machine")).to_be_attached()
    stage.bring_up(widget('return e("Text", null, "second");'))
    expect(other.get_by_text("second")).to_be_visible()

    chrome = other.context.new_cdp_session(other)
    chrome.send("Page.setWebLifecycleState", {"state": "frozen"})
    stage.bring_up(widget('return e("Text", null, "third");'))
    stage.bring_up(widget('return e("Text", null, "fourth");'))
    expect(stage.page.get_by_text("fourth")).to_be_visible()
    chrome.send("Page.setWebLifecycleState", {"state": "active"})
    expect(other.get_by_text("fourth")).to_be_visible()
    for old in ("first", "second", "third"):
        expect(other.get_by_text(old, exact=True)).to_have_count(0)
    expect(other.locator("iframe[title='placet half']")).to_have_count(1)
    other.close()


def test_l27_every_open_page_has_an_instance_of_its_own_and_the_first_word_counts(stage: Stage) -> None:
    other = stage.home.open(stage.session)
    expect(other.get_by_text("Connected to this machine")).to_be_attached()
    stage.bring_up(widget(COUNTER))
    for page in (stage.page, other):
        expect(page.get_by_text("pressed 0")).to_be_visible()
    stage.page.get_by_role("button", name="Press").click()
    expect(stage.page.get_by_text("pressed 1")).to_be_visible()
    expect(other.get_by_text("pressed 0")).to_be_visible()
    other.close()


def test_l27_a_connection_that_breaks_at_the_source_is_no_failure_of_the_half(stage: Stage) -> None:
    stage.page.evaluate(
        """() => { const whole = window.fetch; window.broken = [];
        window.fetch = (path, ...more) => {
          if (!String(path).endsWith('/source')) return whole(path, ...more);
          window.broken.push(path);
          window.fetch = whole;
          return Promise.reject(new TypeError('the connection broke'));
        }; }"""
    )
    stage.bring_up(widget(COUNTER))
    expect(stage.page.get_by_text("pressed 0")).to_be_visible()
    assert stage.page.evaluate("window.broken.length") == 1


def test_l1_a_reload_brings_nothing_back_and_the_panel_loads_it_here(stage: Stage) -> None:
    stage.play(widget(COUNTER))
    page = stage.page
    page.get_by_role("button", name="Press").click()
    page.reload()
    expect(page.get_by_text("Connected to this machine")).to_be_attached()
    page.get_by_role("button", name="Plugins").first.click()
    load = page.get_by_role("button", name="Load here").first
    expect(load).to_be_visible()
    expect(page.get_by_text("pressed", exact=False)).to_have_count(0)
    load.click()
    expect(page.get_by_text("pressed 0")).to_be_visible()
    assert stage.errors == []
