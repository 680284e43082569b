"""What a person waits for: the first page, a very long session, the card. Real server, real Chromium."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
from playwright.sync_api import Browser, Page, expect, sync_playwright

from bench.ratio import print_count
from placet.session import Appended, Draft, SessionId, Store, keys, new_session_id
from placet.session.stores.sqlite import SqliteStore

STARTS, CARDS = 3, 6
LONG = 100_000
BATCH = 1_000
BY = {"kind": "person", "name": "owner", "channel": "page"}
LAST = "This is the end of the long session."
ASKING = {
    "command": "true",
    "description": "Ask",
    "sandbox_permissions": "danger-full-access",
    "justification": "To be measured.",
}
WATCH_CARDS = """
globalThis.painted = {};
new MutationObserver(() => {
  for (const card of document.querySelectorAll("article.ask[data-ask]")) {
    const id = card.dataset.ask;
    if (id in painted) continue;
    painted[id] = null;
    requestAnimationFrame(() => setTimeout(() => { painted[id] = Date.now(); }));
  }
}).observe(document, { childList: true, subtree: true, attributes: true });
"""


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    cache = Path.home() / ".cache"
    cache.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="placet-bench-", dir=cache) as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        work.mkdir()
        (home / "state").mkdir(mode=0o700, parents=True)
        steps = [step for _ in range(CARDS) for step in ({"text": "", "calls": [call()]}, {"text": "Done."})]
        (home / "script.json").write_text(json.dumps(steps))
        long = anyio.run(fill, home / "state" / "placet.db", work)
        print_starts(home)
        if chromium is None:
            print("  no chromium here: the page is not measured")
            return
        with server(home) as (link, process, _), sync_playwright() as playwright:
            print_count("memory of the idle server", memory(process.pid), "MB", aim="at most 120 MB")
            arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
            measure_page(browser, link, long, home)
            browser.close()


def call() -> dict[str, object]:
    """A call that asks at once."""
    return {"name": "bash", "arguments": ASKING}


def print_starts(home: Path) -> None:
    """From the start of the process to the first page, on a store that holds the long session."""
    taken = []
    for _ in range(STARTS):
        with server(home) as (_, _, seconds):
            taken.append(seconds)
    print_count("start to the first page", statistics.median(taken) * 1000, "ms", aim="at most 1500 ms")


@contextmanager
def server(home: Path) -> Iterator[tuple[str, subprocess.Popen[str], float]]:
    """A server of this home: its link, its process, and how long the first page took."""
    arguments = ["web", "--no-open", "--port", "0", "--model", f"script:{home / 'script.json'}"]
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "placet", *arguments],
        env={**os.environ, "PLACET_HOME": str(home), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+/#link=\S+", line):
                break
        else:
            raise SystemExit("the server did not start")
        with urllib.request.urlopen(found.group().partition("#")[0], timeout=30) as page:
            page.read()
        yield found.group(), process, time.perf_counter() - started
    finally:
        process.kill()
        process.communicate()


def memory(pid: int) -> float:
    """Resident megabytes of a process after it has rested for two seconds."""
    time.sleep(2)
    line = next(x for x in Path(f"/proc/{pid}/status").read_text().splitlines() if x.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def measure_page(browser: Browser, link: str, long: SessionId, home: Path) -> None:
    """Sign in, paint the long session, then ask a few times and look when each card is painted."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US").new_page()
    page.add_init_script(WATCH_CARDS)
    page.goto(link)
    page.get_by_role("button", name="Sign in this browser").click()
    expect(page.get_by_text("Connected to this machine")).to_be_attached(timeout=30_000)
    print_count("newest 200 of 100,000 events, asked to painted", painted(page, long), "ms", aim="at most 1000 ms")
    print_count("card, from the call to painted", cards(page, home), "ms", aim="at most 100 ms")


