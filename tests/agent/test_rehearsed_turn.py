"""The main job without a page: rehearsal, store, pipeline and sandbox are the real ones."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from placet.agent.model.rehearsal import Rehearsal
from placet.sandbox.backends.bubblewrap import Bubblewrap
from placet.sandbox.backends.landlock import Landlock
from placet.sandbox.mode import SandboxMode
from placet.sandbox.selection import Selection
from placet.sandbox.service import Sandbox
from placet.tools.bash import BashTool
from tests.agent.house import House, house
from tests.conftest import missing

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Places:
    state: Path
    config_file: Path


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that no confined command may change: not below `/tmp`, which is another one inside a sandbox."""
    folder = Path(tempfile.mkdtemp(prefix=".placet-test-", dir=Path.home()))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def rehearsed(tmp_path: Path, *, preset: str = "workspace-write") -> AsyncIterator[House]:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    sandbox = Sandbox(Places(state, tmp_path / "config.toml"), Selection([Bubblewrap(state), Landlock(state)]))
    if sandbox.selection.choose() is None:
        missing("bubblewrap", f"no sandbox works here: {sandbox.selection.report()}")
    tool = BashTool(sandbox, confines=lambda: True)
    async with house(tmp_path, Rehearsal(pace=0), preset=preset, tools=[tool]) as home:
        yield home
    await sandbox.aclose()


async def last_words(home: House) -> str:
    return str((await home.of("assistant/message"))[-1].data["text"])


async def test_a_denied_command_is_asked_about_and_runs_once_when_allowed(tmp_path: Path, outside: Path) -> None:
    note = outside / "note.txt"
    async with rehearsed(tmp_path) as home, home.crew():
        await home.send(f"$ echo hi >> {note}")
        [asked] = await home.wait_for("approval/asked")
        subject = asked.data["subject"]
        assert subject["fromMode"] == "workspace-write" and subject["toMode"] == "danger-full-access"
        assert subject["denied"]["path"] == str(note)
        assert not note.exists()
        await home.allow(asked)
        await home.wait_for("turn/end")
        assert note.read_text() == "hi\n"
        [asked] = await home.of("approval/asked")
        started = await home.of("tool/started")
        assert [event.data["ask"] for event in started] == [None, asked.data["id"]]
        assert started[1].data["mode"] == SandboxMode.DANGER_FULL_ACCESS
        assert "has run (exit code: 0)" in await last_words(home)


async def test_a_rejection_with_a_note_reaches_the_agent_and_nothing_runs(tmp_path: Path, outside: Path) -> None:
    note = outside / "note.txt"
    async with rehearsed(tmp_path) as home, home.crew():
        await home.send(f"$ echo hi > {note}")
        [asked] = await home.wait_for("approval/asked")
        await home.reject(asked, "put it in the workspace")
        await home.wait_for("turn/end")
        assert not note.exists()
        assert (await last_words(home)).endswith("I read your note: put it in the workspace")


async def test_in_read_only_mode_the_narrowest_mode_is_asked_for(outside: Path) -> None:
    async with rehearsed(outside, preset="read-only") as home, home.crew():
        await home.send("$ echo hi > inside.txt")
        [asked] = await home.wait_for("approval/asked")
        assert asked.data["subject"]["toMode"] == "workspace-write"
        await home.allow(asked)
        await home.wait_for("turn/end")
        assert (home.cwd / "inside.txt").read_text() == "hi\n"


async def test_nothing_is_asked_where_nothing_is_denied(tmp_path: Path) -> None:
    async with rehearsed(tmp_path) as home:
        await home.send("$ echo a > a.txt\n$ echo b > b.txt")
        await home.work()
        assert not await home.of("approval/asked")
        assert sorted(path.name for path in home.cwd.iterdir()) == ["a.txt", "b.txt"]


async def test_with_full_access_nobody_is_asked_and_it_runs(tmp_path: Path, outside: Path) -> None:
    note = outside / "note.txt"
    async with rehearsed(tmp_path, preset="danger-full-access") as home:
        await home.send(f"$ echo hi > {note}")
        await home.work()
        assert note.read_text() == "hi\n" and not await home.of("approval/asked")
