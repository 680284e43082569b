"""A real Firefox, driven by the protocol that every Firefox brings along (Marionette), for what must hold in it too."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

_PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "browser.aboutConfig.showWarning": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disablePrefetch": True,
    "toolkit.telemetry.server": "",
    "extensions.getAddons.cache.enabled": False,
    "services.settings.server": "http://127.0.0.1:1",
    "intl.accept_languages": "en-US",
}
_START = 90.0
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Firefox:
    """One window of a Firefox with a profile of its own."""

    def __init__(self, program: str) -> None:
        self.profile = Path(tempfile.mkdtemp(prefix="placet-firefox-"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        chosen = {**_PREFERENCES, "marionette.port": port}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in chosen.items()]
        (self.profile / "user.js").write_text("\n".join(lines))
        self.process = subprocess.Popen(
            [program, "--headless", "--no-remote", "--profile", str(self.profile), "--marionette", "about:blank"],
            env=os.environ | {"HOME": str(self.profile), "MOZ_CRASHREPORTER_DISABLE": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._line = self._connect(port)
        self._number = 0
        self._receive()
        self._ask("WebDriver:NewSession", {"strictFileInteractability": False})
        self._ask("WebDriver:SetTimeouts", {"script": 60_000, "pageLoad": 60_000, "implicit": 30_000})
        self._ask("WebDriver:SetWindowRect", {"width": 1280, "height": 900})

    def goto(self, url: str) -> None:
        """Open an address in the window."""
        self._ask("WebDriver:Navigate", {"url": url})

    def press(self, xpath: str) -> None:
        """Press the first element that there is for this path, as a person does."""
        found = self._ask("WebDriver:FindElement", {"using": "xpath", "value": xpath})["value"]
        self._ask("WebDriver:ElementClick", {"id": found[_ELEMENT]})

    def run(self, script: str, *arguments: Any) -> Any:
        """Run the body of a function in the page and return what it returns."""
        return self._ask("WebDriver:ExecuteScript", {"script": script, "args": list(arguments)})["value"]

    def wait(self, script: str, *arguments: Any, seconds: float = 60) -> Any:
        """Run the body of a function until it returns something true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.run(script, *arguments)
            if found:
                return found
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds} s: {script}")

    def enter(self, frame: str | None) -> None:
        """Go on in a frame, by a selector, or in the page again."""
        if frame is None:
            self._ask("WebDriver:SwitchToFrame", {"id": None})
            return
        found = self._ask("WebDriver:FindElement", {"using": "css selector", "value": frame})["value"]
        self._ask("WebDriver:SwitchToFrame", {"element": found[_ELEMENT]})

    def later(self, script: str, *arguments: Any) -> Any:
        """Run the body of a function whose last argument is called with the answer."""
        return self._ask("WebDriver:ExecuteAsyncScript", {"script": script, "args": list(arguments)})["value"]

    def picture(self) -> bytes:
        """Take a picture of the window."""
        told = self._ask("WebDriver:TakeScreenshot", {"full": False, "hash": False})["value"]
        return base64.b64decode(told)

    def close(self) -> None:
        """End this Firefox and throw its profile away."""
        self._line.close()
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _connect(self, port: int) -> socket.socket:
        end = time.monotonic() + _START
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"Firefox ended with {self.process.returncode}")
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=120)
            except OSError:
                time.sleep(0.1)
        raise AssertionError(f"Firefox did not listen within {_START} s")

    def _ask(self, command: str, parameters: dict[str, Any]) -> Any:
        self._number += 1
        said = json.dumps([0, self._number, command, parameters]).encode()
        self._line.sendall(str(len(said)).encode() + b":" + said)
        _, _, error, result = self._receive()
        if error is not None:
            raise AssertionError(f"{command}: {error.get('message')}")
        return result

    def _receive(self) -> Any:
        length = b""
        while (letter := self._line.recv(1)) != b":":
            if not letter:
                raise AssertionError("Firefox closed the line")
            length += letter
        told = b""
        while len(told) < int(length):
            told += self._line.recv(int(length) - len(told))
        return json.loads(told)
