"""Background jobs: started, read, listed, ended by the agent (contract C10, C19, C24)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from placet.approval import Outcome
from placet.sandbox import process
from placet.sandbox.mode import SandboxMode
from placet.session import SessionLog, StoreGone, keys
from placet.session.codec import unescape
from placet.testing.responders import Holds, says
from placet.tools import BashTool
from placet.tools.jobs import JOBS, Started, open_jobs
from tests.approval.world import BY
from tests.tools.jobs import FULL, JobWorld, alive, pid_of
from tests.tools.test_bash import sandbox_at

pytestmark = pytest.mark.anyio


async def test_c10_a_job_returns_its_id_at_once_and_runs_on(jobs: JobWorld) -> None:
    job = await jobs.start("echo one; read -t 60 < /dev/zero; sleep 60")
    started = await jobs.store.lookup(jobs.session, keys.job(job))
    assert started is not None and started.data["mode"] == "workspace-write"
    assert started.data["cwd"] == str(jobs.tools.folder)
    assert unescape(started.data["command"]).startswith("echo one")
    assert [found.id for found in await open_jobs(jobs.store, jobs.session)] == [job]


async def test_c24_an_exit_code_is_a_completed_job_and_the_agent_is_woken_with_it(jobs: JobWorld) -> None:
    job = await jobs.start("echo out; echo err >&2; exit 3")
    event = await jobs.ended(job)
    assert (event.data["exitCode"], event.data["signal"], event.data["reason"]) == (3, None, "exited")
    (put,) = await jobs.told()
    assert put["wake"] is True and put["target"] == "next-step"
    assert job in put["text"] and "exit code: 3" in put["text"]
    following = (await jobs.store.read(jobs.session, after=event.seq, limit=1))[0]
    assert following.data.get("put") == put, "the end and its message are one append"


async def test_c24_a_job_that_dies_of_a_signal_says_which(full_jobs: JobWorld) -> None:
    event = await full_jobs.ended(await full_jobs.start("kill -KILL $$"))
    assert (event.data["exitCode"], event.data["signal"], event.data["reason"]) == (None, "SIGKILL", "exited")


async def test_job_output_gives_each_byte_once_and_says_how_it_stands(jobs: JobWorld) -> None:
    fifo = jobs.tools.folder / "go"
    os.mkfifo(fifo)
    job = await jobs.start("echo first; read line < go; echo second $line >&2; exit 4")
    await jobs.until_written(job, "first")
    again = await jobs.output(job)
    assert again["text"] == "" and "(no new output)" in again["said"] and again["said"].endswith("[running]")
    await anyio.to_thread.run_sync(lambda: fifo.write_text("x\n"))
    await jobs.ended(job)
    last = await jobs.output(job)
    assert last["text"] == "second x\n" and last["state"] == "ended" and last["exitCode"] == 4
    assert last["said"].endswith("[ended, exit code: 4]")


async def test_job_output_is_bounded_and_says_what_is_gone(jobs: JobWorld) -> None:
    job = await jobs.start("head -c 300000 /dev/zero | tr '\\0' a; echo END")
    await jobs.ended(job)
    pieces = [await jobs.output(job) for _ in range(4)]
    assert all(len(piece["text"]) <= 30_000 for piece in pieces)
    assert sum(len(piece["text"]) for piece in pieces) == 64_000
    assert pieces[0]["droppedBytes"] == 300_004 - 64_000 and "bytes dropped here" in pieces[0]["said"]
    assert pieces[2]["text"].endswith("END\n")


async def test_job_output_waits_for_news_only_as_long_as_the_turn_is_wanted(jobs: JobWorld) -> None:
    job = await jobs.start("sleep 60")
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:

            async def read() -> None:
                await jobs.output(job, waitMs=60_000)
                group.cancel_scope.cancel()

            group.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            jobs.tools.world.signal.abort()
            await anyio.sleep(20)


async def test_job_kill_ends_everything_that_a_job_has_started(
    full_jobs: JobWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE_FOR_TERM", 0.3)
    job = await full_jobs.start("trap '' TERM; sleep 60 & echo $!; wait; sleep 60")
    child = await pid_of(full_jobs, job)
    assert alive(child)
    result = await full_jobs.tools.call("job_kill", jobId=job)
    assert result.data["value"]["reason"] == "killed" and not result.data["isError"]
    assert not alive(child)
    (put,) = await full_jobs.told()
    assert put["wake"] is False, "who ended it knows it"


async def test_jobs_of_another_session_cannot_be_named(jobs: JobWorld) -> None:
    job = await jobs.start("sleep 60")
    other = Started.of(await jobs.store.lookup(jobs.session, keys.job(job)))  # type: ignore[arg-type]
    assert jobs.jobs.get(other.session, job) is not None
    assert jobs.jobs.get("s-other", job) is None  # type: ignore[arg-type]
    for tool in ("job_output", "job_kill"):
        result = await jobs.tools.call(tool, jobId="j-00000000000000000000000000")
        assert result.data["code"] == "NO_SUCH_JOB"


async def test_job_list_shows_what_runs_and_how_the_rest_ended(jobs: JobWorld) -> None:
    over = await jobs.start("exit 7")
    await jobs.ended(over)
    runs = await jobs.start("sleep 60")
    listed = (await jobs.tools.call("job_list")).data["value"]["jobs"]
    assert [(job["jobId"], job["state"], job["exitCode"]) for job in listed] == [
        (over, "ended", 7),
        (runs, "running", None),
    ]


async def test_c19_a_grant_counts_for_a_background_start(full_jobs: JobWorld) -> None:
    await full_jobs.tools.set_mode(SandboxMode.WORKSPACE_WRITE, "m-2")
    full_jobs.tools.answers(says(Outcome.ALLOWED_ONCE))
    job = await full_jobs.start("sleep 60", **FULL)
    started = await full_jobs.store.lookup(full_jobs.session, keys.job(job))
    assert started is not None and started.data["mode"] == "danger-full-access"


async def test_c19_nothing_starts_where_the_person_rejects(full_jobs: JobWorld) -> None:
    await full_jobs.tools.set_mode(SandboxMode.WORKSPACE_WRITE, "m-2")
    result = await full_jobs.bash("touch ran", **FULL)
    assert result.data["code"] == "APPROVAL_REJECTED"
    assert await open_jobs(full_jobs.store) == () and not (full_jobs.tools.folder / "ran").exists()


async def test_c10_c19_a_call_that_is_stopped_first_starts_nothing(full_jobs: JobWorld) -> None:
    await full_jobs.append("turn/abort", {"turn": 1, "reason": "user", "by": BY}, keys.abort(1))
    result = await full_jobs.bash("touch ran")
    assert result.data["code"] == "ABORTED_BEFORE_DISPATCH"
    full_jobs.tools.world.signal.abort()
    assert (await full_jobs.bash("touch ran")).data["code"] == "ABORTED_BEFORE_DISPATCH"
    assert await open_jobs(full_jobs.store) == () and not (full_jobs.tools.folder / "ran").exists()


async def test_c10_no_process_is_started_where_the_job_cannot_be_registered(
    full_jobs: JobWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = SessionLog.append

    async def fails(log: SessionLog, drafts: Any, **more: Any) -> Any:
        if drafts[0].type == "job/started":
            raise StoreGone("the store does not answer")
        return await append(log, drafts, **more)

    monkeypatch.setattr(SessionLog, "append", fails)
    with pytest.raises(StoreGone):
        await full_jobs.bash("touch ran")
    assert full_jobs.jobs.living() == () and not (full_jobs.tools.folder / "ran").exists()


async def test_c10_without_a_job_service_the_field_is_refused_and_not_offered(tmp_path: Path) -> None:
    tool = BashTool(sandbox_at(tmp_path), confines=lambda: True)
    assert "run_in_background" not in tool.parameters["properties"]
    said = tool.check({"command": "true", "description": "d", "run_in_background": True})
    assert said is not None and "not available" in said


async def test_a_job_has_no_time_limit_to_set(jobs: JobWorld) -> None:
    result = await jobs.bash("true", timeoutMs=10)
    assert result.data["code"] == "INVALID_ARGUMENTS" and "no time limit" in result.data["text"]


async def test_a_job_that_cannot_start_says_so_and_is_closed(jobs: JobWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    from placet.sandbox.errors import StartFailed

    async def refuses(command: Any) -> Any:
        raise StartFailed("no more processes")

    monkeypatch.setattr(jobs.sandbox, "run", refuses)
    result = await jobs.bash("true")
    assert result.data["code"] == "START_FAILED"
    assert await open_jobs(jobs.store) == () and await jobs.told() == []


async def test_the_denial_of_a_job_is_said_when_its_output_is_read(jobs: JobWorld) -> None:
    target = Path.home() / "placet-job-denied"
    job = await jobs.start(f"touch {target}")
    event = await jobs.ended(job)
    assert event.data["denied"] == {"path": str(target)}
    assert "[sandbox: file access denied under workspace-write mode]" in (await jobs.output(job))["said"]


async def test_apr01_no_job_tool_can_end_read_or_wait_for_an_open_ask(full_jobs: JobWorld) -> None:
    await full_jobs.tools.set_mode(SandboxMode.WORKSPACE_WRITE, "m-2")
    hold = Holds()
    full_jobs.tools.answers(hold)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: full_jobs.bash("touch ran", **FULL))
        with anyio.fail_after(20):
            await hold.reached.wait()
        asked = (await full_jobs.store.feed(0, types={"approval/asked"}))[-1]
        call = ".".join(str(asked.data["call"][name]) for name in ("turn", "step", "position"))
        for name in (asked.data["id"], call, "call_0", json.dumps(asked.data["call"]), full_jobs.session):
            for tool in ("job_output", "job_kill"):
                refused = await full_jobs.tools.call(tool, jobId=name[:64])
                assert refused.data["code"] == "NO_SUCH_JOB"
        assert (await full_jobs.tools.call("job_list")).data["value"] == {"jobs": []}
        assert len(await full_jobs.store.unpaired("asked:", "decided:")) == 1
        group.cancel_scope.cancel()
    log = await SessionLog.open(full_jobs.store, full_jobs.session)
    assert log.see(JOBS) == {} and not (full_jobs.tools.folder / "ran").exists()


async def test_the_denial_of_a_job_stands_on_the_card_of_its_retry_in_the_same_turn(jobs: JobWorld) -> None:
    target = Path.home() / "placet-job-denied"
    job = await jobs.start(f"touch {target}")
    ended = await jobs.ended(job)
    await jobs.tools.world.log.catch_up()
    await jobs.bash(f"touch {target}", **FULL)
    asked = (await jobs.store.feed(0, types={"approval/asked"}))[-1]
    call = {"turn": 1, "step": 1, "position": 0}
    assert asked.data["subject"]["denied"] == {"path": str(target), "time": ended.time, "call": call}


async def test_a_command_that_was_rejected_is_not_asked_about_again_as_a_job(full_jobs: JobWorld) -> None:
    await full_jobs.tools.set_mode(SandboxMode.WORKSPACE_WRITE, "m-2")
    first = await full_jobs.tools.call("bash", command="touch ran", description="d", **FULL)
    again = await full_jobs.bash("touch ran", **FULL)
    assert (first.data["code"], again.data["code"]) == ("APPROVAL_REJECTED", "ALREADY_REJECTED")


async def test_11_what_a_job_has_made_is_told_at_its_end(jobs: JobWorld) -> None:
    quiet = await jobs.start("echo x > harmless")
    await jobs.ended(quiet)
    assert [event for event in await jobs.tools.world.events() if event.type == "notice"] == []
    job = await jobs.start("echo all: > Makefile")
    await jobs.ended(job)
    (notice,) = [event for event in await jobs.tools.world.events() if event.type == "notice"]
    assert notice.data["code"] == "job-appeared"
    assert job in notice.data["text"] and "Makefile: make runs it" in notice.data["text"]
