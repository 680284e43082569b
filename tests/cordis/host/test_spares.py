"""An interpreter waits for the next half of a session: used once, under the same profile only, and never for long."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from placet.cordis.host import HostFailed, spares
from placet.sandbox import SandboxMode
from placet.sandbox.linux import processes
from placet.session import Draft, SessionId, keys, new_id
from tests.cordis.host.house import HostHouse, below, host_house
from tests.cordis.host.test_life import pythons

pytestmark = pytest.mark.anyio

IDLE = "async def apply(ctx):\n    pass\n"
WRITE, READ = SandboxMode.WORKSPACE_WRITE, SandboxMode.READ_ONLY


async def waiting(house: HostHouse, mode: SandboxMode = WRITE, session: SessionId | None = None) -> int:
    """Have an interpreter wait, and return its process once it does."""
    before = house.halves.spares.waiting()
    await house.halves.prepare(session or house.session, mode)
    await house.until(lambda: set(house.halves.spares.waiting()) - set(before))
    [started] = set(house.halves.spares.waiting()) - set(before)
    await house.until(lambda: pythons(started.pid))  # the sandbox around it is started before it is
    return process_of(started.pid)


async def on_its_way(house: HostHouse) -> None:
    """Have an interpreter begin to wait, and return while it is being started."""
    kept = house.halves.spares._kept
    await house.halves.prepare(house.session, WRITE)
    await house.until(lambda: house.session in kept and kept[house.session].profile is not None)


def process_of(root: int) -> int:
    """The interpreter below a process: what is above it may be used again."""
    [found] = set(pythons(root))
    return found


def gone(pid: int) -> bool:
    return (seen := processes.look(pid)) is None or seen.dead


async def another_session(house: HostHouse) -> SessionId:
    """A second session in the same folder."""
    session = SessionId(new_id("s"))
    created = await house.store.lookup(house.session, keys.created())
    assert created is not None
    await house.store.append(session, [Draft("session/created", dict(created.data), keys.created())])
    return session


async def test_what_waits_is_used_once_and_is_the_process_of_the_half(each: HostHouse) -> None:
    pid = await waiting(each)
    first = await each.start(IDLE)
    second = await each.start(IDLE, plugin="demo-2")
    assert process_of(first.pid) == pid and process_of(second.pid) != pid
    assert each.halves.spares.waiting() == []
    await first.end()
    assert gone(pid)


async def test_a_start_waits_for_the_one_that_is_on_its_way_instead_of_making_two(host: HostHouse) -> None:
    await on_its_way(host)
    expected = host.halves.spares._kept[host.session]
    half = await host.start(IDLE)
    assert expected.taken and half.pid and host.halves.spares._kept == {}


async def test_what_is_to_wait_only_later_holds_no_start_up(host: HostHouse) -> None:
    await host.halves.prepare(host.session, WRITE, after=3_600)
    await anyio.wait_all_tasks_blocked()
    half = await host.start(IDLE)
    assert below(half.pid) and host.halves.spares._kept == {}


async def test_what_waits_in_another_mode_is_ended_and_never_used(each: HostHouse) -> None:
    wide = await waiting(each)
    narrow = await each.start(IDLE, mode=READ)
    assert process_of(narrow.pid) != wide and gone(wide)


async def test_another_mode_takes_the_place_of_the_one_before(host: HostHouse) -> None:
    wide = await waiting(host)
    narrow = await waiting(host, READ)
    assert gone(wide)
    half = await host.start(IDLE, mode=READ)
    assert process_of(half.pid) == narrow


async def test_what_waits_is_not_used_once_there_is_more_to_hide(
    host: HostHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = await waiting(host)
    real = host.sandbox.profile

    def hides_more(*args: object, **more: object) -> object:
        made = real(*args, **more)  # type: ignore[arg-type]
        return replace(made, hidden=(*made.hidden, host.folder / "secret"))

    (host.folder / "secret").write_text("x")
    monkeypatch.setattr(host.sandbox, "profile", hides_more)
    half = await host.start(IDLE)
    assert process_of(half.pid) != pid and gone(pid)


async def test_what_waits_is_not_used_for_a_folder_that_took_the_place_of_its_own(host: HostHouse) -> None:
    await waiting(host)
    moved = host.folder.with_name("moved")
    host.folder.rename(moved)
    host.folder.mkdir()
    with pytest.raises(HostFailed, match="has been replaced"):
        await host.start(IDLE)
    host.folder.rmdir()
    moved.rename(host.folder)


async def test_what_was_killed_while_it_waited_is_not_used(host: HostHouse) -> None:
    pid = await waiting(host)
    os.kill(pid, signal.SIGKILL)
    await host.until(lambda: host.halves.spares.waiting() == [])
    half = await host.start(IDLE)
    assert process_of(half.pid) != pid and gone(pid)


async def test_what_waits_is_ended_when_it_is_not_wanted_any_more_also_on_its_way(host: HostHouse) -> None:
    pid = await waiting(host)
    await host.halves.discard(host.session)
    assert gone(pid) and host.halves.spares.waiting() == []
    await on_its_way(host)
    await host.halves.discard(host.session)
    assert host.halves.spares._kept == {}


async def test_it_waits_a_while_and_is_gone(host: HostHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spares, "IDLE", 0.2)
    pid = await waiting(host)
    await host.until(lambda: gone(pid))
    assert host.halves.spares.waiting() == []


async def test_few_wait_in_the_whole_process_and_one_more_takes_the_place_of_the_oldest(host: HostHouse) -> None:
    made = [await waiting(host, session=await another_session(host)) for _ in range(spares.AT_ONCE)]
    newest = await waiting(host)
    assert gone(made[0])
    assert [process_of(one.pid) for one in host.halves.spares.waiting()] == [*made[1:], newest]


async def test_what_waits_ends_with_the_server(tmp_path: Path, needs_bubblewrap: str) -> None:
    async with host_house(tmp_path, "bubblewrap") as house:
        pid = await waiting(house)
    assert gone(pid)


async def test_what_waits_holds_nobody_up_who_wants_the_workspace_alone(host: HostHouse) -> None:
    await waiting(host)
    with host.sandbox.alone(host.folder) as admitted:
        assert admitted
