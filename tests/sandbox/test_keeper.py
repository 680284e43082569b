"""Under Landlock each command has a keeper: it can tell what is the command's own, and ends it whatever happens."""

from __future__ import annotations

import asyncio
import os
import signal

import anyio
import pytest

from placet.kernel.signal import AbortSignal
from placet.sandbox import Bubblewrap
from placet.sandbox.backends import kept
from placet.sandbox.linux import processes
from placet.testing.backends import Rig
from tests.sandbox.test_process import alive, nap, since, zombies

pytestmark = pytest.mark.anyio
__all__ = ["nap", "since"]

DAEMON = "(setsid bash -c '(trap \"\" TERM HUP; env -i sleep NAP; :) &' &) >/dev/null 2>&1; sleep 0.2; "


def keepers() -> list[int]:
    return [seen.pid for seen in processes.own_children() if not seen.dead and b"linux.keeper" in _words(seen.pid)]


def _words(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


async def test_commands_run_side_by_side_and_each_takes_its_own_daemon_away(
    landlock: Rig, nap: str, since: int
) -> None:
    first = AbortSignal()
    begun = asyncio.Event()
    async with anyio.create_task_group() as group:

        async def long() -> None:
            script = DAEMON.replace("NAP", f"{nap}1") + "echo begun; sleep 60"
            done = await landlock.run(script, signal=first, on_output=lambda *_: begun.set())
            assert done.aborted

        group.start_soon(long)
        await begun.wait()
        done = await landlock.run(DAEMON.replace("NAP", f"{nap}2") + "echo done")
        assert (done.exit_code, done.stdout.text) == (0, "done\n")
        assert (len(alive(f"{nap}1")) > 0, alive(f"{nap}2")) == (True, [])
        first.abort()
    assert alive(nap) == []
    assert zombies(since) == []


async def test_a_command_of_a_killed_keeper_ends_and_the_next_one_runs(landlock: Rig, nap: str, since: int) -> None:
    kept.dismiss()
    begun = asyncio.Event()
    async with anyio.create_task_group() as group:

        async def one() -> None:
            script = DAEMON.replace("NAP", nap) + f"echo begun; sleep {nap}"
            done = await landlock.run(script, on_output=lambda *_: begun.set())
            assert (done.exit_code, done.signal) == (None, "SIGKILL")

        group.start_soon(one)
        await begun.wait()
        for pid in keepers():
            os.kill(pid, signal.SIGKILL)
    assert alive(nap) == []
    assert zombies(since) == []
    assert (await landlock.run("echo x")).stdout.text == "x\n"


async def test_a_command_cannot_signal_its_keeper_or_look_into_it(landlock: Rig) -> None:
    done = await landlock.run("kill -9 $PPID; echo $?; cat /proc/$PPID/environ; echo $?; cat /proc/$PPID/mem; echo $?")
    assert done.stdout.text.split() == ["1", "1", "1"]


async def test_only_a_few_keepers_wait_for_the_next_command(landlock: Rig) -> None:
    async with anyio.create_task_group() as group:
        for _ in range(6):
            group.start_soon(landlock.run, "true")
    assert len(keepers()) <= 2


async def test_the_trial_of_landlock_leaves_no_keeper(landlock: Rig) -> None:
    kept.dismiss()
    landlock.sandbox.selection.forget()
    assert landlock.sandbox.selection.choose() is not None
    assert keepers() == []


async def test_bubblewrap_starts_no_keeper(needs_bubblewrap: str, bubblewrap: Rig) -> None:
    kept.dismiss()
    assert Bubblewrap(bubblewrap.outside, needs_bubblewrap).probe().usable
    await bubblewrap.run("true")
    assert keepers() == []
