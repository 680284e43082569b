"""Starting a server twice, and starting a session with full access, from a terminal."""

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.on_terminal import OnTerminal
from tests.cli.server import Server


def test_a_second_start_says_so_and_gives_a_fresh_link_to_the_first(cli: Cli) -> None:
    with Server(cli) as first:
        second = cli("web", "--no-open", "--port", "0")
        assert (second.returncode, second.stderr) == (0, "")
        assert "running already" in second.stdout
        assert f"http://127.0.0.1:{first.port}/#link=" in second.stdout and first.link not in second.stdout
        assert cli("inbox", "list").returncode == 0


def test_the_server_says_the_number_by_which_it_can_be_killed(cli: Cli) -> None:
    with Server(cli) as server:
        assert f"as process {server.process.pid}." in server.said


@pytest.mark.parametrize("typed", ["yes", "no"])
def test_full_access_says_what_it_means_and_wants_a_typed_yes(cli: Cli, workspace: Path, typed: str) -> None:
    with Server(cli):
        words = ("session", "new", "--cwd", str(workspace), "--message", "$ true", "--preset", "danger-full-access")
        refused = cli(*words)
        assert refused.returncode == 2 and "The sandbox is off" in refused.stderr and "--yes" in refused.stderr
        hand = OnTerminal(cli.argv(*words), cli.env)
        assert "The sandbox is off" in hand.until("Type yes and Enter")
        hand.until(": ")
        hand.type(f"{typed}\r")
        code, seen = hand.end()
        assert (code, "No session was started" in seen) == ((0, False) if typed == "yes" else (1, True))
        listed = cli("session", "list", "--json").stdout.splitlines()
        assert len(listed) == (typed == "yes")
