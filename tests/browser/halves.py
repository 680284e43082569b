"""Plugins whose browser half is whatever a test has written: defined, consented and run on the real path."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from playwright.sync_api import Page

from tests.browser.conftest import WIDE, Home

_HOST = """\
inject = ["sessions"]


async def apply(ctx):
    here = (await ctx.sessions.current().state())["cwd"]

    async def code(args):
        with open(f"{here}/NAME.js") as file:
            return file.read()

    async def double(args):
        return args["n"] * 2

    async def boom(args):
        raise ValueError("the host half says no")

    harness.handle("code", code)
    harness.handle("double", double)
    harness.handle("boom", boom)
"""
"""Hands the half the code that stands in the folder now, so that one consent serves many tests."""

_OWN = ["React", "console", "styles", "host", "ctx"]
_NAMES = [*_OWN, "fetch", "setTimeout", "require", "harness", "WebSocket", "process"]
_CLIENT = f"""\
const body = new (async () => {{}}).constructor(...{json.dumps(_NAMES)}, await host.call("code"));
return await body({", ".join(_NAMES)});
"""

DEADLINE = 60
T = TypeVar("T")


def steps(count: int) -> list[dict[str, Any]]:
    """What the scripted agent does: define and run `count` plugins, try-1 and so on, each with both halves."""
    numbers = range(1, count + 1)
    said = {"name": "bash", "arguments": {"command": "echo usual output", "description": "Say it"}}
    return [
        {"text": "I say it.", "calls": [said]},
        {"text": "I define.", "calls": [_define(number) for number in numbers]},
        {"text": "I run.", "calls": [_run(number) for number in numbers]},
        {"text": "Done."},
    ]


def _define(number: int) -> dict[str, Any]:
    arguments = {
        "plugin": {"kind": "new", "idPrefix": "try"},
        "name": f"Try {number}",
        "purpose": "To be tried.",
        "code": {"host": _HOST.replace("NAME", f"half-{number}"), "client": _CLIENT},
    }
    return {"name": "cordis_define", "arguments": arguments}


def _run(number: int) -> dict[str, Any]:
    arguments = {"pluginId": f"try-{number}", "packageId": f"pkg-{number}", "mode": "run"}
    return {"name": "cordis_run", "arguments": arguments}


def until(look: Callable[[], T | None], what: str) -> T:
    """Look until there is something, or fail with what was waited for."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        found = look()
        if found is not None:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {DEADLINE} s")


@dataclass
class Stage:
    """One session with plugins that have consent, and a page that loads their halves."""

    home: Home
    session: str
    folder: Path
    page: Page
    errors: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, home: Home, count: int = 1) -> Stage:
        """Let the agent define and ask for its plugins, agree to all of them, and open the session."""
        session, folder = home.session()
        for number in range(1, count + 1):
            (folder / f"half-{number}.js").write_text("return () => undefined;")
        page = home.open(session, size=WIDE)
        stage = cls(home, session, folder, page)
        page.on("pageerror", lambda error: stage.errors.append(str(error)))
        for number in range(1, count + 1):
            stage.agree(number)
        for number in range(1, count + 1):
            stage.settled(number)
        return stage

    def agree(self, number: int) -> None:
        """Consent to the open request of a plugin, as another page would."""

        def pending() -> str | None:
            known = self.home.get("/api/plugins")["plugins"]
            found = [p["pending"] for p in known if p["plugin"] == f"try-{number}" and p["pending"]]
            return str(found[0]["run"]) if found else None

        run = until(pending, f"the request of try-{number}")
        digest = self.home.get(f"/api/consents/{run}")["digest"]
        body = {"run": run, "digest": digest, "width": "package", "key": uuid4().hex}
        self.home.post(f"/api/plugins/try-{number}/consent", body)

    def plugin(self, number: int) -> dict[str, Any]:
        """What the server says of a plugin."""
        return next(p for p in self.home.get("/api/plugins")["plugins"] if p["plugin"] == f"try-{number}")

    def settled(self, number: int, run: str | None = None) -> dict[str, Any]:
        """Wait until the newest run of a plugin (another one than `run`) has come up or failed."""

        def look() -> dict[str, Any] | None:
            latest = self.plugin(number)["latest"]
            done = latest["status"] in ("running", "waiting", "failed", "stopped")
            return latest if done and latest["run"] != run else None

        return until(look, f"try-{number} settled")

    def play(self, source: str, number: int = 1) -> dict[str, Any]:
        """Run this source as the half of a plugin, in place of what ran; returns the attempt."""
        (self.folder / f"half-{number}.js").write_text(source)
        before = self.plugin(number)["latest"]["run"]
        body = {"package": f"pkg-{number}", "mode": "run", "key": uuid4().hex}
        self.home.post(f"/api/plugins/try-{number}/run", body)
        return self.settled(number, before)

    def bring_up(self, source: str) -> None:
        """Play, and see that it runs; what is said of one that failed is shown."""
        attempt = self.play(source)
        assert attempt["status"] == "running", attempt

    def stop(self, number: int = 1) -> None:
        """Stop a plugin, as a person does in the panel."""
        self.home.post(f"/api/plugins/try-{number}/stop", {"key": uuid4().hex})

    def reported(self, words: str, number: int = 1) -> dict[str, Any]:
        """Wait until the page has reported something with these words about the newest run."""

        def look() -> dict[str, Any] | None:
            plugin = self.plugin(number)
            run = plugin["latest"]["run"]
            found = [one for one in plugin["diagnostics"] if one["run"] == run and words in one["message"]]
            return found[0] if found else None

        return until(look, f"a report of {words!r}")


def widget(body: str, seat: str = "sidebar.footer.action", more: str = "") -> str:
    """Return the source of a half with one view whose component does `body`."""
    return f"""
const e = React.createElement;
return (ctx) => {{
  const View = (props) => {{ {body} }};
  ctx.get("slots").register({{name: "{seat}"{more}}}, View);
}};
"""
