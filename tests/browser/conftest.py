"""A real Chromium with real input against a real server."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from placet.testing.page_key import PLAIN, PageKey, SigningAuth
from tests.cli.conftest import Cli
from tests.cli.server import Server

expect.set_options(timeout=30_000)
_PRESSES = 5

WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
ASKING = {
    "description": "Write a mark",
    "sandbox_permissions": "danger-full-access",
    "justification": "The mark has to be written.",
}


def asking(command: str, **more: str) -> dict[str, Any]:
    """A call that asks at once, because it wants full access."""
    return {"name": "bash", "arguments": {"command": command, **ASKING, **more}}


ONE_ASK = [{"text": "I ask.", "calls": [asking("printf x >> ran.txt")]}]


@pytest.fixture(scope="module")
def chromium(needs_chromium: str) -> Iterator[Browser]:
    """One browser for a module; its contexts are profiles of their own."""
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=needs_chromium, args=arguments)
        yield browser
        browser.close()


@dataclass
class Home:
    """A server with its own home, its own workspaces and a browser profile that is signed in."""

    cli: Cli
    server: Server
    context: BrowserContext
    arguments: tuple[str, ...] = ()
    key: PageKey | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}/"

    def session(self, message: str = "go", **more: str) -> tuple[str, Path]:
        """Start a session as another page would; returns its id and its folder."""
        folder = Path(tempfile.mkdtemp(prefix="workspace-", dir=self.cli.root))
        made = self.post("/api/sessions", {"cwd": str(folder), "message": message, "key": uuid4().hex, **more})
        return made["id"], folder

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send one signed request with a key of the tests' own."""
        return self._send("POST", path, json=body)

    def get(self, path: str) -> Any:
        """Read with a key of the tests' own."""
        return self._send("GET", path)

    def _send(self, method: str, path: str, **content: Any) -> Any:
        headers = {"Sec-Fetch-Site": "same-origin", "Origin": self.url.rstrip("/")}
        with httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False, verify=PLAIN) as client:
            if self.key is None:
                secret = json.loads(self.cli("link", "--json").stdout)["url"].partition("#link=")[2]
                self.key = PageKey()
                client.post(
                    "/api/link", json={"secret": secret, "publicKey": self.key.public, "label": "tests"}
                ).raise_for_status()
            auth = SigningAuth(self.key, client.get("/healthz").json()["instance"])
            answer = client.request(method, path, auth=auth, **content)
        assert answer.is_success, answer.text
        return answer.json()

    def open(self, session: str, *, size: dict[str, int] | None = None) -> Page:
        """Open a session in a new tab and wait until the page is connected."""
        page = self.context.new_page()
        page.set_viewport_size(size or WIDE)  # type: ignore[arg-type]
        page.goto(f"{self.url}#/session/{session}")
        return page

    def restart(self) -> None:
        """Start a server again on the same port and home, as a person would after a crash."""
        port = self.server.port
        self.server = Server(self.cli, *self.arguments, "--port", str(port)).ready()


def sign_in(context: BrowserContext, link: str) -> Page:
    """Redeem a link as a person does."""
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Sign in this browser").click()
    expect(page.get_by_text("Connected to this machine")).to_be_attached()
    return page


@pytest.fixture(scope="module")
def make_home(chromium: Browser, built_page: Path) -> Iterator[Callable[..., Home]]:
    """Make servers, each with its home; all are ended with the module."""
    homes: list[Home] = []
    roots: list[Path] = []
    cache = Path.home() / ".cache"
    cache.mkdir(exist_ok=True)

    def make(steps: list[dict[str, Any]] | None = None, *, signed_in: bool = True) -> Home:
        cli = Cli(Path(tempfile.mkdtemp(prefix="placet-page-", dir=cache)))
        roots.append(cli.root)
        cli.home.mkdir(mode=0o700)
        cli.account.mkdir()
        arguments: tuple[str, ...] = ("--model", "rehearsal")
        if steps is not None:
            script = cli.root / "script.json"
            script.write_text(json.dumps(steps))
            arguments = ("--model", f"script:{script}")
        server = Server(cli, *arguments).ready()
        context = chromium.new_context(viewport=WIDE, locale="en-US")  # type: ignore[arg-type]
        context.set_default_timeout(30_000)
        home = Home(cli, server, context, arguments)
        homes.append(home)
        if signed_in:
            sign_in(context, server.link).close()
        return home

    yield make
    for home in homes:
        home.context.close()
        if home.server.process.poll() is None:
            home.server.kill()
    for root in roots:
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def asking_home(make_home: Callable[..., Home]) -> Home:
    """A server whose agent asks once in each session."""
    return make_home(ONE_ASK)


@pytest.fixture
def tabs_closed(chromium: Browser) -> Iterator[None]:
    """Close every tab at the end of the test: tabs that stay open cost time in all tests that follow."""
    yield
    for context in chromium.contexts:
        for page in context.pages:
            page.close()


def sign(page: Page, field: str) -> None:
    """Press one of the fields with the real mouse, as soon as it is armed.

    A sheet that moves under the hand drops the press and arms anew; then it is pressed anew, as a person does.
    """
    sheet = page.locator(f"article.ask[data-ask='{ask_id(page)}']")
    waiting = sheet.locator(".acts[data-armed], .acts.arming")  # neither is there once a press was taken
    for _ in range(_PRESSES):
        expect(sheet.locator(".acts[data-armed]")).to_be_visible()
        sheet.get_by_role("button", name=field).first.click()
        if waiting.count() == 0 or sheet.locator(".banner").count():  # it says already what became of the answer
            return
    raise AssertionError(f"{field} was pressed {_PRESSES} times, and never taken")


def ask_id(page: Page) -> str:
    """Which ask lies on the desk."""
    found = page.locator("article.ask[data-ask]").get_attribute("data-ask")
    assert found is not None
    return found
