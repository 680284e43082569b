"""What a call has made in the workspace and other programs of the person will run, noted beside its result."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

from anyio import to_thread

from placet.kernel.chain import CallNext
from placet.sandbox.mode import SandboxMode
from placet.sandbox.policy import Profile
from placet.sandbox.workspace.appeared import Findings
from placet.sandbox.workspace.watch import Watch, Watches
from placet.session.codec import escape
from placet.session.event import Draft
from placet.session.ids import JobId, SessionId
from placet.tools.stages.hooks import Body
from placet.tools.stages.result import notice
from placet.tools.tool import ToolOutput

logger = logging.getLogger(__name__)

LOOKING_ONLY = frozenset({"read_file", "list_files", "search_files", "job_list", "job_kill"})
"""Tools that change nothing in the workspace: nothing is looked for after them."""


class Appearances:
    """An around stage. Where a session has started a job, later calls also tell what that job made meanwhile."""

    def __init__(self, watches: Watches) -> None:
        self._watches = watches
        self._jobs: dict[SessionId, int] = {}

    async def __call__(self, body: Body, call_next: CallNext[ToolOutput]) -> ToolOutput:
        """Run the body, and add to its `meta` what appeared."""
        context, since = body.context, self._jobs.get(body.request.session)
        unchanged = context.mode is SandboxMode.READ_ONLY and since is None
        if unchanged or body.request.call.name in LOOKING_ONLY:
            return await call_next()
        watch = await self._begin(body, since)
        output = await call_next()
        return output if watch is None else await self._told(watch, output, body)

    async def _begin(self, body: Body, since: int | None) -> Watch | None:
        """Watch the session's folder; None, and a line in the server's own log, where that failed."""
        created = body.context.log.events[0].data
        git_roots = tuple(Path(root) for root in created["gitRoots"])
        try:
            return await to_thread.run_sync(lambda: self._watches.begin(Path(created["cwd"]), git_roots, since=since))
        except Exception:  # the call must not fail for it
            logger.exception("the workspace could not be watched")
            return None

    async def _told(self, watch: Watch, output: ToolOutput, body: Body) -> ToolOutput:
        try:
            found = await to_thread.run_sync(watch.end)
            if isinstance(output.value, dict) and output.value.get("kind") == "background":
                self._jobs.setdefault(body.request.session, watch.since)
            workspace = Path(body.context.log.events[0].data["cwd"])
            return replace(output, meta={**output.meta, **noted(found, workspace)})
        except Exception:  # the call has run: its result stands
            logger.exception("the workspace could not be looked at")
            return output


async def begun(watches: Watches, profile: Profile) -> Watch | None:
    """Watch a job from now on; None where it can write nothing, or the folder cannot be looked at."""
    if profile.mode is SandboxMode.READ_ONLY:
        return None
    try:
        return await to_thread.run_sync(watches.begin, profile.workspace.path, profile.git_roots)
    except Exception:  # the job must not fail for it
        logger.exception("the workspace could not be watched")
        return None


async def job_notices(watch: Watch | None, job: JobId) -> list[Draft]:
    """A line for the person about what a job has made, if it has made anything; a later call lists it once more."""
    if watch is None:
        return []
    try:
        found = noted(await to_thread.run_sync(watch.peek), watch.workspace)
    except Exception:  # the job is over: its end counts
        logger.exception("the workspace could not be looked at")
        return []
    lines = [f"{one['path']}: {one['why']}" for one in found.get("appeared", [])]
    if not lines:
        return []
    text = f"Job {job} has made or changed files that other programs of yours will run. " + "; ".join(lines)
    return [notice("warn", "job-appeared", text, key=f"job-appeared:{job}")]


def noted(found: Findings, workspace: Path) -> dict[str, Any]:
    """The findings as `meta` of a result: paths relative to the workspace where they lie in it, escaped."""
    told: dict[str, Any] = {}
    if found.things:
        told["appeared"] = [
            {"path": escape(str(_shown(one.path, workspace))), "kind": one.kind.value, "why": one.why}
            for one in found.things
        ]
    if found.more:
        told["appearedMore"] = found.more
    if not found.whole:
        told["appearedPartly"] = True
    return told


def _shown(path: Path, workspace: Path) -> Path:
    return path.relative_to(workspace) if path.is_relative_to(workspace) else path
