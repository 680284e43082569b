"""What a real browser sends and refuses: other ports of the same host, and the way in by the redirect file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from tests.web.rig import free_port, running
from tests.web.test_page import built

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

ATTACKS = """async (url) => {
  const tried = {};
  const note = async (name, attempt) => {
    try { tried[name] = String(await attempt()); } catch (e) { tried[name] = "failed"; }
  };
  const once = (target, url) => new Promise((done) => {
    target.onload = target.onopen = () => done("opened");
    target.onerror = () => done("failed");
    if (url) target.src = url;
  });
  await note("fetch", async () => (await fetch(url + "api/sessions")).status);
  await note("no-cors get", async () =>
    (await fetch(url + "api/stream", {mode: "no-cors", credentials: "include"})).type);
  await note("no-cors post", async () => (await fetch(url + "api/asks/a-1/decision", {mode: "no-cors", method: "POST",
    credentials: "include", headers: {"Content-Type": "text/plain"}, body: "{}"})).type);
  await note("json post", async () => (await fetch(url + "api/asks/a-1/decision", {method: "POST",
    headers: {"Content-Type": "application/json"}, body: "{}"})).status);
  await note("beacon", async () => navigator.sendBeacon(url + "api/sessions/s-1/stop", "{}"));
  await note("img", async () => once(new Image(), url + "api/stream"));
  await note("event source", async () => once(new EventSource(url + "api/stream", {withCredentials: true})));
  await note("web socket", async () => once(new WebSocket(url.replace("http", "ws") + "api/stream")));
  const frame = document.createElement("iframe");
  const framed = once(frame, url); document.body.append(frame); await framed;
  tried.frame = String(frame.contentDocument === null);
  return tried;
}"""


@pytest.fixture
async def browser(needs_chromium: str, anyio_backend: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=needs_chromium, args=["--no-sandbox"])
        yield browser
        await browser.close()


async def test_sec_02_attack_1_a_page_on_another_port_gets_nothing_done(browser: Browser, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir(), there.mkdir()
    pages = {"static": built(tmp_path / "static")}
    async with running(here, changes=pages) as house, running(there, changes=pages, port=free_port()) as evil:
        event = await house.ask(await house.session())
        head = await house.store.head()
        page = await browser.new_page(bypass_csp=True)
        await page.goto(evil.url)
        cookies = await page.evaluate("document.cookie = 'placet=planted; path=/'; document.cookie")
        tried = await page.evaluate(ATTACKS, house.url)
        assert cookies == "placet=planted"
        assert tried["fetch"] == tried["json post"] == tried["event source"] == tried["web socket"] == "failed"
        assert tried["img"] == "failed" and tried["no-cors get"] != "200"
        assert house.serving.desk.streams == 0
        assert await house.store.head() == head
        assert await house.store.lookup(event.session, f"decided:{event.data['id']}") is None


async def test_attack_21_the_redirect_file_brings_a_browser_in_with_its_secret_in_the_fragment(
    browser: Browser, tmp_path: Path
) -> None:
    async with running(tmp_path, changes={"static": built(tmp_path / "static")}) as house:
        page = await browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        async with page.expect_response(house.url) as arrived:
            await page.goto(house.serving.link_file.as_uri())
        assert (await arrived.value).status == 200
        await page.wait_for_url(f"{house.url}#link=*")
        assert page.url == house.serving.link.url
        assert house.serving.link_file.exists()  # a look consumes nothing
        async with house.page(house.secret):
            pass
