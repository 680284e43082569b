"""What ends a background job besides the agent: people, the process, a crash; and how it is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from placet.approval import Outcome
from placet.sandbox import process
from placet.sandbox.mode import SandboxMode
from placet.session import Event, StoreDamaged, keys
from placet.testing.responders import says
from placet.tools.jobs import Jobs, Reason, jobs_of_workspace, open_jobs
from tests.approval.world import BY
from tests.tools.jobs import FULL, JobWorld, alive, pid_of
from tests.tools.test_bash import sandbox_at
from tests.tools.world import tool_world

pytestmark = pytest.mark.anyio


EVENTS: list[tuple[str, Callable[[], tuple[str, dict[str, Any], str]], str]] = [
    ("stop", lambda: ("turn/abort", {"turn": 1, "reason": "user", "by": BY}, keys.abort(1)), "turn-stopped"),
    ("narrow", lambda: ("sandbox/mode", {"mode": "read-only", "by": BY}, "mode:n"), "narrowed"),
    ("archive", lambda: ("session/archived", {"archived": True, "by": BY}, "archived:a"), "archived"),
]


@pytest.mark.parametrize(
    ("event", "reason"), [(event, reason) for _, event, reason in EVENTS], ids=[e[0] for e in EVENTS]
)
async def test_what_a_person_does_to_a_session_ends_its_jobs_whoever_writes_it(
    jobs: JobWorld, event: Callable[[], tuple[str, dict[str, Any], str]], reason: str
) -> None:
    job = await jobs.start("sleep 60")
    await jobs.append(*event())
    ended = await jobs.ended(job)
    assert ended.data["reason"] == reason and ended.data["by"] == BY
    (put,) = await jobs.told()
    assert put["wake"] is False


async def test_the_stop_of_a_later_turn_leaves_the_job_alone(jobs: JobWorld) -> None:
    job = await jobs.start("sleep 60")
    await jobs.tools.next_turn()
    await jobs.append("turn/abort", {"turn": 2, "reason": "user", "by": BY}, keys.abort(2))
    await jobs.append("sandbox/mode", {"mode": "workspace-write", "by": BY}, "mode:same")
    await jobs.append("session/archived", {"archived": True, "by": BY}, "archived:a")
    assert (await jobs.ended(job)).data["reason"] == "archived", "the first thing that ended it came last"


async def test_a_wider_mode_ends_no_job_and_wider_names_those_that_a_narrower_one_would(jobs: JobWorld) -> None:
    job = await jobs.start("sleep 60")
    assert await jobs.jobs.wider(jobs.session, SandboxMode.DANGER_FULL_ACCESS) == ()
    assert [found.id for found in await jobs.jobs.wider(jobs.session, SandboxMode.READ_ONLY)] == [job]
    await jobs.jobs.end_wider(jobs.session, SandboxMode.READ_ONLY, BY)
    assert (await jobs.ended(job)).data["reason"] == "narrowed"


async def test_widening_ends_no_job_that_a_person_has_granted_more_still(full_jobs: JobWorld) -> None:
    await full_jobs.tools.set_mode(SandboxMode.READ_ONLY, "m-2")
    full_jobs.tools.answers(says(Outcome.ALLOWED_ONCE))
    job = await full_jobs.start("sleep 60", **FULL)
    await full_jobs.tools.set_mode(SandboxMode.WORKSPACE_WRITE, "m-3")
    await full_jobs.append("session/archived", {"archived": True, "by": BY}, "archived:a")
    assert (await full_jobs.ended(job)).data["reason"] == "archived"


async def test_a_mode_that_was_narrowed_just_before_the_start_ends_the_job(
    full_jobs: JobWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    register = Jobs._register

    async def late(jobs: Jobs, call: Any, job: Any) -> Event:
        await full_jobs.append("sandbox/mode", {"mode": "read-only", "by": BY}, "mode:late")
        return await register(jobs, call, job)

    monkeypatch.setattr(Jobs, "_register", late)
    result = await full_jobs.bash("touch ran")
    assert result.data["isError"] and not (full_jobs.tools.folder / "ran").exists()
    events = await full_jobs.store.feed(0, types={"job/ended"})
    assert [event.data["reason"] for event in events] == ["narrowed"]


async def test_bsh10_the_end_of_the_process_ends_stubborn_jobs_and_writes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE_FOR_TERM", 0.3)
    async with tool_world(tmp_path) as tools:
        world = JobWorld(tools, sandbox_at(tmp_path))
        await tools.set_mode(SandboxMode.DANGER_FULL_ACCESS)
        async with world.jobs.serving():
            started = [await world.start("trap '' TERM; echo $$; while :; do sleep 1; done") for _ in range(4)]
            pids = [await pid_of(world, job) for job in started]
        assert not any(alive(pid) for pid in pids)
        reasons = [(await world.ended(job)).data["reason"] for job in started]
        assert reasons == ["shutdown"] * 4
        assert (await world.bash("true")).data["code"] == "JOB_NOT_STARTED"


async def test_a_job_whose_process_is_gone_is_closed_as_lost_once(jobs: JobWorld) -> None:
    dead = {"turn": 1, "step": 1, "position": 9}
    data = {"job": "j-dead", "call": dead, "command": "npm run dev", "mode": "workspace-write", "cwd": "/w"}
    await jobs.append("job/started", {**data, "holder": "1:0:another-boot"}, keys.job("j-dead"))
    await jobs.jobs.close_lost()
    await jobs.jobs.close_lost()
    event = await jobs.ended("j-dead")
    assert (event.data["reason"], event.data["exitCode"], event.data["signal"]) == (Reason.LOST, None, None)
    (put,) = await jobs.told()
    assert put["wake"] is False and "nobody saw how it ended" in put["text"]
    assert (await jobs.output("j-dead"))["said"].startswith("(its output was kept in memory only")


async def test_a_job_of_a_living_process_is_not_lost(jobs: JobWorld) -> None:
    await jobs.start("sleep 60")
    await Jobs(jobs.sandbox, jobs.store).close_lost()
    assert len(await open_jobs(jobs.store)) == 1


async def test_jobs_are_found_by_the_folder_of_their_session(jobs: JobWorld) -> None:
    job = await jobs.start("sleep 60")
    folder = jobs.tools.folder
    for place in (folder, folder.parent, folder / "inner"):
        assert [found.id for found in await jobs_of_workspace(jobs.store, place)] == [job]
    assert await jobs_of_workspace(jobs.store, folder.parent / "other") == ()


async def test_no_more_than_sixteen_jobs_run_in_one_session(full_jobs: JobWorld) -> None:
    for _ in range(16):
        await full_jobs.start("sleep 60")
    result = await full_jobs.bash("touch ran")
    assert result.data["code"] == "JOB_NOT_STARTED" and "16 jobs" in result.data["text"]


async def test_a_damaged_log_keeps_no_other_job_from_being_closed(
    jobs: JobWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    for job in ("j-one", "j-two"):
        data = {"job": job, "call": {"turn": 1, "step": 1, "position": 9}, "command": "x", "mode": "workspace-write"}
        await jobs.append("job/started", {**data, "cwd": "/w", "holder": "1:0:another-boot"}, keys.job(job))
    append, refused = jobs.store.append, []

    async def damaged(session: Any, drafts: Any, **more: Any) -> Any:
        if not refused:
            refused.append(drafts)
            raise StoreDamaged("session x, seq 3", "the record is missing", session=session)
        return await append(session, drafts, **more)

    other = Jobs(jobs.sandbox, jobs.store)
    monkeypatch.setattr(jobs.store, "append", damaged)
    await other.close_lost()
    await other.close_lost()
    assert len(refused) == 1, "what is damaged is tried once"
