"""A server that is killed with open asks, and what the next one finds. People act from this process."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from placet.agent import gestures
from placet.approval.inbox import Inbox
from placet.kernel.clock import SYSTEM_CLOCK
from placet.session.ids import SessionId
from placet.session.lease import alive
from placet.session.stores.sqlite import SqliteStore
from tests.agent.house import BY, House, kit_on, new_session
from tests.scenarios.process import model, started

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def people(tmp_path: Path, sessions: int = 1) -> AsyncIterator[list[House]]:
    """The view of people on some sessions of a store; nobody works on them in this process."""
    store = await SqliteStore.open(tmp_path / "placet.db")
    try:
        homes = []
        for number in range(sessions):
            cwd = tmp_path / f"workspace-{number}"
            cwd.mkdir()
            inbox = Inbox(store, SYSTEM_CLOCK)
            homes.append(House(store, inbox, kit_on(store, model()), await new_session(store, cwd), cwd))
        yield homes
    finally:
        await store.aclose()


async def held_by(home: House, pid: int) -> None:
    """Return as soon as the process with that pid works on the session."""
    with anyio.fail_after(60):
        while True:
            lease = await home.store.current_lease(home.session)
            if lease is not None and lease.holder.startswith(f"{pid}:") and alive(lease.holder):
                return
            await anyio.sleep(0.02)


async def test_a26_ses_03_after_kill_9_each_open_ask_is_back_and_nothing_blocks(
    tmp_path: Path,
) -> None:
    database = tmp_path / "placet.db"
    async with people(tmp_path, 2) as (one, two):
        with started(database, "serve") as server:
            for home in (one, two):
                await home.send()
            asked = [*(await one.asks(2)).values(), *(await two.asks(2)).values()]
            server.kill()
            server.wait()
        assert (await one.inbox.open()).total == 4, "an ask needs no server to be open"
        with started(database, "serve") as server:
            began = time.monotonic()
            for home in (one, two):
                await held_by(home, server.pid)
            waited = time.monotonic() - began
            page = await one.inbox.open()
            assert sorted(view.id for view in page.asks) == sorted(event.data["id"] for event in asked)
            assert waited < 10, "two seconds on a machine that has nothing else to do"
            late = await one.send("and this")
            assert late in [m.id for m in (await gestures.waiting(one.store, one.session)).waiting], "it queues behind"
            for event in asked:
                home = one if event.session == one.session else two
                await home.allow(event)
            await one.wait_for("turn/end", 2)
            await two.wait_for("turn/end")
            for home in (one, two):
                assert sorted(home.ran()) == ["a", "b"]
                assert len(await home.of("approval/asked")) == 2, "re-armed, never asked anew"
                assert {e.data["reason"]["kind"] for e in await home.of("turn/end")} == {"completed"}


async def test_a_yes_given_while_no_server_lived_is_used_by_the_next_one(tmp_path: Path) -> None:
    database = tmp_path / "placet.db"
    async with people(tmp_path) as [home]:
        with started(database, "serve") as server:
            await home.send()
            asked = await home.asks(2)
            server.kill()
            server.wait()
        await home.allow(asked["a"])
        await home.reject(asked["b"], "not that one")
        assert home.ran() == []
        with started(database, "serve"):
            await home.wait_for("turn/end")
        assert home.ran() == ["a"]
        assert {p: e.data["code"] for p, e in (await home.results()).items()} == {0: None, 1: "APPROVAL_REJECTED"}
        assert "not that one" in (await home.results())[1].data["text"]


async def test_a_stop_from_another_process_reaches_the_worker(tmp_path: Path) -> None:
    async with people(tmp_path) as [home]:
        with started(tmp_path / "placet.db", "serve") as server:
            await home.send()
            asked = await home.asks(2)
            assert await gestures.stop(home.store, home.session, "k", BY) == gestures.Stopped(1)
            [end] = await home.wait_for("turn/end")
            assert server.poll() is None
        assert end.data["reason"] == {"kind": "aborted", "reason": "user"}
        assert [e.data["outcome"] for e in await home.of("approval/decided")] == ["cancelled"] * 2
        assert {e.data["code"] for e in await home.of("tool/result")} == {"ABORTED_BEFORE_DISPATCH"}
        assert not isinstance(await home.answer(asked["a"], "allowed-once"), type(None))
        assert home.ran() == []


async def test_a26_apr_05_sigterm_settles_nothing(tmp_path: Path) -> None:
    database = tmp_path / "placet.db"
    async with people(tmp_path) as [home]:
        with started(database, "serve") as server:
            await home.send()
            asked = await home.asks(2)
            server.terminate()
            server.wait(timeout=60)
        assert not await home.of("approval/decided") and not await home.of("turn/end")
        with started(database, "serve"):
            for event in asked.values():
                await home.allow(event)
            await home.wait_for("turn/end")
        assert sorted(home.ran()) == ["a", "b"]


async def test_two_servers_on_one_store_work_on_each_session_once(tmp_path: Path) -> None:
    database = tmp_path / "placet.db"
    async with people(tmp_path, 3) as homes:
        with started(database, "serve"), started(database, "serve"):
            for home in homes:
                await home.send()
            for home in homes:
                for event in (await home.asks(2)).values():
                    await home.allow(event)
                await home.wait_for("turn/end")
        for home in homes:
            assert sorted(home.ran()) == ["a", "b"]
            assert len(await home.of("turn/start")) == 1


async def test_a_server_takes_over_what_a_killed_run_beside_it_left_open(tmp_path: Path) -> None:
    database = tmp_path / "placet.db"
    async with people(tmp_path) as [home]:
        await home.send()
        with started(database, "turn", SessionId(home.session), crash_after="tool/result"):
            await home.wait_for("tool/result")
        with started(database, "serve"):
            open_asks = [e for e in await home.of("approval/asked") if e.data["call"]["position"] == 1]
            for event in open_asks:
                await home.allow(event)
            await home.wait_for("turn/end")
        assert home.ran() == ["a", "b"][: 1 + len(open_asks)]
