"""Ways out of a half: none of them reaches a listener, the page, or anything of another plugin."""

# ruff: noqa: E501 - the long lines are sources of halves and of pages
from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Home
from tests.browser.halves import Stage, steps, widget

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("needs_bubblewrap")]


@dataclass
class Ear:
    """Listens on a TCP and a UDP port and keeps what it heard."""

    heard: list[str] = field(default_factory=list)
    tcp: socket.socket = field(default_factory=lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
    udp: socket.socket = field(default_factory=lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))

    def __post_init__(self) -> None:
        self.tcp.bind(("127.0.0.1", 0))
        self.tcp.listen(64)
        self.udp.bind(("127.0.0.1", 0))
        for listen in (self._tcp, self._udp):
            threading.Thread(target=listen, daemon=True).start()

    @property
    def ports(self) -> tuple[int, int]:
        return self.tcp.getsockname()[1], self.udp.getsockname()[1]

    def _tcp(self) -> None:
        while True:
            try:
                connection, _ = self.tcp.accept()
            except OSError:
                return
            with connection:
                self.heard.append("tcp")

    def _udp(self) -> None:
        while True:
            try:
                self.udp.recv(2_000)
            except OSError:
                return
            self.heard.append("udp")


@pytest.fixture
def ear() -> Iterator[Ear]:
    """A listener of its own for each test."""
    ear = Ear()
    yield ear
    for one in (ear.tcp, ear.udp):
        one.close()


@pytest.fixture(scope="module")
def stage(make_home: Callable[..., Home]) -> Stage:
    """One plugin that tries to get out."""
    return Stage.open(make_home(steps(1)))


WAYS = """
const url = (kind) => `${kind}://127.0.0.1:TCP/${Math.random()}`;
const blob = (text) => URL.createObjectURL(new Blob([text], {type: "text/javascript"}));
const ways = {
  fetch: () => fetch(url("http")), keepalive: () => fetch(url("http"), {method: "POST", body: "x", keepalive: true}),
  xhr: () => { const x = new XMLHttpRequest(); x.open("GET", url("http")); x.send(); },
  sync: () => { const x = new XMLHttpRequest(); x.open("GET", url("http"), false); x.send(); },
  socket: () => new WebSocket(url("ws")), stream: () => new WebSocketStream(url("ws")), events: () => new EventSource(url("http")),
  transport: () => new WebTransport("https://127.0.0.1:UDP/x"), rtc: () => { const c = new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:UDP"}]}); c.createDataChannel("x"); return c.createOffer().then((o) => c.setLocalDescription(o)); },
  scripts: () => importScripts(url("http")), scriptsData: () => importScripts("data:text/javascript,1"), scriptsBlob: () => importScripts(blob("1")),
  module: () => import(url("http")), moduleData: () => import("data:text/javascript,export default 1"), moduleBlob: () => import(blob("export default 1")),
  font: () => new FontFace("x", `url(${url("http")})`).load(), beacon: () => navigator.sendBeacon(url("http"), "x"), later: () => fetchLater(url("http")),
  worker: () => new Worker(url("http")), workerData: () => new Worker("data:text/javascript,1"), shared: () => new SharedWorker(url("http")),
  workerBlob: () => new Worker(blob(`fetch("${url("http")}"); new WebSocket("${url("ws")}"); importScripts("${url("http")}")`)),
  indexedDB: () => indexedDB.open("x"), caches: () => caches.open("x"), cacheStorage: () => caches.keys(), channel: () => new BroadcastChannel("x").postMessage("x"), locks: () => navigator.locks.request("x", () => 1),
  files: () => navigator.storage.getDirectory(), cookies: () => cookieStore.getAll(), push: () => navigator.serviceWorker.register("/x.js"),
  wasm: () => WebAssembly.compileStreaming(fetch(url("http"))), usb: () => navigator.usb.getDevices(), gpu: () => navigator.gpu.requestAdapter(),
  canvas: () => new OffscreenCanvas(10, 10), image: () => createImageBitmap(new Blob(["x"])), notify: () => new Notification("x"), close: () => close(), post: () => postMessage("x"), parent: () => parent.postMessage("x"),
};
"""


