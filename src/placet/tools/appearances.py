"""What a call has made in the workspace and other programs of the person will run, noted beside its result."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

from anyio import to_thread

from placet.kernel.chain import CallNext
from placet.sandbox.mode import SandboxMode
from placet.sandbox.workspace.appeared import Findings
from placet.sandbox.workspace.watch import Watch, Watches
from placet.session.codec import escape
from placet.session.ids import SessionId
from placet.tools.stages.hooks import Body
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
