"""A script that a command runs is captured at the ask, signed with it, and the bytes that run (attack 13)."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from placet.approval import Outcome
from placet.approval.subject import CoveredFile
from placet.kernel.signal import AbortSignal
from placet.sandbox import Bubblewrap, Command, Landlock, Profile, Sandbox, Selection, Workdir
from placet.sandbox.backend import Covered
from placet.sandbox.mode import SandboxMode
from placet.testing.backends import Rig, TestPlaces, rig
from placet.testing.responders import Holds, says
from placet.tools import BashTool
from placet.tools.bash.script import covered
from tests.conftest import missing
from tests.tools.world import ToolWorld, tool_world

pytestmark = pytest.mark.anyio

ALLOW, FULL, WRITE = Outcome.ALLOWED_ONCE, "danger-full-access", "workspace-write"
ROUNDS = 10_000 if os.environ.get("PLACET_SOAK") == "1" else 1_000


@pytest.fixture(params=["bubblewrap", "landlock"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path, needs_bubblewrap: str) -> AsyncIterator[ToolWorld]:
    """Return a session in read-only mode under each backend in turn."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    backend = Bubblewrap(state) if request.param == "bubblewrap" else Landlock(state)
    sandbox = Sandbox(TestPlaces(state), Selection([backend], {}))
    if sandbox.selection.choose() is None:
        missing(request.param, sandbox.selection.report()["backends"][0]["why"])
    async with tool_world(tmp_path, BashTool(sandbox, confines=lambda: True)) as world:
        await world.set_mode(SandboxMode.READ_ONLY)
        yield world


def sandbox_of(world: ToolWorld) -> Sandbox:
    assert isinstance(world.tool, BashTool)
    return world.tool._sandbox


async def run(world: ToolWorld, command: str, to_mode: str = FULL, **more: Any) -> dict[str, Any]:
    wider = {"sandbox_permissions": to_mode, "justification": "because"}
    return dict((await world.call(command=command, description="Run it", **wider, **more)).data)


@pytest.mark.parametrize("to_mode", [WRITE, FULL])
async def test_the_script_is_in_the_subject_and_runs(bench: ToolWorld, to_mode: str) -> None:
    responder = bench.answers(ALLOW)
    text = 'echo "$0 $1" > made; echo done \xe9\n'.encode("latin-1")
    (bench.folder / "s.sh").write_bytes(text)
    result = await run(bench, "bash s.sh one", to_mode)
    assert (result["isError"], (bench.folder / "made").read_text()) == (False, "s.sh one\n")
    (file,) = responder.asks[0].subject.files
    assert file.path == str(bench.folder / "s.sh")
    assert covered((file,)) == (Covered(bench.folder / "s.sh", text),)
    assert (bench.folder / "s.sh").read_bytes() == text


@pytest.mark.parametrize("to_mode", [WRITE, FULL])
async def test_a_file_with_the_right_to_be_executed_is_executed(bench: ToolWorld, to_mode: str) -> None:
    bench.answers(ALLOW)
    script = bench.folder / "run me"
    script.write_text("#!/bin/sh\necho ran\n")
    assert "Permission denied" in (await run(bench, "'./run me'", to_mode))["value"]["stderr"]["text"]
    script.chmod(0o755)
    assert (await run(bench, "'./run me'", to_mode))["value"]["stdout"]["text"] == "ran\n"


@pytest.mark.parametrize("to_mode", [WRITE, FULL])
@pytest.mark.parametrize("change", ["edit", "replace", "link", "remove"])
async def test_a_script_that_changed_after_the_ask_does_not_run(bench: ToolWorld, to_mode: str, change: str) -> None:
    script, other = bench.folder / "s.sh", bench.folder / "other.sh"
    script.write_text("touch signed\n")
    other.write_text("touch unsigned\n")

    def act(ask: object) -> Any:
        match change:
            case "edit":
                script.write_text("touch unsigned\n")
            case "replace":
                other.rename(script)
            case "link":
                script.unlink()
                script.symlink_to(other)
            case "remove":
                script.unlink()
        return says(ALLOW)

    bench.answers(act)
    result = await run(bench, "bash s.sh", to_mode)
    assert (result["code"], result["meta"]["reason"]) == ("TOOL_NOT_STARTED", "file-changed")
    assert not (bench.folder / "unsigned").exists()
    assert [event.data["code"] for event in await bench.world.events("notice")] == ["grant-unused:file-changed"]
    assert await bench.world.events("tool/started") == []


async def test_while_other_commands_live_a_signed_script_does_not_start(bench: ToolWorld) -> None:
    (bench.folder / "s.sh").write_text("touch ran\n")
    bench.answers(ALLOW)
    began, release = anyio.Event(), AbortSignal()
    profile = profile_in(bench)

    async def beside() -> None:
        await sandbox_of(bench).run(
            Command(profile=profile, script="sleep 60", signal=release, on_start=began.set, timeout_ms=90_000)
        )

    async with anyio.create_task_group() as group:
        group.start_soon(beside)
        await began.wait()
        result = await run(bench, "bash s.sh")
        release.abort()
    assert (result["code"], result["meta"]["reason"]) == ("TOOL_NOT_STARTED", "jobs-running")
    assert (await run(bench, "bash s.sh"))["isError"] is False
    assert (bench.folder / "ran").exists()


def profile_in(world: ToolWorld, mode: SandboxMode = SandboxMode.READ_ONLY) -> Profile:
    return sandbox_of(world).profile(world.world.session, Workdir.of(world.folder), mode)