def test_l5_attack_17_no_way_to_the_network_or_to_any_store_is_left_in_a_half(stage: Stage, ear: Ear) -> None:
    tcp, udp = ear.ports
    stage.play(
        WAYS.replace("TCP", str(tcp)).replace("UDP", str(udp))
        + """
return async (ctx) => {
  const open = [];
  const nothing = () => ctx.get("timer").sleep(1000).then(() => { throw new Error("nothing came"); });
  await Promise.all(Object.entries(ways).map(async ([name, way]) => {
    // the names as code of the realm sees them, not those that stand in front of the source
    const bare = new (async () => {}).constructor(`const url = ${url}; const blob = ${blob}; return (${way})();`);
    try { await Promise.race([bare(), nothing()]); open.push(name); }
    catch (error) { if (!/not defined|nothing came|Failed to|Cannot read/.test(error.message)) open.push(`${name}: ${error.message}`); }
  }));
  const names = [];
  for (let at = globalThis; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) names.push(...Reflect.ownKeys(at).map(String));
  ctx.get("slots").register({name: "settings.section"}, () => null);
  ctx.get("slots").register({name: "sidebar.footer.action"}, () => React.createElement("Text", null, JSON.stringify({open, names})));
};
"""
    )
    shown = stage.page.get_by_role("region", name="Drawn by plugin Try 1").locator(".half-text")
    expect(shown).to_contain_text("names")
    said = json.loads(shown.inner_text())
    assert said["open"] == []
    reaching = {"fetch", "Worker", "WebSocket", "postMessage", "indexedDB", "navigator", "location", "self", "crypto"}
    assert not reaching & set(said["names"])
    assert ear.heard == []


def test_attack_17_the_wall_is_the_policy_of_the_frame_whatever_the_realm_has(stage: Stage, ear: Ear) -> None:
    """The same ways from a bare worker in that frame, from which nothing was taken away."""
    stage.play(widget('return e("Text", null, "up");'))
    expect(stage.page.get_by_text("up", exact=True)).to_be_visible()
    [frame] = [one for one in stage.page.frames if one.url.endswith("/half-frame")][-1:]
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
    told = frame.evaluate(
        """source => new Promise((done) => {
          const worker = new Worker(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
          worker.onmessage = ({data}) => typeof data === "object" && done(data);
          worker.onerror = (event) => done({error: event.message});
        })""",
        source,
    )
    assert "error" not in told and len(told) > 30
    assert ear.heard == []


def test_the_listeners_would_hear_who_gets_out(stage: Stage, ear: Ear) -> None:
    """The control: the same browser, from a page without such a policy, reaches the listener."""
    page = stage.home.context.new_page()
    page.goto("data:text/html,<p>free")
    page.evaluate("port => fetch(`http://127.0.0.1:${port}/`, {mode: 'no-cors'}).catch(() => 0)", ear.ports[0])
    page.close()
    assert ear.heard


def test_the_frame_has_no_origin_no_page_and_no_size(stage: Stage) -> None:
    stage.play(widget('return e("Text", null, "up");'))
    expect(stage.page.get_by_text("up", exact=True)).to_be_visible()
    frame = next(one for one in stage.page.frames if one.url.endswith("/half-frame"))
    facts = frame.evaluate(
        """() => { let page = "reached"; try { parent.document; } catch { page = "closed"; }
          let store = "open"; try { localStorage; } catch { store = "closed"; }
          return [origin, page, store, innerWidth, innerHeight]; }"""
    )
    assert facts == ["null", "closed", "closed", 0, 0]
    attributes = stage.page.locator("iframe").first.evaluate(
        "f => [f.getAttribute('sandbox'), f.hidden, f.inert, f.tabIndex, f.getAttribute('allow')]"
    )
    assert attributes == ["allow-scripts", True, True, -1, None]


SHEETS = [
    "@import url(http://127.0.0.1:TCP/a);",
    "@import 'http://127.0.0.1:TCP/b' layer(x);",
    "@font-face { font-family: x; src: url(http://127.0.0.1:TCP/c) } .a { font-family: x }",
    ".a { background: url(http://127.0.0.1:TCP/d) }",
    ".a { background-image: image-set('http://127.0.0.1:TCP/e' 1x) }",
    ".a { background: \\75 rl(http://127.0.0.1:TCP/f) }",
    ".a { cursor: url(http://127.0.0.1:TCP/g), auto }",
    ".a { list-style-image: url(http://127.0.0.1:TCP/h) }",
    ".a::before { content: url(http://127.0.0.1:TCP/i) }",
    ".a { border-image: url(http://127.0.0.1:TCP/j) 1 } .a { mask: url(http://127.0.0.1:TCP/k) }",
    ".a { --x: url(http://127.0.0.1:TCP/l); background: var(--x) }",
    "@property --y { syntax: '<image>'; inherits: true; initial-value: url(http://127.0.0.1:TCP/m) } .a { background: var(--y) }",
    ".a { color: attr(title) } .a { width: env(safe-area-inset-left) }",
    "body { display: none } * { display: none } :root { --ink: #ff0000 } html { filter: invert(1) }",
    ".composer, .ask, .desk { display: none } [data-half] { contain: none } article { display: none }",
    ".a { position: fixed; inset: 0; z-index: 99999; top: 0 }",
    ".a { margin: -4000px; transform: translate(-999px, -999px); translate: -9px }",
    ".a { & .b { color: red } } .a:has(+ .b) { display: none } :is(body) { display: none }",
    "} body { display: none } .a {",
    "@scope (body) { * { display: none } } @layer x { body { display: none } } @container (width > 1px) { body { display: none } }",
    "@supports (display: block) { body { display: none } } @namespace url(http://127.0.0.1:TCP/n);",
    "@keyframes spin { to { background: url(http://127.0.0.1:TCP/o); position: fixed } } .a { animation-name: spin, turn }",
    ".a { color: rgb(1, 2, 3) !important } .btn { color: rgb(4, 5, 6) !important }",
]
"""Tricks of a style sheet: to load something, to leave the seat, to change what is not its own."""