def painted(page: Page, session: SessionId) -> float:
    """Milliseconds from the page's request for a session until its last line is on the screen."""
    page.evaluate(f"location.hash = '#/session/{session}'")
    now = page.wait_for_function(
        "last => document.body.innerText.includes(last) && performance.now()", arg=LAST, timeout=60_000
    ).json_value()
    asked = page.evaluate(
        "id => performance.getEntriesByType('resource').filter(e => e.name.includes(id)).map(e => e.startTime)[0]",
        session,
    )
    return float(now - asked)


def cards(page: Page, home: Path) -> float:
    """The median of the milliseconds between `tool/call` in the log and the card on the screen."""
    session = begin(home)
    page.evaluate(f"location.hash = '#/session/{session}'")
    for turn in range(CARDS):
        if turn:
            box = page.get_by_role("textbox").first
            box.fill("again")
            box.press("Enter")
        expect(page.locator(".acts[data-armed]")).to_be_visible(timeout=30_000)
        page.get_by_role("button", name="Reject").first.click()
        page.get_by_role("button", name="Put away").click()
        expect(page.locator("article.ask[data-ask]")).to_have_count(0, timeout=30_000)
    shown = page.evaluate("painted")
    said = command(home, "log", "export", session)
    events = [json.loads(line) for line in said.splitlines()]
    called = {keyed(event["data"]): event["time"] for event in events if event["type"] == "tool/call"}
    asked = {e["data"]["id"]: keyed(e["data"]["call"]) for e in events if e["type"] == "approval/asked"}
    # The first card was on its way before the page looked at its session.
    waits: list[float] = [shown[ask] - called[call] for ask, call in list(asked.items())[1:] if shown.get(ask)]
    return statistics.median(waits)


def keyed(data: dict[str, int]) -> tuple[int, int, int]:
    """The key of a call."""
    return data["turn"], data["step"], data["position"]


def begin(home: Path) -> str:
    """Start a session over the socket and return its id."""
    return command(home, "session", "new", "--cwd", str(home.parent / "work"), "--message", "ask").strip().split()[0]


def command(home: Path, *words: str) -> str:
    """Run one command of placet on this home."""
    environment = {**os.environ, "PLACET_HOME": str(home)}
    ended = subprocess.run(
        [sys.executable, "-m", "placet", *words], env=environment, capture_output=True, text=True, check=True
    )
    return ended.stdout


async def fill(database: Path, folder: Path) -> SessionId:
    """Write a session of a hundred thousand events, as many small turns would."""
    store: Store
    async with await SqliteStore.open(database) as store:
        session = new_session_id()
        facts = folder.stat()
        created = {"v": 1, "cwd": str(folder), "cwdId": f"{facts.st_dev}:{facts.st_ino}", "title": "Long"}
        first = Draft("session/created", {**created, "gitRoots": [], "by": BY}, keys.created())
        assert isinstance(await store.append(session, [first]), Appended)
        drafts: list[Draft] = []
        for turn in range(1, LONG // 6 + 1):
            drafts += turn_of(turn, LAST if turn == LONG // 6 else f"That was turn {turn}.")
            if len(drafts) >= BATCH or turn == LONG // 6:
                assert isinstance(await store.append(session, drafts), Appended)
                drafts = []
        return session


def turn_of(turn: int, text: str) -> list[Draft]:
    """One turn of a message and an answer: six events."""
    message = f"m-bench-{turn}"
    user = {"id": message, "text": f"Say {turn}.", "source": {"kind": "user"}, "turn": turn}
    said = {"turn": turn, "step": 1, "model": "bench", "text": text, "calls": []}
    return [
        Draft("turn/start", {"turn": turn}, keys.turn(turn)),
        Draft("step/start", {"turn": turn, "step": 1}, keys.step(turn, 1)),
        Draft("user/message", user, keys.message(message)),
        Draft("assistant/message", said, keys.assistant(turn, 1)),
        Draft("step/end", {"turn": turn, "step": 1}, keys.step_end(turn, 1)),
        Draft("turn/end", {"turn": turn, "reason": {"kind": "completed"}}, keys.end(turn)),
    ]


if __name__ == "__main__":
    main()
