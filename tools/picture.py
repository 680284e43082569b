"""Takes the picture of the card for the README: `python -m tools.picture HOME FOLDER`, both of which are made for it.

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

from playwright.sync_api import expect, sync_playwright

OUT = Path(__file__).resolve().parents[1] / "docs" / "images" / "card.png"


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
            message = "$ echo hi > ~/note.txt"
            new = [*placet, "session", "new", "--cwd", folder, "--message", message]
            said = subprocess.run(new, env=environment, check=True, capture_output=True, text=True).stdout
            photograph(link.group(), said.split()[0])
        finally:
            server.kill()
            server.communicate()


def photograph(link: str, session: str) -> None:
    """Sign in, open the one session, and take the picture when the card is armed."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_context(viewport={"width": 1280, "height": 860}, locale="en-US").new_page()
        page.goto(link)
        page.get_by_role("button", name="Sign in this browser").click()
        expect(page.get_by_text("Connected to this machine")).to_be_attached(timeout=60_000)
        page.evaluate(f"location.hash = '#/session/{session}'")
        expect(page.locator(".acts[data-armed]")).to_be_visible(timeout=60_000)
        page.wait_for_timeout(1000)
        page.screenshot(path=OUT)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
