"""Opening the browser: the secret travels in a file of this account, and the browser is no child of placet."""

import json
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.server import Server

OPENER = """#!/bin/sh
{
  echo "[\\"$0\\", \\"$1\\"]"
  stat -c %a "$1"
  cat "$1"
} > "$HOME/seen.part"
mv "$HOME/seen.part" "$HOME/seen"
sleep 30 &
echo $! > "$HOME/browser"
wait
"""


@pytest.fixture
def browser(cli: Cli) -> Cli:
    """A command line whose screen has a browser that notes what it is given."""
    programs = cli.root / "programs"
    programs.mkdir()
    opener = programs / "xdg-open"
    opener.write_text(OPENER, encoding="utf-8")
    opener.chmod(0o755)
    return Cli(cli.root, {"PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "DISPLAY": ":99"})


def wait_for(path: Path) -> str:
    deadline = time.monotonic() + 60
    while not path.exists() or not path.read_text():
        assert time.monotonic() < deadline, f"{path.name} did not come"
        time.sleep(0.02)
    return path.read_text()


def is_below(pid: int, above: int) -> bool:
    """Whether one process stands below another; also true while that cannot be told, because one between them ends."""
    while pid > 0 and pid != above:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return True
        pid = int(fields[1])
    return pid == above


def test_attack_21_the_browser_gets_a_private_file_and_never_the_secret_in_argv(browser: Cli) -> None:
    with Server(browser, opens=True) as server:
        argv, mode, page = wait_for(browser.account / "seen").split("\n", 2)
        secret = server.link.split("#link=")[1]
        assert mode == "600"
        assert secret in page
        assert secret not in argv
        assert Path(json.loads(argv)[1]).parent.is_relative_to(browser.home / "state")
        pid = int(wait_for(browser.account / "browser"))
        deadline = time.monotonic() + 30
        while is_below(pid, server.process.pid):  # until the shell between them has ended, which it does at once
            assert time.monotonic() < deadline, "the browser stays below the server"
            time.sleep(0.02)


def test_the_file_is_gone_when_placet_has_ended(browser: Cli) -> None:
    with Server(browser, opens=True) as server:
        file = Path(json.loads(wait_for(browser.account / "seen").split("\n")[0])[1])
        server.end()
        assert not file.exists()


def test_without_a_screen_nothing_is_opened(browser: Cli) -> None:
    bare = Cli(browser.root, {key: value for key, value in browser.extra.items() if key != "DISPLAY"})
    with Server(bare, opens=True):
        assert not (bare.account / "seen").exists()


def test_no_open_opens_nothing(browser: Cli) -> None:
    with Server(browser):
        assert not (browser.account / "seen").exists()
