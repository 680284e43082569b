"""A session with bash and the job tools, on the real sandbox and a real store."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from placet.approval import Outcome
from placet.sandbox import Sandbox
from placet.session import Draft, Event, keys
from placet.tools import BashTool, Registry
from placet.tools.jobs import Jobs, job_tools
from tests.approval.world import one
from tests.tools.test_bash import sandbox_at
from tests.tools.world import ToolWorld, tool_world

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
        return [put for put in puts if put["source"] == {"kind": "system", "name": "jobs"}]

    async def append(self, kind: str, data: dict[str, Any], key: str) -> None:
        one(await self.store.append(self.session, [Draft(kind, data, key)]))


@asynccontextmanager
async def job_world(tmp_path: Path) -> AsyncIterator[JobWorld]:
    async with tool_world(tmp_path) as tools:
        world = JobWorld(tools, sandbox_at(tmp_path))
        async with world.jobs.serving():
            yield world
        await world.sandbox.aclose()


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
