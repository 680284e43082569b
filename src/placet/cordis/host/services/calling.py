"""A half's call of a tool: as a call of the open turn where there is one, else the tool's body alone, logged before."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import anyio

from placet.approval.errors import ApprovalError
from placet.cordis import events
from placet.cordis.host.errors import Refusal
from placet.cordis.host.half import Half
from placet.kernel.signal import AbortSignal
from placet.sandbox.mode import ModeFold
from placet.session import keys
from placet.session.codec import dumps, escape
from placet.session.errors import SessionError
from placet.session.ids import SessionId
from placet.session.log import SessionLog
from placet.session.store import Appended, Store
from placet.tools.outside import beside, run_outside
from placet.tools.pipeline import Pipeline
from placet.tools.tool import ToolCall
from placet.tools.turns import Admitted, Turns

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Service:
    """One method of a service: the tool whose function it is, and whether it changes something."""

    tool: str
    changes: bool
    arguments: tuple[str, ...]


SERVICES: Mapping[str, Service] = {
    "files.read": Service("read_file", False, ("path", "offset", "limit")),
    "files.write": Service("write_file", True, ("path", "content")),
    "files.edit": Service("edit_file", True, ("path", "old_text", "new_text", "replace_all")),
    "files.list": Service("list_files", False, ("path", "depth")),
    "files.search": Service("search_files", False, ("pattern", "path", "glob", "ignore_case")),
    "shell.run": Service("bash", True, ("command", "description", "timeoutMs", "workdir", "sandbox_permissions",
                                        "justification")),
}  # fmt: skip
"""Each with the arguments that may be given; what else a tool can do (a job, say) is not for plugins."""
_EVENT = 500
"""About the bytes of an event without what it tells."""
_MATCH = re.compile(r"(.*?):(\d+): (.*)")


@dataclass(frozen=True, slots=True)
class Came:
    """What a tool came to."""

    text: str
    value: Any
    code: str | None
    is_error: bool


class Calling:
    """Calls tools for halves."""

    def __init__(self, pipeline: Pipeline, turns: Turns, store: Store, *, modes: ModeFold) -> None:
        self._pipeline, self._turns, self._store, self._modes = pipeline, turns, store, modes
        self._logs: dict[SessionId, SessionLog] = {}

    async def log(self, session: SessionId) -> SessionLog:
        """The session's log, read up to now. Raises `SessionError`."""
        log = self._logs.get(session)
        if log is None:
            log = self._logs[session] = await SessionLog.open(self._store, session)
        else:
            await log.catch_up()
        return log

    def forget(self, session: SessionId) -> None:
        """Let go of a session's log."""
        self._logs.pop(session, None)

    async def call(self, half: Half, method: str, params: dict[str, Any], signal: AbortSignal) -> Any:
        """Do what a method of a service says, and return its value. Raises `Refusal`."""
        service = SERVICES[method]
        unknown = [name for name in params if name not in service.arguments]
        if unknown:
            raise Refusal("bad-arguments", f"{method} takes no {unknown[0]!r:.60}")
        await half.paced()
        if service.tool == "bash":
            params = {"description": f"for the plugin {half.facts.plugin}", **params}
        try:
            came = await self._came(half, method, service, params, signal)
        except (SessionError, ApprovalError) as failure:
            logger.info("a call of %s was lost: %s", half.facts.plugin, failure)
            raise Refusal("session-gone", "the session went on without this call; try again") from failure
        if came.is_error:
            raise Refusal(came.code or "failed", came.text.removeprefix("Error: "))
        return _value(method, came)

    async def announce(self, half: Half, method: str, arguments: Any) -> None:
        """Write down that a half is about to change something. Raises `Refusal` where its run is over."""
        facts = half.facts
        text = escape(dumps(arguments))
        half.put_into_log(_EVENT + len(text))
        half.calls += 1
        draft = events.called(facts.run, facts.plugin, n=half.calls, service=method, arguments=text)
        outcome = await self._store.append(
            facts.session, [draft], present=[keys.created()], absent=[events.stopped_key(facts.run)]
        )
        if not isinstance(outcome, Appended):
            raise Refusal("stopping", "the plugin was stopped")

    async def _came(
        self, half: Half, method: str, service: Service, params: dict[str, Any], signal: AbortSignal
    ) -> Came:
        arguments = escape(dumps(params))
        facts = half.facts
        with self._turns.admitted(facts.session, signal) as place:
            if place is not None:
                call = ToolCall(
                    place.run.turn,
                    place.step,
                    place.position,
                    f"plugin {facts.plugin} {facts.run}",
                    service.tool,
                    arguments,
                )
                half.put_into_log(2 * _EVENT + len(arguments))
                with anyio.CancelScope(shield=True):  # it gets its result, whatever becomes of the half
                    came = await self._inside(half, call, place)
                half.was_put_into_log(len(came.text))
                return came
        if self._turns.stopped(facts.session):
            raise Refusal("turn-stopped", "the agent's turn was stopped; try again when it has ended")
        log = await self.log(facts.session)
        call = ToolCall(0, 0, half.calls + 1, f"plugin {facts.plugin} {facts.run}", service.tool, arguments)

        async def before() -> None:
            if service.changes:
                await self.announce(half, method, params)

        output = await run_outside(self._pipeline, call, beside(log, signal), modes=self._modes, before=before)
        return Came(output.text, output.value, output.code, output.is_error)

    async def _inside(self, half: Half, call: ToolCall, place: Admitted) -> Came:
        run = replace(place.run, agent=f"plugin {half.facts.plugin} of {place.run.agent}")
        await self._pipeline.run(call, run)
        found = await self._store.lookup(run.session, keys.result(call.turn, call.step, call.position))
        if found is None:
            raise Refusal("turn-over", "the turn ended before this call was done; try again")
        data = found.data
        return Came(data["text"], data["value"], data["code"], data["isError"])


def _value(method: str, came: Came) -> Any:
    """What a plugin gets: the tool's value, with the content that a tool tells in its text only."""
    value = {name: part for name, part in came.value.items() if name not in ("kind", "sandbox", "diff")}
    match method:
        case "files.read":
            lines = came.text.split("\n")[: value["lines"]]
            return {**value, "text": "\n".join(line.partition("\t")[2] for line in lines)}
        case "files.search":
            found = [_MATCH.fullmatch(line) for line in came.text.split("\n")[: value["found"]]]
            matches = [{"path": one[1], "line": int(one[2]), "text": one[3]} for one in found if one is not None]
            return {**value, "matches": matches}
        case "shell.run":
            return {**value, "denied": came.value["sandbox"]["denied"]}
        case _:
            return value
