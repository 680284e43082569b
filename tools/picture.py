"""Takes the pictures of the docs: `python -m tools.picture HOME FOLDER`, both of which are made for it.

HOME is the home that the rehearsal wants to write in, FOLDER the workspace; their names are seen in the picture.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

OUT = Path(__file__).resolve().parents[1] / "docs" / "images"
SLOW = 60_000


def main(home: str, folder: str) -> None:
    for path in (home, folder):
        Path(path).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="placet-picture-", dir=home) as state:
        environment = {**os.environ, "HOME": home, "PLACET_HOME": state, "PYTHONUNBUFFERED": "1"}
        placet = [sys.executable, "-m", "placet"]
        server = subprocess.Popen(
            [*placet, "web", "--no-open", "--port", "0", "--model", "rehearsal"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            assert server.stdout is not None
            link = next(found for line in server.stdout if (found := re.search(r"http://127\S+#link=\S+", line)))
            sessions = []
            for message in ("$ echo hi > ~/note.txt", "plugin"):
                new = [*placet, "session", "new", "--cwd", folder, "--message", message]
                said = subprocess.run(new, env=environment, check=True, capture_output=True, text=True).stdout
                sessions.append(said.split()[0])
            photograph(link.group(), *sessions)
        finally:
            server.kill()
            server.communicate()


def photograph(link: str, asks: str, plugin: str) -> None:
    """Sign in, and take each picture when the card is armed: an ask, a request for consent, and what came of that."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_context(viewport={"width": 1280, "height": 860}, locale="en-US").new_page()
        page.goto(link)
        page.get_by_role("button", name="Sign in this browser").click()
        expect(page.get_by_text("Connected to this machine")).to_be_attached(timeout=SLOW)
        page.evaluate(f"location.hash = '#/session/{asks}'")
        expect(page.locator(".acts[data-armed]")).to_be_visible(timeout=SLOW)
        take(page, "card")
        page.evaluate(f"location.hash = '#/session/{plugin}'")
        sheet = page.locator("article.consent")
        expect(sheet.locator(".acts[data-armed]")).to_be_visible(timeout=SLOW)
        take(page, "consent")
        for tab in sheet.get_by_role("tab").all():
            tab.click()
            sheet.locator(".ask-body").evaluate(
                "body => { for (const one of body.querySelectorAll('[data-signed]')) one.scrollTop = one.scrollHeight;"
                " body.scrollTop = body.scrollHeight; }"
            )
            page.wait_for_timeout(500)
        page.wait_for_timeout(1000)
        sheet.locator(".act").filter(has_text="This version only").click()
        expect(page.get_by_role("region", name="Drawn by plugin File count")).to_be_visible(timeout=SLOW)
        page.get_by_role("tab", name="Plugins").click()
        take(page, "plugins")
        browser.close()


def take(page: Page, name: str) -> None:
    """Take the picture of that name, when what moves has come to rest."""
    page.wait_for_timeout(1000)
    page.screenshot(path=OUT / f"{name}.png")


if __name__ == "__main__":
    main(*sys.argv[1:3])
