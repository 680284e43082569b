"""Several placet processes of one account, and what a server leaves behind when it ends."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.cli.server import Server
from tests.cli.test_web import api, asking, ended, events, until


def alive(marker: str) -> list[int]:
    """The processes whose command line holds the marker."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def test_bsh_10_commands_that_ignore_sigterm_do_not_outlive_the_server(cli: Cli, workspace: Path) -> None:
    marker = f"3{os.getpid()}{time.monotonic_ns() % 1_000_000}"
    with Server(cli) as server:
        command = f"$ trap '' TERM; touch begun; sleep {marker}; sleep {marker}"
        assert cli("session", "new", "--cwd", str(workspace), "--message", command).returncode == 0
        until((workspace / "begun").exists)
        assert server.end(signal.SIGTERM) == 0
    until(lambda: not alive(f"sleep\0{marker}"), seconds=60)


def test_aud_05_a_run_beside_a_server_keeps_its_session_and_both_logs_are_whole(cli: Cli, workspace: Path) -> None:
    with Server(cli):
        asked, _ = asking(cli, workspace)
        done = cli("run", "$ echo mine > mine.txt", "--cwd", str(workspace), "--json")
        assert done.returncode == 0, done.stderr
        printed: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
        assert len([event for event in printed if event["type"] == "turn/start"]) == 1
        assert (workspace / "mine.txt").read_text() == "mine\n"
        assert len(api(cli, f"/api/sessions/{asked}")["asks"]) == 1
        checked = cli("log", "verify")
        assert checked.returncode == 0, checked.stdout


def test_a_server_takes_over_the_turn_of_a_run_that_was_killed(cli: Cli, workspace: Path) -> None:
    process = subprocess.Popen(
        cli.argv("run", "$ touch begun; sleep 60", "--cwd", str(workspace), "--json"),
        env=cli.env,
        cwd=cli.home,
        stdout=subprocess.PIPE,
        text=True,
    )
    until((workspace / "begun").exists)
    process.kill()
    out, _ = process.communicate(timeout=60)
    session = json.loads(out.splitlines()[0])["session"]
    with Server(cli):
        assert ended(cli, session)["kind"] == "completed"
    [result] = events(cli, session, "tool/result")[:1]
    assert result["code"] == "TOOL_OUTCOME_UNKNOWN"


def test_ses_03_three_open_asks_are_back_with_their_ids_after_kill_9(cli: Cli, workspace: Path) -> None:
    other = cli.root / "other"
    other.mkdir()
    with Server(cli) as server:
        before = [asking(cli, folder)[1]["id"] for folder in (workspace, other, workspace)]
        server.kill()
    with Server(cli):
        began = time.monotonic()
        page = api(cli, "/api/asks?state=open")
        assert [ask["id"] for ask in page["asks"]] == before
        assert page["total"] == 3
        assert time.monotonic() - began < 60


def test_a_turn_can_be_answered_out_of_order(cli: Cli, workspace: Path) -> None:
    with Server(cli):
        first, one = asking(cli, workspace, "echo one >> ~/one.txt")
        second, two = asking(cli, workspace, "echo two >> ~/two.txt")
        assert cli("inbox", "allow", two["id"], "--digest", two["digest"]).returncode == 0
        assert ended(cli, second)["kind"] == "completed"
        assert cli("inbox", "reject", one["id"]).returncode == 0
        assert ended(cli, first)["kind"] == "completed"
    assert (cli.account / "two.txt").read_text() == "two\n"
    assert not (cli.account / "one.txt").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_ended_settles_nothing_and_leaves_no_command_running(
    cli: Cli, workspace: Path, number: int
) -> None:
    marker = f"4{os.getpid()}{time.monotonic_ns() % 1_000_000}"
    process = subprocess.Popen(
        cli.argv("run", f"$ touch begun; sleep {marker}", "--cwd", str(workspace), "--json"),
        env=cli.env,
        cwd=cli.home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until((workspace / "begun").exists)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number, err
    assert err == ""
    until(lambda: not alive(f"sleep\0{marker}"), seconds=60)
    session = json.loads(out.splitlines()[0])["session"]
    assert events(cli, session, "turn/end") == [] == events(cli, session, "tool/result")
