"""The hidden frame in a real browser: it starts a worker that can compute, and reach nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from tests.web.rig import running

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

FRAME = Path(__file__).parents[2] / "ui" / "public" / "half-frame.html"
PAGE = b"""
const guard = `onmessage = async ({ports: [port]}) => {
  const told = {sum: new Function("return 6 * 7")(), origin: self.origin};
  for (const address of ["/api/sessions", "/icon.svg", "/"]) {
    try { told[address] = (await fetch(BASE + address, {mode: "no-cors"})).type; } catch { told[address] = "blocked"; }
  }
  port.postMessage(told);
}`.replace("BASE", JSON.stringify(location.origin));
const frame = document.createElement("iframe");
frame.setAttribute("sandbox", "allow-scripts");
frame.onload = () => {
  const {port1, port2} = new MessageChannel();
  port1.onmessage = ({data}) => { document.title = JSON.stringify(data); };
  frame.contentWindow.postMessage({guard, runtime: ""}, "*", [port2]);
};
frame.src = "/half-frame";
document.body.append(frame);
"""


@pytest.fixture
async def browser(needs_chromium: str, anyio_backend: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=needs_chromium, args=["--no-sandbox"])
        yield browser
        await browser.close()


def built(folder: Path) -> Path:
    shell = b'<!doctype html><body><script type="module" src="/assets/page.js"></script>'
    files = {"index.html": shell, "assets/page.js": PAGE, "half-frame.html": FRAME.read_bytes()}
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    (folder / "assets.json").write_text(json.dumps({"files": hashes}))
    return folder


async def test_design_10_the_frame_starts_a_worker_that_reaches_no_network(browser: Browser, tmp_path: Path) -> None:
    async with running(tmp_path, changes={"static": built(tmp_path / "static")}) as house:
        page = await browser.new_page()
        warnings: list[str] = []
        page.on("console", lambda message: warnings.append(message.text) if message.type == "warning" else None)
        await page.goto(house.url)
        await page.wait_for_function("() => document.title.startsWith('{')", timeout=60_000)
        told = json.loads(await page.title())
    assert told == {"sum": 42, "origin": "null", "/api/sessions": "blocked", "/icon.svg": "blocked", "/": "blocked"}
    assert warnings == []
