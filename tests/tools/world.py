"""A session with a pipeline: a tool that only notes what it was given, or the real bash, on a real store."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from placet.approval import Outcome, Responder
from placet.kernel.signal import AbortSignal
from placet.permission import mode_switched
from placet.sandbox.mode import SandboxMode
from placet.session import Draft, Event, keys
from placet.session.codec import escape
from placet.testing.clock import ManualClock
from placet.testing.responders import ScriptedResponder
from placet.tools import (
    CallContext,
    CallFacts,
    Pipeline,
    Registry,
    RunContext,
    Stages,
    Stakes,
    Tool,
    ToolCall,
    ToolOutput,
    run_batch,
)
from tests.approval.world import BY, World, a_store, new_world, one

Body = Callable[[dict[str, Any], CallContext], Any]


class Probe(Tool):
    """A tool named `probe` that notes each run; `to_mode` in its arguments is a wish for that mode."""

    def __init__(self, body: Body | None = None, *, parallel: bool = True) -> None:
        self.runs: list[tuple[dict[str, Any], CallContext]] = []
        self._body, self._parallel = body, parallel
        self.schema: dict[str, Any] = {"type": "object", "properties": {"what": {"type": "string"}}}

    @property
    def name(self) -> str:
        return "probe"

    @property
    def description(self) -> str:
        return "Notes what it is given."

    @property
    def parameters(self) -> dict[str, Any]:
        return self.schema

    def check(self, args: dict[str, Any]) -> str | None:
        return None if isinstance(args.get("what"), str) else "what must be text"

    def workdir(self, args: dict[str, Any]) -> str | None:
        return args.get("workdir")

    def stakes(self, args: dict[str, Any]) -> Stakes | None:
        if "sandbox_permissions" not in args:
            return None
        return Stakes(SandboxMode(args["sandbox_permissions"]), args.get("justification", ""))

    def parallel(self, args: dict[str, Any]) -> bool:
        return self._parallel

    async def run(self, args: dict[str, Any], call: CallContext) -> ToolOutput:
        self.runs.append((args, call))
        if self._body is None:
            return ToolOutput(f"did {args['what']}", {"did": args["what"]})
        output = self._body(args, call)
        return await output if hasattr(output, "__await__") else output


class ToolWorld:
    """A world with a pipeline. `call` runs one call, `result` returns its `tool/result`."""

    def __init__(self, world: World, folder: Path, tool: Tool) -> None:
        self.world, self.folder, self.tool = world, folder, tool
        self.stages = Stages()
        self.registry = Registry([tool])
        self.position = -1
        self.answers(Outcome.REJECTED)

    def answers(self, *steps: Any) -> ScriptedResponder:
        """Let this script answer every ask from now on."""
        responder = ScriptedResponder(*steps)
        self.with_chain(responder)
        return responder

    def with_chain(self, *responders: Responder, **more: Any) -> None:
        """Put these responders into the chain."""
        dispatcher = self.world.chain(*responders, **more)
        self.pipeline = Pipeline(self.registry, dispatcher, self.world.clock, stages=self.stages)

    @property
    def context(self) -> RunContext:
        """Return what the calls of the turn share."""
        world = self.world
        return RunContext(world.log, world.lease, 1, world.signal, world.session, self.folder, "rehearsal")

    def make(self, name: str | None = None, *, arguments: str | None = None, turn: int = 1, **args: Any) -> ToolCall:
        """Return the next call of the model; `arguments` is the raw text that the vendor sent."""
        self.position += 1
        raw = json.dumps(args) if arguments is None else arguments
        return ToolCall(turn, 1, self.position, f"call_{self.position}", name or self.tool.name, escape(raw))

    async def call(self, *args: Any, **more: Any) -> Event:
        """Run one call to its result."""
        return await self.bring(self.make(*args, **more))

    async def bring(self, call: ToolCall, facts: CallFacts | None = None) -> Event:
        """Run a call, from the facts that the log holds, to its result."""
        await self.pipeline.run(call, self.context, facts or CallFacts())
        return await self.result(call)

    async def result(self, call: ToolCall) -> Event:
        """Return the call's result."""
        found = await self.world.store.lookup(self.world.session, keys.result(call.turn, call.step, call.position))
        assert found is not None
        return found

    async def batch(self, *calls: ToolCall, **more: Any) -> list[Event]:
        """Run the calls of one message."""
        await run_batch(self.pipeline, calls, self.context, **more)
        return [await self.result(call) for call in calls]

    async def set_mode(self, mode: SandboxMode, key: str = "m-1") -> None:
        """Switch the mode as a person would, beside the worker."""
        one(await self.world.store.append(self.world.session, [mode_switched(mode, by=BY, key=key)]))

    async def next_turn(self) -> None:
        """End turn 1 and forget; the calls of the tests stay in turn 1, so this starts it anew as turn 2."""
        await self.world.end()
        one(await self.world.store.append(self.world.session, [Draft("turn/start", {"turn": 2}, keys.turn(2))]))

    async def facts(self, call: ToolCall) -> CallFacts:
        """Return what the log holds about a call, as recovery reads it."""
        at = {"turn": call.turn, "step": call.step, "position": call.position}
        found: dict[str, Event] = {}
        for event in await self.world.events():
            data: Mapping[str, Any] = event.data
            if event.type == "approval/asked" and data["call"] == at:
                found["asked"] = event
            elif event.type == "approval/decided" and "asked" in found and data["id"] == found["asked"].data["id"]:
                found["decided"] = event
            elif event.type.startswith("tool/") and {name: data[name] for name in at} == at:
                found[{"call": "called"}.get(event.type[5:], event.type[5:])] = event
        return CallFacts(**found)

    async def reborn(self, tool: Tool | None = None) -> ToolWorld:
        """Return the world of a new worker on the same log."""
        other = ToolWorld(await self.world.reborn(), self.folder, tool or self.tool)
        other.position = self.position
        return other


@asynccontextmanager
async def tool_world(path: Path, tool: Tool | None = None) -> AsyncIterator[ToolWorld]:
    """Open a store and a session in a folder of the test."""
    clock = ManualClock()
    folder = (path / "work").resolve()
    folder.mkdir()
    facts = os.stat(folder)
    async with a_store(path, clock) as store:
        world = await new_world(store, clock, cwd=str(folder), cwd_id=f"{facts.st_dev}:{facts.st_ino}")
        world.signal = AbortSignal()
        yield ToolWorld(world, folder, tool or Probe())
    sandbox = getattr(tool, "_sandbox", None)
    if sandbox is not None:
        await sandbox.aclose()


__all__ = ["Probe", "ToolWorld", "replace", "tool_world"]
