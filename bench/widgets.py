"""Browser halves as a person sees them: from the yes to the widget, a press, and twenty of them at once."""

# ruff: noqa: E501 - the long lines are programs of the page
from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from bench.page import begin, command, server
from bench.ratio import print_count

PLUGINS, PRESSES = 20, 40
HOST = """
async def apply(ctx):
    async def number(args):
        return 7

    harness.handle("number", number)
"""
CLIENT = """
const e = React.createElement;
return {
  inject: ["slots", "timer"],
  apply(ctx) {
    const Widget = () => {
      const [presses, setPresses] = React.useState(0);
      const [ticks, setTicks] = React.useState(0);
      React.useEffect(() => ctx.timer.interval(() => setTicks((n) => n + 1), 250), []);
      return e("Row", null, e("Text", null, "ticks ", ticks), e("Button", { onPress: () => setPresses(presses + 1) }, "NAME ", presses));
    };
    ctx.slots.register({ name: "sidebar.footer.action", height: 48 }, Widget);
  },
};
"""
WATCH = """
globalThis.signed = 0;
globalThis.drawn = 0;
addEventListener("pointerup", () => { signed = Date.now(); }, true);
new MutationObserver(() => {
  const count = document.querySelectorAll(".half:not(.empty)").length;
  if (count <= globalThis.known) return;
  globalThis.known = count;
  requestAnimationFrame(() => setTimeout(() => { drawn = Date.now(); }));
}).observe(document, { childList: true, subtree: true, attributes: true });
globalThis.known = 0;
"""
READ = """
(body) => new Promise((done) => {
  for (const region of body.querySelectorAll("[data-signed]")) region.scrollTop = region.scrollHeight;
  body.scrollTop = body.scrollHeight;
  requestAnimationFrame(() => requestAnimationFrame(done));
})
"""
PRESS = """
([name, times]) => new Promise(async (done) => {
  const button = [...document.querySelectorAll(".half-box button")].find((one) => one.innerText.startsWith(name + " "));
  const taken = [];
  for (let at = 0; at < times; at += 1) {
    await new Promise((next) => setTimeout(next, 60));
    const from = performance.now();
    const before = button.innerText;
    taken.push(await new Promise((next) => {
      const watch = new MutationObserver(() => {
        if (button.innerText === before) return;
        watch.disconnect();
        requestAnimationFrame(() => { const channel = new MessageChannel(); channel.port1.onmessage = () => next(performance.now() - from); channel.port2.postMessage(0); });
      });
      watch.observe(button, { childList: true, subtree: true, characterData: true });
      button.click();
    }));
  }
  done(taken);
})
"""


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("  no chromium here: halves are not measured")
        return
    cache = Path.home() / ".cache"
    cache.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="placet-bench-", dir=cache) as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        work.mkdir()
        (home / "state").mkdir(mode=0o700, parents=True)
        (home / "script.json").write_text(json.dumps(script()))
        with server(home) as (link, _, _), sync_playwright() as playwright:
            arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
            measure(browser, link, home)
            browser.close()


def script() -> list[dict[str, object]]:
    """An agent that defines all plugins and then asks for one after the other."""
    numbers = range(1, PLUGINS + 1)
    defines = [define(number) for number in numbers]
    runs = [
        {"name": "cordis_run", "arguments": {"pluginId": f"bench-{n}", "packageId": f"pkg-{n}", "mode": "run"}}
        for n in numbers
    ]
    return [{"text": "", "calls": defines}, {"text": "", "calls": runs}, {"text": "Done."}]


def define(number: int) -> dict[str, object]:
    code = {"host": HOST, "client": CLIENT.replace("NAME", f"widget-{number}")}
    plugin = {"kind": "new", "idPrefix": "bench"}
    arguments = {"plugin": plugin, "name": f"Widget {number}", "purpose": "To be measured.", "code": code}
    return {"name": "cordis_define", "arguments": arguments}


def measure(browser: Browser, link: str, home: Path) -> None:
    page = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US").new_page()
    page.add_init_script(WATCH)
    page.goto(link)
    page.get_by_role("button", name="Sign in this browser").click()
    expect(page.get_by_text("Connected to this machine")).to_be_attached(timeout=30_000)
    session = begin(home)
    page.evaluate(f"location.hash = '#/session/{session}'")
    over = [agree(page, number) for number in range(1, PLUGINS + 1)]
    bare = host_starts(home, session)
    over_host = [waited - bare[number] for number, waited in enumerate(over)]
    print_count(
        "yes to widget painted, over the bare host start", statistics.median(over_host), "ms", aim="at most 250 ms"
    )
    presses = page.evaluate(PRESS, ["widget-1", PRESSES])
    print_count("press in a half to painted", statistics.median(presses), "ms", aim="below 20 ms")
    print_count(
        f"longest task of the page, typing and scrolling among {PLUGINS} halves",
        longest(page),
        "ms",
        aim="at most 100 ms",
    )


def agree(page: Page, number: int) -> float:
    """Read the request, press yes, and return the milliseconds until one more widget is on the screen."""
    sheet = page.locator(f"article.consent[data-ask='run-{number}']")
    expect(sheet.locator(".acts")).to_be_visible(timeout=30_000)
    page.evaluate("drawn = 0")
    expect(sheet.locator(".code")).to_be_visible()
    while sheet.locator(".unread").count():
        for tab in sheet.get_by_role("tab").all():
            tab.click()
            expect(tab).to_have_attribute("aria-selected", "true")
            sheet.locator(".ask-body").evaluate(READ)
            page.wait_for_timeout(100)
    expect(sheet.locator(".acts[data-armed]")).to_be_visible(timeout=30_000)
    sheet.locator(".act").filter(has_text="This version").click()
    expect(page.locator(".half:not(.empty)")).to_have_count(number, timeout=30_000)
    handle = page.evaluate(
        "new Promise((done) => { const look = () => drawn ? done(drawn - signed) : setTimeout(look, 10); look(); })"
    )
    return float(handle)


def host_starts(home: Path, session: str) -> list[float]:
    """Milliseconds of each host half from its start to its readiness, by the log."""
    events = [json.loads(line) for line in command(home, "log", "export", session).splitlines()]
    times = {kind: [e["time"] for e in events if e["type"] == f"cordis/{kind}"] for kind in ("started", "ready")}
    return [ready - started for started, ready in zip(times["started"], times["ready"], strict=True)]


def longest(page: Page) -> float:
    """The longest task while somebody types and scrolls; 50 ms where there was none that counts as long."""
    page.evaluate(
        "globalThis.tasks = [50]; new PerformanceObserver((all) => tasks.push(...all.getEntries().map((one) => one.duration))).observe({ type: 'longtask' }); 0"
    )
    page.get_by_role("textbox", name="Message").click()
    for _ in range(3):
        page.keyboard.type("typing among many halves ", delay=15)
        page.mouse.move(640, 300)
        for step in (-400, 400, -800, 800):
            page.mouse.wheel(0, step)
            page.wait_for_timeout(60)
    return float(page.evaluate("Math.max(...tasks)"))


if __name__ == "__main__":
    main()
