"""Commands in the background, seen and ended from a terminal."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.server import Server
from tests.cli.test_together import alive
from tests.cli.test_web import events, until


def running(cli: Cli, workspace: Path, marker: str) -> tuple[str, str]:
    """Start a session whose agent runs a job; returns the ids of both."""
    made = cli("session", "new", "--cwd", str(workspace), "--message", f"$ sleep {marker} &")
    session = made.stdout.strip()
    until(lambda: "j-" in cli("session", "jobs", session).stdout)
    (job,) = cli("session", "jobs", session, "--json").stdout.splitlines()
    return session, json.loads(job)["job"]


@pytest.mark.usefixtures("needs_bubblewrap")
def test_attack_9_a_terminal_is_told_which_jobs_a_narrower_preset_ends(cli: Cli, workspace: Path) -> None:
    marker = f"4{os.getpid()}{time.monotonic_ns() % 1_000_000}"
    with Server(cli):
        session, job = running(cli, workspace, marker)
        first = cli("session", "preset", session, "read-only")
        assert first.returncode == 1 and "--confirm" in first.stderr
        assert f"{job}  workspace-write  sleep {marker}" in first.stdout
        meant = cli("session", "preset", session, "read-only", "--confirm")
        assert meant.returncode == 0, meant.stderr
        assert cli("session", "jobs", session).stdout == "Nothing runs in the background.\n"
        assert not alive(f"sleep\0{marker}")


@pytest.mark.usefixtures("needs_bubblewrap")
def test_a_job_is_ended_from_a_terminal_and_the_rest_end_with_the_server(cli: Cli, workspace: Path) -> None:
    marker = f"5{os.getpid()}{time.monotonic_ns() % 1_000_000}"
    with Server(cli) as server:
        session, job = running(cli, workspace, marker)
        done = cli("session", "end-job", session, job)
        assert done.returncode == 0 and "stopped, SIGTERM" in done.stdout
        other, left = running(cli, workspace, marker)
        assert server.end() == 0
    ended = events(cli, other, "job/ended")
    assert [(event["job"], event["reason"]) for event in ended] == [(left, "shutdown")]
    assert not alive(f"sleep\0{marker}")


@pytest.mark.usefixtures("needs_bubblewrap")
def test_after_kill_9_no_confined_job_lives_and_the_next_start_says_that_it_is_lost(cli: Cli, workspace: Path) -> None:
    marker = f"6{os.getpid()}{time.monotonic_ns() % 1_000_000}"
    with Server(cli) as server:
        session, job = running(cli, workspace, marker)
        server.kill()
    until(lambda: not alive(f"sleep\0{marker}"))
    with Server(cli):
        until(lambda: events(cli, session, "job/ended"))
    (ended,) = events(cli, session, "job/ended")
    assert ended == {"job": job, "exitCode": None, "signal": None, "reason": "lost"}
