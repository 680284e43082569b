"""Background jobs over the API: seen, read, ended by a person, named before a narrower mode ends them."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from placet.approval.outcome import Policy
from placet.approval.subject import CallKey
from placet.kernel.signal import AbortSignal
from placet.sandbox.mode import SandboxMode
from placet.sandbox.policy import Workdir
from placet.sandbox.process import Command
from placet.session import Draft, SessionLog, keys
from placet.session.ids import SessionId
from placet.session.store import Lease
from placet.tools.tool import CallContext
from tests.web.rig import BY, House

pytestmark = pytest.mark.anyio

FULL = SandboxMode.DANGER_FULL_ACCESS
PLACES = itertools.count()
NO_JOB = "j-00000000000000000000000000"


@pytest.fixture
async def working(house: House) -> AsyncIterator[House]:
    """Return a house whose jobs can run."""
    async with house.services.jobs.serving():
        yield house


async def start(house: House, session: SessionId, folder: Path, script: str, mode: SandboxMode = FULL) -> str:
    """Start a job as a call of the open turn would."""
    folder.mkdir(exist_ok=True)
    key = CallKey(1, 1, next(PLACES))
    data = {**key.json(), "ask": None, "digest": None, "mode": mode.value}
    await house.append(session, Draft("tool/started", data, keys.started(key.turn, key.step, key.position)))
    lease = await house.store.acquire(session, "test", lambda holder: False)
    assert isinstance(lease, Lease)
    log, workdir = await SessionLog.open(house.store, session), Workdir.of(folder)
    call = CallContext(key, session, folder, workdir, mode, Policy.ASK, False, AbortSignal(), log, lease)
    jobs = house.services.jobs
    command = Command(profile=jobs._sandbox.profile(session, workdir, mode), script=script, workdir=workdir)
    return str((await jobs.start(call, script, command)).started.id)


async def written(page: Any, session: SessionId, job: str, text: str) -> dict[str, Any]:
    """Return the output of a job as soon as it holds the text."""
    with anyio.fail_after(30):
        while True:
            answer = await page.get(f"/api/sessions/{session}/jobs/{job}/output")
            assert answer.status_code == 200, answer.text
            if text in answer.json()["text"]:
                return dict(answer.json())
            await anyio.sleep(0.01)


async def test_a_session_shows_its_running_jobs_and_what_they_write(working: House, tmp_path: Path) -> None:
    session = await working.session(preset="danger-full-access")
    job = await start(working, session, tmp_path / "w", "echo one; echo two >&2; sleep 60")
    async with working.page() as page:
        (shown,) = (await page.get(f"/api/sessions/{session}")).json()["jobs"]
        assert (shown["job"], shown["state"], shown["mode"]) == (job, "running", FULL.value)
        assert shown["command"] == "echo one; echo two >&2; sleep 60"
        whole = await written(page, session, job, "two")
        rest = (await page.get(f"/api/sessions/{session}/jobs/{job}/output?after={whole['end']}")).json()
    assert whole["kept"] and (whole["start"], whole["end"], whole["more"]) == (0, 8, 0)
    assert (rest["text"], rest["start"]) == ("", 8)


async def test_a_person_ends_a_job_and_is_told_how_it_ended(working: House, tmp_path: Path) -> None:
    session = await working.session(preset="danger-full-access")
    job = await start(working, session, tmp_path / "w", "sleep 60")
    path = f"/api/sessions/{session}/jobs/{job}/kill"
    async with working.page() as page:
        answer = await page.post(path, {"key": "k1"})
        again = await page.post(path, {"key": "k1"})
        view = (await page.get(f"/api/sessions/{session}")).json()
    assert answer.status_code == 200 and again.json() == answer.json()
    assert (answer.json()["state"], answer.json()["reason"], answer.json()["signal"]) == ("ended", "stopped", "SIGTERM")
    assert view["jobs"] == []
    event = await working.store.lookup(session, keys.job_ended(job))
    assert event is not None and event.data["by"] == BY


async def test_no_job_of_another_session_can_be_read_or_ended(working: House, tmp_path: Path) -> None:
    session, other = await working.session(preset="danger-full-access"), await working.session()
    job = await start(working, session, tmp_path / "w", "sleep 60")
    async with working.page() as page:
        for found, name in ((other, job), (session, NO_JOB)):
            read = await page.get(f"/api/sessions/{found}/jobs/{name}/output")
            kill = await page.post(f"/api/sessions/{found}/jobs/{name}/kill", {"key": "k1"})
            assert [read.status_code, kill.status_code] == [404, 404]
    assert len(working.services.jobs.living()) == 1


async def test_a_job_of_another_process_is_not_ended_from_here(working: House) -> None:
    from placet.session.lease import holder

    session = await working.session()
    data = {"job": NO_JOB, "call": CallKey(1, 1, 0).json(), "command": "x", "mode": FULL.value, "cwd": "/"}
    await working.append(session, Draft("job/started", {**data, "holder": holder()}, keys.job(NO_JOB)))
    async with working.page() as page:
        answer = await page.post(f"/api/sessions/{session}/jobs/{NO_JOB}/kill", {"key": "k1"})
        read = (await page.get(f"/api/sessions/{session}/jobs/{NO_JOB}/output")).json()
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "job-elsewhere")
    assert read["kept"] is False and read["text"] == ""


@pytest.mark.parametrize("change", [{"preset": "workspace-write"}, {"mode": "read-only"}])
async def test_attack_9_narrowing_names_the_jobs_first_and_ends_them_once_it_is_meant(
    working: House, tmp_path: Path, change: dict[str, Any]
) -> None:
    session = await working.session(preset="danger-full-access")
    job = await start(working, session, tmp_path / "w", "sleep 60")
    path = f"/api/sessions/{session}/permission"
    async with working.page() as page:
        first = await page.post(path, {**change, "key": "k1"})
        assert first.status_code == 409 and first.json()["error"]["code"] == "jobs-running"
        assert first.json()["error"]["jobs"] == [{"job": job, "command": "sleep 60", "mode": FULL.value}]
        assert len(working.services.jobs.living()) == 1
        meant = await page.post(path, {**change, "confirm": True, "key": "k2"})
    assert meant.status_code == 200 and working.services.jobs.living() == ()
    event = await working.store.lookup(session, keys.job_ended(job))
    assert event is not None and event.data["reason"] == "narrowed" and event.data["by"] == BY


async def test_narrowing_asks_nothing_where_no_job_runs_with_more(working: House, tmp_path: Path) -> None:
    session = await working.session(preset="danger-full-access")
    job = await start(working, session, tmp_path / "w", "sleep 60", SandboxMode.READ_ONLY)
    async with working.page() as page:
        answer = await page.post(f"/api/sessions/{session}/permission", {"preset": "read-only", "key": "k1"})
    assert answer.status_code == 200
    assert [living.started.id for living in working.services.jobs.living()] == [job]


async def test_putting_a_session_away_ends_its_jobs(working: House, tmp_path: Path) -> None:
    session = await working.session(preset="danger-full-access")
    job = await start(working, session, tmp_path / "w", "sleep 60")
    async with working.page() as page:
        assert (await page.client.patch(f"/api/sessions/{session}", json={"archived": True, "key": "k1"})).is_success
    event = await working.store.lookup(session, keys.job_ended(job))
    assert event is not None and event.data["reason"] == "archived"


async def test_deleting_a_session_ends_its_jobs(working: House, tmp_path: Path) -> None:
    session = await working.session(preset="danger-full-access")
    await start(working, session, tmp_path / "w", "sleep 60")
    end = {"turn": 1, "reason": {"kind": "completed"}}
    await working.append(session, Draft("turn/end", end, keys.end(1)))
    async with working.page() as page:
        assert (await page.client.delete(f"/api/sessions/{session}")).status_code == 204
    assert working.services.jobs.living() == ()
