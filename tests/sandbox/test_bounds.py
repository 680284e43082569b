"""A confined command that takes too many processes or too much memory is ended, with all that it started."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from placet.sandbox import Bubblewrap, Landlock, Settings
from placet.sandbox.execution.bounds import Bounds
from placet.testing.backends import Rig, rig
from placet.tools.bash.text import markers
from tests.conftest import missing
from tests.sandbox.test_process import alive, nap

pytestmark = pytest.mark.anyio
__all__ = ["nap"]


@pytest.fixture(params=["bubblewrap", "landlock"])
def bounded(request: pytest.FixtureRequest) -> Iterator[Rig]:
    def backend(state: Path) -> list[Bubblewrap | Landlock]:
        return [Bubblewrap(state) if request.param == "bubblewrap" else Landlock(state)]

    with rig(backend, Settings(bounds=Bounds(processes=30, memory=150 << 20))) as made:  # type: ignore[arg-type]
        row = made.sandbox.selection.report()["backends"][0]
        if not row["usable"]:
            missing(request.param, row["why"])
        yield made


async def test_too_many_processes_are_ended(bounded: Rig, nap: str) -> None:
    script = f"for n in {{1..40}}; do (setsid sleep {nap} &) ; done; sleep {nap}"
    done = await bounded.run(script, timeout_ms=60_000)
    assert (done.exceeded, done.signal, done.timed_out) == ("more than 30 processes at once", "SIGKILL", False)
    assert markers(done, timeout_ms=1, offers=False)[-2:] == [
        "[ended by placet: more than 30 processes at once]",
        "[killed by signal: SIGKILL]",
    ]
    assert alive(nap) == []


async def test_too_much_memory_is_ended(bounded: Rig) -> None:
    script = "python3 -c 'import time; kept = b\"x\" * (200 << 20); time.sleep(60)'"
    done = await bounded.run(script, timeout_ms=60_000)
    assert (done.exceeded, done.signal) == ("more than 150 MiB of memory", "SIGKILL")


async def test_a_burst_is_ended_while_the_server_goes_on_answering(bounded: Rig) -> None:
    bomb = "bomb() { if [ $1 -gt 0 ]; then bomb $(($1-1)) | bomb $(($1-1)) & fi; sleep 60; }; bomb 9; wait"
    latest = 0.0

    async def tick() -> None:
        nonlocal latest
        while True:
            began = time.monotonic()
            await anyio.sleep(0.02)
            latest = max(latest, time.monotonic() - began)

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        done = await bounded.run(bomb, timeout_ms=60_000)
        group.cancel_scope.cancel()
    assert (done.exceeded, done.signal, done.timed_out) == ("more than 30 processes at once", "SIGKILL", False)
    assert latest < 10  # by itself, a thousand processes sleep for a minute


async def test_the_lookout_ends_with_the_last_command(bounded: Rig) -> None:
    assert (await bounded.run("sleep 0.2")).exit_code == 0
    with anyio.fail_after(30):
        while any(thread.name == "placet-lookout" for thread in threading.enumerate()):  # noqa: ASYNC110 - it tells nobody
            await anyio.sleep(0.02)


async def test_what_stays_within_its_bounds_is_left_alone(bounded: Rig) -> None:
    script = "for n in {1..20}; do sleep 1.2 & done; wait; echo done"
    done = await bounded.run(script, timeout_ms=60_000)
    assert (done.exceeded, done.exit_code, done.stdout.text) == (None, 0, "done\n")
