"""Signing in: the link, the key of the page, and what strangers on other ports get."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import ONE_ASK, Home, sign_in

pytestmark = pytest.mark.browser


@contextmanager
def stranger(
    port: int = 0, body: bytes = b"<!doctype html><title>stranger</title>"
) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """A foreign web server on loopback that remembers everything it was sent."""
    heard: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            heard.append(
                {"line": self.requestline, "body": self.rfile.read(length).decode(), **dict(self.headers.items())}
            )
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        allow_reuse_address = True

    server = Server(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1], heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def test_a_link_is_redeemed_by_a_press_once_and_its_secret_leaves_the_address(
    chromium: Browser, make_home: Callable[..., Home]
) -> None:
    home = make_home(signed_in=False)
    link = home.server.link
    for _ in range(2):  # opening it, twice, redeems nothing
        page = home.context.new_page()
        page.goto(link)
        expect(page.get_by_role("heading", name="Sign in this browser?")).to_be_visible()
        assert "link=" not in page.url
        page.close()
    sign_in(home.context, link).close()
    page = home.context.new_page()
    page.goto(home.url)  # a reload, and a new tab, need no link any more
    expect(page.get_by_text("Connected to this machine")).to_be_attached()
    other = chromium.new_context(locale="en-US")
    page = other.new_page()
    page.goto(link)
    page.get_by_role("button", name="Sign in this browser").click()
    expect(page.get_by_role("alert")).to_contain_text("This link has been used or is too old.")
    fresh = json.loads(home.cli("link", "--json").stdout)
    page.get_by_label("Code").fill(fresh["code"])
    page.get_by_role("button", name="Sign in this browser").click()
    expect(page.get_by_text("Connected to this machine")).to_be_attached()
    other.close()


def test_attack1_another_port_gets_nothing_that_reads_or_decides(make_home: Callable[..., Home]) -> None:
    home = make_home(ONE_ASK)
    home.session()
    with stranger() as (port, heard):
        page = home.context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        got = page.evaluate(
            """async (base) => {
                document.cookie = "placet=mine; path=/";
                const got = [];
                const tell = (name, act) =>
                    act.then((r) => got.push(`${name} ${r.type} ${r.status}`), () => got.push(`${name} refused`));
                await tell("read", fetch(base + "api/sessions", { mode: "no-cors", credentials: "include" }));
                await tell("cors", fetch(base + "api/sessions", { credentials: "include" }));
                await tell("write", fetch(base + "api/sessions", { method: "POST", mode: "no-cors", body: "{}" }));
                await new Promise((done) => {
                    const stream = new EventSource(base + "api/stream");
                    stream.onopen = () => { got.push("stream opened"); done(); };
                    stream.onerror = () => { stream.close(); got.push("stream refused"); done(); };
                });
                await new Promise((done) => {
                    const image = new Image();
                    image.onload = () => { got.push("image loaded"); done(); };
                    image.onerror = () => { got.push("image refused"); done(); };
                    image.src = base + "api/asks";
                });
                return got;
            }""",
            home.url,
        )
        assert "cors refused" in got and "stream refused" in got and "image refused" in got, got
        assert {one for one in got if one.startswith(("read", "write"))} <= {
            "read refused", "write refused", "read opaque 0", "write opaque 0"
        }, got  # fmt: skip
        for site in ("same-site", "cross-site", "none"):
            for method, path in (("GET", "api/sessions"), ("GET", "api/stream"), ("POST", "api/sessions")):
                answer = httpx.request(method, home.url + path, headers={"Sec-Fetch-Site": site}, trust_env=False)
                assert answer.status_code in (401, 403), (site, method, path, answer.status_code)
        assert page.evaluate("indexedDB.databases().then((all) => all.length)") == 0
        assert all("Placet-Signature" not in request and "Cookie" not in request for request in heard[:1])
        page.close()
    page = home.context.new_page()
    page.goto(home.url)  # the cookie that the other port has set changes nothing
    expect(page.get_by_text("Connected to this machine")).to_be_attached()
    page.close()


def test_attack10_an_impostor_on_the_port_gets_no_usable_byte(make_home: Callable[..., Home]) -> None:
    home = make_home(ONE_ASK)
    session, _ = home.session()
    page = home.open(session)
    expect(page.locator(".acts")).to_be_visible()
    port = home.server.port
    home.server.kill()
    expect(page.locator(".banner")).to_contain_text("No connection to placet")
    with stranger(port, b'{"ok":true,"product":"placet","instance":"x","proof":"AAAA"}') as (_, heard):
        expect(page.get_by_role("heading", name="This is not placet.")).to_be_visible()
        assert heard
        asked = [request["line"] for request in heard]
        assert all(line.startswith("GET /healthz?nonce=") for line in asked), asked
        assert all(request["body"] == "" for request in heard)
        assert all(not name.lower().startswith("placet-") for request in heard for name in request)
    home.restart()
    page.get_by_role("button", name="Check again").click()
    expect(page.locator(".acts")).to_be_visible()
    page.close()
