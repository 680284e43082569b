"""The script of a background job is signed with it, and stays as signed while the job runs (attack 13)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from placet.approval import Outcome
from placet.sandbox import Bubblewrap, Landlock, Sandbox, Selection
from placet.sandbox.mode import SandboxMode
from placet.testing.backends import TestPlaces
from placet.testing.responders import says
from placet.tools import BashTool
from placet.tools.files import file_tools
from tests.conftest import missing
from tests.tools.jobs import JobWorld
from tests.tools.world import tool_world

pytestmark = pytest.mark.anyio

ALLOW, FULL, WRITE = Outcome.ALLOWED_ONCE, "danger-full-access", "workspace-write"
WAITS = "echo begun\nread line < go\necho signed $line\n"


@pytest.fixture(params=["bubblewrap", "landlock"])
async def jobs(request: pytest.FixtureRequest, tmp_path: Path, needs_bubblewrap: str) -> AsyncIterator[JobWorld]:
    """A session in read-only mode with jobs and the file tools, under each backend in turn."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    backend = Bubblewrap(state) if request.param == "bubblewrap" else Landlock(state)
    sandbox = Sandbox(TestPlaces(state), Selection([backend], {}))
    if sandbox.selection.choose() is None:
        missing(request.param, sandbox.selection.report()["backends"][0]["why"])
    async with tool_world(tmp_path, BashTool(sandbox, confines=lambda: True)) as tools:
        world = JobWorld(tools, sandbox)
        for tool in file_tools(sandbox, confines=lambda: True):
            tools.registry.register(tool)
        await tools.set_mode(SandboxMode.READ_ONLY)
        async with world.jobs.serving():
            yield world


def guards(world: JobWorld) -> bool:
    """Whether the backend can keep a file of a writable folder as it is."""
    backend = world.sandbox.selection.chosen()
    assert backend is not None
    return backend.protects


async def wider(world: JobWorld, command: str, to_mode: str) -> dict[str, Any]:
    asked = {"sandbox_permissions": to_mode, "justification": "because"}
    return dict((await world.bash(command, **asked)).data)


async def in_workspace(world: JobWorld, tool: str, **args: Any) -> dict[str, Any]:
    return dict((await world.tools.call(tool, **args)).data)


@pytest.mark.parametrize("to_mode", [WRITE, FULL])
async def test_the_script_of_a_job_is_in_the_subject_and_runs(jobs: JobWorld, to_mode: str) -> None:
    responder = jobs.tools.answers(ALLOW)
    (jobs.tools.folder / "s.sh").write_text("echo signed\n")
    result = await wider(jobs, "bash s.sh", to_mode)
    (file,) = responder.asks[0].subject.files
    assert (file.path, file.text) == (str(jobs.tools.folder / "s.sh"), "echo signed\n")
    await jobs.ended(result["value"]["jobId"])
    assert (await jobs.output(result["value"]["jobId"]))["text"] == "signed\n"


@pytest.mark.parametrize("to_mode", [WRITE, FULL])
async def test_a_job_whose_script_changed_after_the_ask_is_not_started(jobs: JobWorld, to_mode: str) -> None:
    script = jobs.tools.folder / "s.sh"
    script.write_text("touch signed\n")

    def act(ask: object) -> Any:
        script.write_text("touch unsigned\n")
        return says(ALLOW)

    jobs.tools.answers(act)
    result = await wider(jobs, "bash s.sh", to_mode)
    assert (result["code"], result["meta"]["reason"]) == ("TOOL_NOT_STARTED", "file-changed")
    assert await jobs.tools.world.events("job/started") == []
    assert [path.name for path in jobs.tools.folder.iterdir()] == ["s.sh"]


@pytest.mark.parametrize("to_mode", [WRITE, FULL])
async def test_while_the_job_runs_later_calls_cannot_change_its_script(jobs: JobWorld, to_mode: str) -> None:
    folder = jobs.tools.folder
    jobs.tools.answers(ALLOW)
    (folder / "in").mkdir()
    script = folder / "in" / "s.sh"
    script.write_text(WAITS)
    await in_workspace(jobs, "bash", command=f"rm -f {folder}/go; true", description="d")
    os.mkfifo(folder / "go")
    job = (await wider(jobs, "bash in/s.sh", to_mode))["value"]["jobId"]
    await jobs.until_written(job, "begun")
    await jobs.tools.set_mode(SandboxMode.WORKSPACE_WRITE, key="m-later")
    swaps = ("echo x >> in/s.sh", "echo x > n && mv n in/s.sh", "rm in/s.sh", "mv in other", "chmod 777 in/s.sh")
    for swap in swaps if guards(jobs) else ():
        done = await in_workspace(jobs, "bash", command=swap, description="d")
        assert done["value"]["exitCode"] != 0, swap
        assert script.read_text() == WAITS, swap
    if guards(jobs):
        for tool, args in (("write_file", {"content": "x"}), ("edit_file", {"old_text": "signed", "new_text": "x"})):
            denied = await in_workspace(jobs, tool, path="in/s.sh", **args)
            assert denied["code"] == "FS_SANDBOX_DENIED", denied
    else:  # Landlock cannot, and the limits say so
        assert (await in_workspace(jobs, "bash", command=swaps[1], description="d"))["value"]["exitCode"] == 0
    (folder / "go").write_text("line\n")
    assert (await jobs.ended(job)).data["exitCode"] == 0
    assert "signed line" in (await jobs.output(job))["text"]
    freed = await in_workspace(jobs, "write_file", path="in/s.sh", content="x")
    assert (freed["isError"], script.read_text()) == (False, "x")


async def test_a_job_with_a_signed_script_does_not_start_beside_others(jobs: JobWorld) -> None:
    (jobs.tools.folder / "s.sh").write_text("true\n")
    other = await jobs.start("sleep 60")
    jobs.tools.answers(ALLOW)
    result = await wider(jobs, "bash s.sh", FULL)
    assert (result["code"], result["meta"]["reason"]) == ("TOOL_NOT_STARTED", "jobs-running")
    await jobs.tools.call("job_kill", jobId=other)
    assert (await wider(jobs, "bash s.sh", FULL))["value"]["kind"] == "background"
