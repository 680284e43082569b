"""Dead children that were left to placet are taken away; the end of one that placet waits for is never taken."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import anyio
import pytest

from placet.kernel.signal import AbortSignal
from placet.sandbox import SandboxMode
from placet.sandbox.backends.namespace import NamespaceProcess
from placet.sandbox.linux import awaited, processes
from placet.testing.backends import Rig
from tests.sandbox.test_process import since, zombies

__all__ = ["since"]
pytestmark = pytest.mark.anyio

DAEMON = """python3 -c '
import os, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
time.sleep(0.2)
'; sleep 1"""


async def test_bsh_01_a_program_that_makes_itself_a_daemon_leaves_no_zombie(bubblewrap: Rig, since: int) -> None:
    done = await bubblewrap.run(DAEMON, SandboxMode.DANGER_FULL_ACCESS)
    assert done.exit_code == 0
    assert zombies(since) == []


def ended(code: int) -> subprocess.Popen[bytes]:
    """A child that has ended with that code and was not waited for yet."""
    popen = awaited.known(lambda: subprocess.Popen([sys.executable, "-S", "-c", f"raise SystemExit({code})"]))
    os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
    return popen


def test_the_end_of_a_known_child_is_left_to_its_caller() -> None:
    popen = ended(7)
    awaited.take_away_adopted(0)
    assert popen.wait() == 7


def test_nothing_is_taken_while_children_without_a_name_run() -> None:
    with awaited.hidden():
        popen = subprocess.Popen([sys.executable, "-S", "-c", "raise SystemExit(7)"])
        os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
        awaited.take_away_adopted(0)
        assert popen.wait() == 7


def test_what_was_there_before_the_command_is_left_alone() -> None:
    popen = subprocess.Popen([sys.executable, "-S", "-c", "raise SystemExit(7)"])
    os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
    seen = processes.look(popen.pid)
    assert seen is not None
    awaited.take_away_adopted(seen.start + 1)
    assert popen.wait() == 7


async def test_what_dies_before_the_bwrap_above_it_is_taken_away_too(
    bubblewrap: Rig, since: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def child_first(popen: subprocess.Popen[bytes]) -> None:
        below = processes.descendants([popen.pid])
        for seen in below:
            processes.send(seen, signal.SIGKILL)
        processes.await_end(below, 10)
        threading.Timer(0.2, popen.send_signal, [signal.SIGKILL]).start()  # a busy machine takes as long

    await bubblewrap.run(
        "true", SandboxMode.DANGER_FULL_ACCESS
    )  # from now on what lost its parent is left to this process
    monkeypatch.setattr(subprocess.Popen, "kill", child_first)
    monkeypatch.setattr(NamespaceProcess, "_read_status", lambda _: None)  # a stop before bwrap has told anything
    stop = AbortSignal()
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: bubblewrap.run("echo; sleep 60", signal=stop, on_output=lambda *_: stop.abort()))
    assert zombies(since) == []