async def test_others_wait_while_a_signed_script_runs_and_their_stop_counts(bench: ToolWorld) -> None:
    sandbox, profile, stop = sandbox_of(bench), profile_in(bench), AbortSignal()
    order: list[str] = []

    async def beside(name: str, signal: AbortSignal | None) -> None:
        done = await sandbox.run(Command(profile=profile, script="true", signal=signal))
        order.append(f"{name} {'stopped' if done.aborted else done.exit_code}")

    async with anyio.create_task_group() as group:
        with sandbox.alone(bench.folder) as free:
            assert free
            group.start_soon(beside, "patient", None)
            group.start_soon(beside, "impatient", stop)
            await anyio.wait_all_tasks_blocked()
            with sandbox.alone(bench.folder / "inner") as inner:
                assert not inner
            stop.abort()
            await anyio.wait_all_tasks_blocked()
            assert order == ["impatient stopped"]
    assert order == ["impatient stopped", "patient 0"]


async def test_after_a_restart_the_signed_bytes_count(bench: ToolWorld) -> None:
    (bench.folder / "s.sh").write_text("touch signed\n")
    held = Holds(says(ALLOW))
    bench.answers(held)
    call = bench.make(
        command="bash s.sh", description="x", sandbox_permissions=FULL, justification="because"
    )  # fmt: skip
    async with anyio.create_task_group() as group:
        group.start_soon(bench.bring, call)
        await held.reached.wait()
        group.cancel_scope.cancel()
    (asked,) = await bench.world.store.unpaired("asked:", "decided:")
    await bench.world.answer(asked)
    (bench.folder / "s.sh").write_text("touch unsigned\n")
    facts = await bench.facts(call)
    result = (await bench.bring(call, facts)).data
    assert (result["code"], result["meta"]["reason"]) == ("TOOL_NOT_STARTED", "file-changed")
    assert sorted(os.listdir(bench.folder)) == ["s.sh"]


@pytest.mark.parametrize("what", ["binary", "outside", "missing", "fifo", "proc", "none"])
async def test_what_is_no_script_of_the_workspace_is_not_covered(bench: ToolWorld, what: str) -> None:
    path = bench.folder / "s.sh"
    match what:
        case "binary":
            path.write_bytes(b"\x7fELF\0")
        case "outside":
            (bench.folder.parent / "other.sh").write_text("true\n")
            path.symlink_to(bench.folder.parent / "other.sh")
        case "fifo":
            os.mkfifo(path)
        case "proc":
            path.symlink_to("/proc/self/environ")
    responder = bench.answers(Outcome.REJECTED)
    with anyio.fail_after(20):
        await run(bench, "ls s.sh" if what == "none" else "bash s.sh")
    assert responder.asks[0].subject.files == ()


async def test_a_script_that_nobody_could_read_is_not_asked_about(bench: ToolWorld) -> None:
    responder = bench.answers(ALLOW)
    for size in (1_100_000, 3_000_000):
        (bench.folder / "s.sh").write_text("#" * size)
        result = await run(bench, "bash s.sh")
        assert (result["code"], responder.asks) == ("TOO_LARGE_TO_SHOW", [])


def test_a_changed_record_is_not_run() -> None:
    with pytest.raises(ValueError, match="digest"):
        covered((CoveredFile("/ws/s.sh", "0" * 64, "true\n"),))


async def test_attack_13_bytes_that_are_swapped_during_the_run_are_never_read(needs_bubblewrap: str) -> None:
    """A command that reads its script again and again, while a program outside rewrites the file in place."""
    with rig(lambda state: [Bubblewrap(state, needs_bubblewrap)]) as made:
        script = made.ws / "s.sh"
        script.write_text("echo signed\n")
        over = threading.Event()

        def swap() -> None:
            while not over.is_set():
                for text in ("echo unsigned\n", "echo other\n"):
                    script.write_text(text)

        swapper = threading.Thread(target=swap)
        swapper.start()
        try:
            said = [line for _ in range(10) for line in await _rounds(made, ROUNDS // 10)]
        finally:
            over.set()
            swapper.join()
        assert (len(said), set(said)) == (ROUNDS, {"signed"})


async def _rounds(made: Rig, count: int) -> list[str]:
    files = (Covered(made.ws / "s.sh", b"echo signed\n"),)
    script = f"for ((i = 0; i < {count}; i++)); do bash s.sh; done"
    done = await made.run(script, covered=files, timeout_ms=120_000)
    assert done.exit_code == 0, done.stderr.text
    return done.stdout.text.split()


async def test_attack_13_a_job_that_swaps_finds_no_moment(bench: ToolWorld) -> None:
    """A command beside rewrites and renames as fast as it can: the signed script is refused, or runs as signed."""
    await bench.set_mode(SandboxMode.READ_ONLY, "m-2")
    (bench.folder / "s.sh").write_text("echo signed >> ran\n")
    bench.answers(ALLOW)
    began, release = anyio.Event(), AbortSignal()
    swap = "while :; do echo 'echo unsigned >> ran' > n; mv n s.sh; echo 'echo signed >> ran' > s.sh; done"
    profile = profile_in(bench, SandboxMode.WORKSPACE_WRITE)

    async def beside() -> None:
        await sandbox_of(bench).run(
            Command(profile=profile, script=swap, signal=release, on_start=began.set, timeout_ms=90_000)
        )

    async with anyio.create_task_group() as group:
        group.start_soon(beside)
        await began.wait()
        for to_mode in (WRITE, FULL) * 5:
            result = await run(bench, "bash s.sh", to_mode)
            assert result["code"] in ("TOOL_NOT_STARTED", "HELPER_FAILED"), result
        release.abort()
    assert not (bench.folder / "ran").exists()