LOOK = """() => [...document.querySelectorAll('body, .composer, .head h1, .btn, .desk, .side, .half-head')].filter((one) => !one.closest('.half-box')).map((one) => {
  const style = getComputedStyle(one), box = one.getBoundingClientRect();
  return [one.className, style.display, style.color, style.position, style.filter, style.getPropertyValue('--ink'), Math.round(box.x), Math.round(box.width)].join(' ');
})"""


def test_l8_no_trick_of_a_style_sheet_loads_anything_or_changes_what_is_not_its_own(stage: Stage, ear: Ear) -> None:
    plain = 'return e("Stack", {className: "a"}, e("Text", {className: "b"}, "styled"), e("Button", {className: "b"}, "Styled"));'
    stage.play(widget(plain))
    expect(stage.page.get_by_text("styled", exact=True)).to_be_visible()
    before = stage.page.evaluate(LOOK)
    sheets = json.dumps([sheet.replace("TCP", str(ear.ports[0])) for sheet in SHEETS])
    for part in range(0, len(SHEETS), 12):  # a half may have 16 sheets
        chosen = json.dumps(json.loads(sheets)[part : part + 12])
        stage.play(f"for (const css of {chosen}) styles.insert(css);\n" + widget(plain))
        expect(stage.page.get_by_text("styled", exact=True)).to_be_visible()
        stage.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert stage.page.evaluate(LOOK) == before
        box = stage.page.locator(".half-box").evaluate("one => getComputedStyle(one).contain")
        assert box == "strict"
    assert stage.page.evaluate("getComputedStyle(document.querySelector('.half-stack')).color") == "rgb(1, 2, 3)"
    assert ear.heard == []


def test_l8_a_good_sheet_is_used_inside_the_half_only(stage: Stage) -> None:
    stage.play(
        'styles.insert(".a { padding: var(--s-4); background: var(--inset); color: #123456 } .a:hover > .b { opacity: .5 }'
        ' @media (min-width: 10px) { .b { font-weight: 700 } }");\n'
        + widget('return e("Stack", {className: "a"}, e("Text", {className: "b"}, "styled"));')
    )
    styled = stage.page.get_by_text("styled", exact=True)
    expect(styled).to_be_visible()
    looks = styled.evaluate(
        "one => [getComputedStyle(one).fontWeight, getComputedStyle(one.parentElement).paddingLeft, getComputedStyle(one).color]"
    )
    assert looks == ["700", "16px", "rgb(18, 52, 86)"]


def test_a_link_asks_before_it_leaves_and_shows_the_whole_address(stage: Stage, ear: Ear) -> None:
    address = f"http://127.0.0.1:{ear.ports[0]}/{'x' * 300}?q=secret"
    stage.play(widget(f'return e("Link", {{href: "{address}"}}, "Manual");'))
    stage.page.get_by_role("button", name="Manual").click()
    sheet = stage.page.get_by_role("dialog", name="Open this address?")
    expect(sheet).to_contain_text("?q=secret")
    assert ear.heard == []
    sheet.get_by_role("button", name="Stay here").click()
    expect(sheet).to_have_count(0)
    assert ear.heard == [] and len(stage.home.context.pages) == 1


def test_a_link_leads_to_the_address_that_was_read_whatever_the_half_makes_of_it_then(stage: Stage) -> None:
    body = f"""
const [at, move] = React.useState("read");
React.useEffect(() => {{ ctx.get("timer").timeout(() => move("other"), 2500); }}, []);
return e("Row", null, e("Link", {{href: "{stage.home.url}healthz?" + at}}, "Manual"), e("Text", null, "now " + at));
"""
    stage.play(widget(body))
    stage.page.get_by_role("button", name="Manual").click()
    sheet = stage.page.get_by_role("dialog", name="Open this address?")
    expect(sheet).to_contain_text("healthz?read")
    expect(stage.page.get_by_text("now other")).to_be_visible()
    expect(sheet).to_contain_text("healthz?read")
    with stage.home.context.expect_page() as opened:
        sheet.get_by_role("button", name="Open", exact=False).click()
    assert opened.value.url.endswith("healthz?read")
    opened.value.close()
