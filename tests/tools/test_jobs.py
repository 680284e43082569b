"""Background jobs on the real sandbox and a real store (contract C10, C19, C24)."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from placet.approval import Outcome
from placet.sandbox import Sandbox, process
from placet.sandbox.mode import SandboxMode
from placet.session import Draft, Event, SessionLog, StoreGone, keys
from placet.session.codec import unescape
from placet.testing.responders import Holds, says
from placet.tools import BashTool, Registry
from placet.tools.jobs import JOBS, Jobs, Reason, Started, job_tools, jobs_of_workspace, open_jobs
from tests.approval.world import BY, one
from tests.tools.test_bash import sandbox_at
from tests.tools.world import ToolWorld, tool_world

pytestmark = pytest.mark.anyio

FULL = {"sandbox_permissions": "danger-full-access", "justification": "The user asked for it."}


class JobWorld:
    """A session with bash and the job tools."""

    def __init__(self, tools: ToolWorld, sandbox: Sandbox) -> None:
        self.tools, self.sandbox, self.store = tools, sandbox, tools.world.store
        self.session = tools.world.session
        self.jobs = Jobs(sandbox, self.store)
        self.offer()

    def offer(self) -> None:
        bash = BashTool(self.sandbox, confines=lambda: True, jobs=self.jobs)
        self.tools.registry = Registry([bash, *job_tools(self.jobs)])
        self.tools.answers(Outcome.REJECTED)

    async def start(self, command: str, **more: Any) -> str:
        """Start a job and return its id."""
        result = await self.bash(command, **more)
        assert result.data["value"] is not None, result.data["text"]
        assert set(result.data["value"]) == {"kind", "jobId"} and result.data["value"]["kind"] == "background"
        return str(result.data["value"]["jobId"])

    async def bash(self, command: str, **more: Any) -> Event:
        return await self.tools.call("bash", command=command, description="d", run_in_background=True, **more)

    async def output(self, job: str, **more: Any) -> dict[str, Any]:
        result = await self.tools.call("job_output", jobId=job, **more)
        return {"said": result.data["text"], "error": result.data["isError"], **(result.data["value"] or {})}

    async def ended(self, job: str) -> Event:
        """Return the end of a job as soon as the log holds it."""
        with anyio.fail_after(30):
            async with self.store.doorbell() as bell:
                while (event := await self.store.lookup(self.session, keys.job_ended(job))) is None:
                    await bell.wait(1.0)
        return event

    async def until_written(self, job: str, text: str) -> None:
        """Return as soon as the job has written something."""
        with anyio.fail_after(30):
            while text not in (await self.output(job, waitMs=5000))["text"]:
                pass

    async def told(self) -> list[dict[str, Any]]:
        """Return the messages about jobs, oldest first."""
        events = await self.store.feed(0, types={"agent/inbox"}, session=self.session)
        puts = [event.data["put"] for event in events if "put" in event.data]
        return [put for put in puts if put["source"] == {"kind": "plugin", "name": "jobs"}]

    async def append(self, kind: str, data: dict[str, Any], key: str) -> None:
        one(await self.store.append(self.session, [Draft(kind, data, key)]))


@asynccontextmanager
async def job_world(tmp_path: Path) -> AsyncIterator[JobWorld]:
    async with tool_world(tmp_path) as tools:
        world = JobWorld(tools, sandbox_at(tmp_path))
        async with world.jobs.serving():
            yield world


@pytest.fixture
async def world(tmp_path: Path, needs_bubblewrap: str) -> AsyncIterator[JobWorld]:
    async with job_world(tmp_path) as made:
        yield made


@pytest.fixture
async def open_world(tmp_path: Path) -> AsyncIterator[JobWorld]:
    """Return a world in full access, so that the processes of jobs can be seen."""
    async with job_world(tmp_path) as made:
        await made.tools.set_mode(SandboxMode.DANGER_FULL_ACCESS)
        yield made


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def pid_of(world: JobWorld, job: str) -> int:
    """Return the number that a job wrote as its first line."""
    text = ""
    with anyio.fail_after(30):
        while "\n" not in text:
            text += (await world.output(job, waitMs=5000))["text"]
    return int(text.split("\n")[0])


async def test_c10_a_job_returns_its_id_at_once_and_runs_on(world: JobWorld) -> None:
    job = await world.start("echo one; read -t 60 < /dev/zero; sleep 60")
    started = await world.store.lookup(world.session, keys.job(job))
    assert started is not None and started.data["mode"] == "workspace-write"
    assert started.data["cwd"] == str(world.tools.folder)
    assert unescape(started.data["command"]).startswith("echo one")
    assert [found.id for found in await open_jobs(world.store, world.session)] == [job]


async def test_c24_an_exit_code_is_a_completed_job_and_the_agent_is_woken_with_it(world: JobWorld) -> None:
    job = await world.start("echo out; echo err >&2; exit 3")
    event = await world.ended(job)
    assert (event.data["exitCode"], event.data["signal"], event.data["reason"]) == (3, None, "exited")
    (put,) = await world.told()
    assert put["wake"] is True and put["target"] == "next-step"
    assert job in put["text"] and "exit code: 3" in put["text"]
    following = (await world.store.read(world.session, after=event.seq, limit=1))[0]
    assert following.data.get("put") == put, "the end and its message are one append"


async def test_c24_a_job_that_dies_of_a_signal_says_which(open_world: JobWorld) -> None:
    event = await open_world.ended(await open_world.start("kill -KILL $$"))
    assert (event.data["exitCode"], event.data["signal"], event.data["reason"]) == (None, "SIGKILL", "exited")


async def test_job_output_gives_each_byte_once_and_says_how_it_stands(world: JobWorld) -> None:
    fifo = world.tools.folder / "go"
    os.mkfifo(fifo)
    job = await world.start("echo first; read line < go; echo second $line >&2; exit 4")
    await world.until_written(job, "first")
    again = await world.output(job)
    assert again["text"] == "" and "(no new output)" in again["said"] and again["said"].endswith("[running]")
    await anyio.to_thread.run_sync(lambda: fifo.write_text("x\n"))
    await world.ended(job)
    last = await world.output(job)
    assert last["text"] == "second x\n" and last["state"] == "ended" and last["exitCode"] == 4
    assert last["said"].endswith("[ended, exit code: 4]")


async def test_job_output_is_bounded_and_says_what_is_gone(world: JobWorld) -> None:
    job = await world.start("head -c 300000 /dev/zero | tr '\\0' a; echo END")
    await world.ended(job)
    pieces = [await world.output(job) for _ in range(4)]
    assert all(len(piece["text"]) <= 30_000 for piece in pieces)
    assert sum(len(piece["text"]) for piece in pieces) == 64_000
    assert pieces[0]["droppedBytes"] == 300_004 - 64_000 and "bytes dropped here" in pieces[0]["said"]
    assert pieces[2]["text"].endswith("END\n")


async def test_job_output_waits_for_news_only_as_long_as_the_turn_is_wanted(world: JobWorld) -> None:
    job = await world.start("sleep 60")
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:

            async def read() -> None:
                await world.output(job, waitMs=60_000)
                group.cancel_scope.cancel()

            group.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            world.tools.world.signal.abort()
            await anyio.sleep(20)


async def test_job_kill_ends_everything_that_a_job_has_started(
    open_world: JobWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE_FOR_TERM", 0.3)
    job = await open_world.start("trap '' TERM; sleep 60 & echo $!; wait; sleep 60")
    child = await pid_of(open_world, job)
    assert alive(child)
    result = await open_world.tools.call("job_kill", jobId=job)
    assert result.data["value"]["reason"] == "killed" and not result.data["isError"]
    assert not alive(child)
    (put,) = await open_world.told()
    assert put["wake"] is False, "who ended it knows it"


async def test_jobs_of_another_session_cannot_be_named(world: JobWorld) -> None:
    job = await world.start("sleep 60")
    other = Started.of(await world.store.lookup(world.session, keys.job(job)))  # type: ignore[arg-type]
    assert world.jobs.get(other.session, job) is not None
    assert world.jobs.get("s-other", job) is None  # type: ignore[arg-type]
    for tool in ("job_output", "job_kill"):
        result = await world.tools.call(tool, jobId="j-00000000000000000000000000")
        assert result.data["code"] == "NO_SUCH_JOB"


async def test_job_list_shows_what_runs_and_how_the_rest_ended(world: JobWorld) -> None:
    over = await world.start("exit 7")
    await world.ended(over)
    runs = await world.start("sleep 60")
    listed = (await world.tools.call("job_list")).data["value"]["jobs"]
    assert [(job["jobId"], job["state"], job["exitCode"]) for job in listed] == [
        (over, "ended", 7),
        (runs, "running", None),
    ]


async def test_c19_a_grant_counts_for_a_background_start(open_world: JobWorld) -> None:
    await open_world.tools.set_mode(SandboxMode.WORKSPACE_WRITE, "m-2")
    open_world.tools.answers(says(Outcome.ALLOWED_ONCE))
    job = await open_world.start("sleep 60", **FULL)
    started = await open_world.store.lookup(open_world.session, keys.job(job))
    assert started is not None and started.data["mode"] == "danger-full-access"


async def test_c19_nothing_starts_where_the_person_rejects(open_world: JobWorld) -> None:
    await open_world.tools.set_mode(SandboxMode.WORKSPACE_WRITE, "m-2")
    result = await open_world.bash("touch ran", **FULL)
    assert result.data["code"] == "APPROVAL_REJECTED"
    assert await open_jobs(open_world.store) == () and not (open_world.tools.folder / "ran").exists()


async def test_c10_c19_a_call_that_is_stopped_first_starts_nothing(open_world: JobWorld) -> None:
    await open_world.append("turn/abort", {"turn": 1, "reason": "user", "by": BY}, keys.abort(1))
    result = await open_world.bash("touch ran")
    assert result.data["code"] == "ABORTED_BEFORE_DISPATCH"
    open_world.tools.world.signal.abort()
    assert (await open_world.bash("touch ran")).data["code"] == "ABORTED_BEFORE_DISPATCH"
    assert await open_jobs(open_world.store) == () and not (open_world.tools.folder / "ran").exists()


async def test_c10_no_process_is_started_where_the_job_cannot_be_registered(
    open_world: JobWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = SessionLog.append

    async def fails(log: SessionLog, drafts: Any, **more: Any) -> Any:
        if drafts[0].type == "job/started":
            raise StoreGone("the store does not answer")
        return await append(log, drafts, **more)

    monkeypatch.setattr(SessionLog, "append", fails)
    with pytest.raises(StoreGone):
        await open_world.bash("touch ran")
    assert open_world.jobs.living() == () and not (open_world.tools.folder / "ran").exists()


async def test_c10_without_a_job_service_the_field_is_refused_and_not_offered(tmp_path: Path) -> None:
    tool = BashTool(sandbox_at(tmp_path), confines=lambda: True)
    assert "run_in_background" not in tool.parameters["properties"]
    said = tool.check({"command": "true", "description": "d", "run_in_background": True})
    assert said is not None and "not available" in said


async def test_a_job_has_no_time_limit_to_set(world: JobWorld) -> None:
    result = await world.bash("true", timeoutMs=10)
    assert result.data["code"] == "INVALID_ARGUMENTS" and "no time limit" in result.data["text"]


async def test_a_job_that_cannot_start_says_so_and_is_closed(world: JobWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    from placet.sandbox.errors import StartFailed

    async def refuses(command: Any) -> Any:
        raise StartFailed("no more processes")

    monkeypatch.setattr(world.sandbox, "run", refuses)
    result = await world.bash("true")
    assert result.data["code"] == "START_FAILED"
    assert await open_jobs(world.store) == () and await world.told() == []


async def test_the_denial_of_a_job_is_said_when_its_output_is_read(world: JobWorld) -> None:
    target = Path.home() / "placet-job-denied"
    job = await world.start(f"touch {target}")
    event = await world.ended(job)
    assert event.data["denied"] == {"path": str(target)}
    assert "[sandbox: file access denied under workspace-write mode]" in (await world.output(job))["said"]


EVENTS: list[tuple[str, Callable[[], tuple[str, dict[str, Any], str]], str]] = [
    ("stop", lambda: ("turn/abort", {"turn": 1, "reason": "user", "by": BY}, keys.abort(1)), "turn-stopped"),
    ("narrow", lambda: ("sandbox/mode", {"mode": "read-only", "by": BY}, "mode:n"), "narrowed"),
    ("archive", lambda: ("session/archived", {"archived": True, "by": BY}, "archived:a"), "archived"),
]


@pytest.mark.parametrize(
    ("event", "reason"), [(event, reason) for _, event, reason in EVENTS], ids=[e[0] for e in EVENTS]
)
async def test_what_a_person_does_to_a_session_ends_its_jobs_whoever_writes_it(
    world: JobWorld, event: Callable[[], tuple[str, dict[str, Any], str]], reason: str
) -> None:
    job = await world.start("sleep 60")
    await world.append(*event())
    ended = await world.ended(job)
    assert ended.data["reason"] == reason and ended.data["by"] == BY
    (put,) = await world.told()
    assert put["wake"] is False


async def test_the_stop_of_a_later_turn_leaves_the_job_alone(world: JobWorld) -> None:
    job = await world.start("sleep 60")
    await world.tools.next_turn()
    await world.append("turn/abort", {"turn": 2, "reason": "user", "by": BY}, keys.abort(2))
    await world.append("sandbox/mode", {"mode": "workspace-write", "by": BY}, "mode:same")
    await world.append("session/archived", {"archived": True, "by": BY}, "archived:a")
    assert (await world.ended(job)).data["reason"] == "archived", "the first thing that ended it came last"


async def test_a_wider_mode_ends_no_job_and_wider_names_those_that_a_narrower_one_would(world: JobWorld) -> None:
    job = await world.start("sleep 60")
    assert world.jobs.wider(world.session, SandboxMode.DANGER_FULL_ACCESS) == ()
    assert [j.started.id for j in world.jobs.wider(world.session, SandboxMode.READ_ONLY)] == [job]
    await world.jobs.end_wider(world.session, SandboxMode.READ_ONLY, BY)
    assert (await world.ended(job)).data["reason"] == "narrowed"


async def test_a_mode_that_was_narrowed_just_before_the_start_ends_the_job(
    open_world: JobWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    register = Jobs._register

    async def late(jobs: Jobs, call: Any, job: Any) -> Event:
        await open_world.append("sandbox/mode", {"mode": "read-only", "by": BY}, "mode:late")
        return await register(jobs, call, job)

    monkeypatch.setattr(Jobs, "_register", late)
    result = await open_world.bash("touch ran")
    assert result.data["isError"] and not (open_world.tools.folder / "ran").exists()
    events = await open_world.store.feed(0, types={"job/ended"})
    assert [event.data["reason"] for event in events] == ["narrowed"]


async def test_bsh10_the_end_of_the_process_ends_stubborn_jobs_and_writes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE_FOR_TERM", 0.3)
    async with tool_world(tmp_path) as tools:
        world = JobWorld(tools, sandbox_at(tmp_path))
        await tools.set_mode(SandboxMode.DANGER_FULL_ACCESS)
        async with world.jobs.serving():
            jobs = [await world.start("trap '' TERM; echo $$; while :; do sleep 1; done") for _ in range(4)]
            pids = [await pid_of(world, job) for job in jobs]
        assert not any(alive(pid) for pid in pids)
        reasons = [(await world.ended(job)).data["reason"] for job in jobs]
        assert reasons == ["shutdown"] * 4
        assert (await world.bash("true")).data["code"] == "JOB_NOT_STARTED"


async def test_a_job_whose_process_is_gone_is_closed_as_lost_once(world: JobWorld) -> None:
    dead = {"turn": 1, "step": 1, "position": 9}
    data = {"job": "j-dead", "call": dead, "command": "npm run dev", "mode": "workspace-write", "cwd": "/w"}
    await world.append("job/started", {**data, "holder": "1:0:another-boot"}, keys.job("j-dead"))
    await world.jobs.close_lost()
    await world.jobs.close_lost()
    event = await world.ended("j-dead")
    assert (event.data["reason"], event.data["exitCode"], event.data["signal"]) == (Reason.LOST, None, None)
    (put,) = await world.told()
    assert put["wake"] is False and "nobody saw how it ended" in put["text"]
    assert (await world.output("j-dead"))["said"].startswith("(its output was kept in memory only")


async def test_a_job_of_a_living_process_is_not_lost(world: JobWorld) -> None:
    await world.start("sleep 60")
    await Jobs(world.sandbox, world.store).close_lost()
    assert len(await open_jobs(world.store)) == 1


async def test_jobs_are_found_by_the_folder_of_their_session(world: JobWorld) -> None:
    job = await world.start("sleep 60")
    folder = world.tools.folder
    for place in (folder, folder.parent, folder / "inner"):
        assert [found.id for found in await jobs_of_workspace(world.store, place)] == [job]
    assert await jobs_of_workspace(world.store, folder.parent / "other") == ()


async def test_no_more_than_sixteen_jobs_run_in_one_session(open_world: JobWorld) -> None:
    for _ in range(16):
        await open_world.start("sleep 60")
    result = await open_world.bash("touch ran")
    assert result.data["code"] == "JOB_NOT_STARTED" and "16 jobs" in result.data["text"]


async def test_apr01_no_job_tool_can_end_read_or_wait_for_an_open_ask(open_world: JobWorld) -> None:
    await open_world.tools.set_mode(SandboxMode.WORKSPACE_WRITE, "m-2")
    hold = Holds()
    open_world.tools.answers(hold)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: open_world.bash("touch ran", **FULL))
        with anyio.fail_after(20):
            await hold.reached.wait()
        asked = (await open_world.store.feed(0, types={"approval/asked"}))[-1]
        call = ".".join(str(asked.data["call"][name]) for name in ("turn", "step", "position"))
        for name in (asked.data["id"], call, "call_0", json.dumps(asked.data["call"]), open_world.session):
            for tool in ("job_output", "job_kill"):
                refused = await open_world.tools.call(tool, jobId=name[:64])
                assert refused.data["code"] == "NO_SUCH_JOB"
        assert (await open_world.tools.call("job_list")).data["value"] == {"jobs": []}
        assert len(await open_world.store.unpaired("asked:", "decided:")) == 1
        group.cancel_scope.cancel()
    log = await SessionLog.open(open_world.store, open_world.session)
    assert log.see(JOBS) == {} and not (open_world.tools.folder / "ran").exists()
