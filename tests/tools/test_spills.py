"""What was dropped from long output is read with `read_file`, by its own session only, whichever backend confines."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from placet.sandbox import Bubblewrap, Landlock, Sandbox, Selection
from placet.sandbox.mode import SandboxMode
from placet.session.ids import SessionId
from placet.testing.backends import TestPlaces
from placet.tools import BashTool
from placet.tools.files import file_tools
from tests.conftest import missing
from tests.tools.test_files import shell, use
from tests.tools.world import ToolWorld, tool_world

pytestmark = pytest.mark.anyio

LONG = "seq 1 50000; seq 1 50000 >&2"
OTHER = SessionId("s-other")


@pytest.fixture(params=["bubblewrap", "landlock"])
async def spilling(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ToolWorld]:
    """A session with bash and the file tools under each backend; its state lies where nothing else covers it."""
    state = Path.home() / ".cache" / f"placet-spills-{os.getpid()}-{tmp_path.name[:40]}"
    state.mkdir(mode=0o700, parents=True)
    backend = Bubblewrap(state) if request.param == "bubblewrap" else Landlock(state)
    sandbox = Sandbox(TestPlaces(state), Selection([backend], {}))
    verdict = sandbox.selection.report()["backends"][0]
    try:
        if not verdict["usable"]:
            missing(request.param, verdict["why"])
        async with tool_world(tmp_path, BashTool(sandbox, confines=lambda: True)) as world:
            for tool in file_tools(sandbox, confines=lambda: True):
                world.registry.register(tool)
            yield world
    finally:
        shutil.rmtree(state)


async def spill(world: ToolWorld, stream: str = "stdout") -> str:
    """Make one; its path as the model is told it, which is the one that programs are told."""
    done = await shell(world, LONG)
    path = str(done["value"][stream]["spillPath"])
    assert f"[{stream}: read_file reads the whole of it, by lines, from {path}]" in done["text"]
    return path


@pytest.mark.parametrize("mode", list(SandboxMode))
async def test_c7_the_model_reads_what_was_dropped_by_its_lines(spilling: ToolWorld, mode: SandboxMode) -> None:
    await spilling.set_mode(mode)
    for stream in ("stdout", "stderr"):
        path = await spill(spilling, stream)
        piece = await use(spilling, "read_file", path=path, offset=25_000, limit=2)
        assert piece["text"] == f"{25_000:>6}\t25000\n{25_001:>6}\t25001\n[more lines follow: go on with offset 25002]"
        again = await use(spilling, "read_file", path=path, offset=50_000)
        assert again["text"] == f"{50_000:>6}\t50000"
        assert (await use(spilling, "read_file", path=path, offset=50_001))["code"] == "NO_SUCH_LINE"
        assert again["value"]["path"] == path


async def test_attack_14_a_spill_is_read_by_its_own_name_and_in_no_other_way(spilling: ToolWorld) -> None:
    path = Path(await spill(spilling))
    folder = spilling.folder
    (folder / "link").symlink_to(path)
    (folder / "folder").symlink_to(path.parent)
    ways = [
        "link",
        "folder/" + path.name,
        f"{path.parent}/../{spilling.world.session}/{path.name}",
        os.path.relpath(path, folder),
        f"/proc/self/root{path}",
        str(path.parent),
        f"{path}/",
        f"{path.parent}/x.txt",
    ]
    for way in ways:
        told = await use(spilling, "read_file", path=way)
        assert told["isError"], way
        assert "25000" not in told["text"], way
    for name, more in (
        ("write_file", {"content": "x"}),
        ("edit_file", {"old_text": "1", "new_text": "x", "replace_all": True}),
        ("search_files", {"pattern": "25000"}),
    ):
        args: dict[str, Any] = {"path": str(path), **more}
        assert (await use(spilling, name, **args))["isError"], name
    assert (await use(spilling, "list_files", path=str(path.parent)))["isError"]
    assert path.read_text().endswith("\n50000\n")


async def test_attack_14_what_was_put_in_the_place_of_a_spill_is_not_read(spilling: ToolWorld, tmp_path: Path) -> None:
    path = Path(await spill(spilling))
    secret = path.parents[2] / "placet.db"
    secret.write_text("secret")
    for what in ("symlink", "hard link", "pipe"):
        path.unlink()
        if what == "symlink":
            path.symlink_to(secret)
        elif what == "pipe":
            os.mkfifo(path)
        else:
            os.link(secret, path)
        told = await use(spilling, "read_file", path=str(path))
        assert (told["isError"], "secret" in told["text"]) == (True, False)
    path.unlink()
    assert (await use(spilling, "read_file", path=str(path)))["code"] == "NOT_FOUND"
    home = path.parent
    os.rename(home, home.with_name("moved"))
    home.symlink_to(home.with_name("moved"))
    (home / path.name).write_text("secret")
    assert (await use(spilling, "read_file", path=str(path)))["code"] == "NOT_FOUND"
    home.unlink()
    os.rename(home.with_name("moved"), home)


async def test_attack_14_the_spill_of_another_session_is_hidden(spilling: ToolWorld) -> None:
    own = Path(await spill(spilling))
    other = own.parent.with_name(OTHER) / own.name
    other.parent.mkdir()
    other.write_text("secret of the other\n")
    for mode in SandboxMode:
        await spilling.set_mode(mode, key=f"m-{mode}")
        told = await use(spilling, "read_file", path=str(other))
        assert (told["isError"], "secret of" in told["text"]) == (True, False)
