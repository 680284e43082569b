"""Serves what halves ask for: each method of each service has one place here, and what is not here is refused."""

from __future__ import annotations

import logging
from typing import Any

import anyio

from placet.approval.policy import PolicyFold
from placet.cordis.host.errors import Refusal
from placet.cordis.host.half import Half
from placet.cordis.host.services.calling import SERVICES, Calling
from placet.cordis.host.services.heard import HEARD, Ears
from placet.cordis.host.services.offers import Offers
from placet.cordis.host.services.sessions import Sessions
from placet.cordis.host.services.tool import plugin_tool
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.kernel.scope import Scope, Undo
from placet.kernel.signal import AbortSignal
from placet.sandbox.mode import ModeFold
from placet.session.errors import SessionError
from placet.session.store import Store
from placet.tools.errors import NameTaken
from placet.tools.pipeline import Pipeline
from placet.tools.turns import Turns

logger = logging.getLogger(__name__)


_PACED = {"web.get", "web.post", "provide", "unprovide", "on", "tools.list", "sessions.state", "sessions.messages"}
"""What costs all others something, and therefore has a rate."""


class _Kept:
    """What the server keeps for one half: its ears, its tools, and the undo of all that it has registered."""

    def __init__(self, store: Store, half: Half) -> None:
        self.ears = Ears(store, half)
        self.tools: dict[str, Undo] = {}
        self.scope = Scope(f"half of {half.facts.plugin}")


class Desk:
    """The services of this process's halves."""

    events = tuple(HEARD)

    def __init__(
        self,
        pipeline: Pipeline,
        turns: Turns,
        store: Store,
        clock: Clock = SYSTEM_CLOCK,
        *,
        modes: ModeFold = ModeFold(),  # noqa: B008 - a frozen value
        policies: PolicyFold = PolicyFold(),  # noqa: B008 - a frozen value
    ) -> None:
        self._registry, self._store = pipeline.registry, store
        self._calling = Calling(pipeline, turns, store, modes=modes)
        self._sessions = Sessions(self._calling, store, clock, modes=modes, policies=policies)
        self._offers = Offers()
        self._kept: dict[Half, _Kept] = {}

    def begin(self, half: Half) -> None:
        """Take a half in."""
        self._kept[half] = _Kept(self._store, half)
        self._offers.begin(half)

    async def follow(self, half: Half) -> None:
        """Tell it what it listens to, as long as it lives."""
        kept = self._kept.get(half)
        if kept is None:
            await anyio.sleep_forever()
        else:
            await kept.ears.follow()

    def names(self, half: Half) -> tuple[str, ...]:
        """The services of plugins that there are in its session."""
        return self._offers.names(half.facts.session)

    def forget(self, half: Half) -> None:
        """Take back all that it has registered."""
        kept = self._kept.pop(half, None)
        if kept is None:
            return
        kept.scope.close()
        self._offers.forget(half)
        self._sessions.forget(half)
        if all(other.facts.session != half.facts.session for other in self._kept):
            self._calling.forget(half.facts.session)

    async def serve(self, half: Half, method: str, params: dict[str, Any], signal: AbortSignal) -> Any:
        """Do what a half asks for. Raises `Refusal`."""
        try:
            return await self._served(half, method, params, signal)
        except (Refusal, SessionError) as failure:
            if isinstance(failure, Refusal):
                raise
            raise Refusal("session-gone", "the session's log cannot be reached now") from failure
        except Exception as failure:  # a fault of ours must not end the half, nor its line
            logger.exception("the call %s of %s failed", method, half.facts.plugin)
            raise Refusal("failed", f"placet could not do this: {type(failure).__name__}") from failure

    async def _served(self, half: Half, method: str, params: dict[str, Any], signal: AbortSignal) -> Any:
        kept = self._kept.get(half)
        if kept is None:
            raise Refusal("stopping", "the plugin is stopping")
        if method in SERVICES:
            return await self._calling.call(half, method, params, signal)
        if method in _PACED:
            await half.paced()
        match method:
            case "web.get" | "web.post":
                return await self._calling.announce(half, method, params)
            case "provide":
                return self._offers.provide(half, params, half.limits.services)
            case "unprovide":
                return self._offers.withdraw(half, params.get("name"))
            case "service.call":
                return await self._offers.call(half, params)
            case "tool":
                return self._add_tool(half, kept, params)
            case "untool":
                undo = kept.tools.pop(str(params.get("name")), None)
                return None if undo is None else undo()
            case "on":
                return await self._listen(kept, params.get("event"))
            case "tools.list":
                tools = self._registry.tools(half.facts.session)
                return [
                    {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
                    for tool in tools
                ]
            case "sessions.state":
                return await self._sessions.state(half)
            case "sessions.messages":
                return await self._sessions.messages(half, params)
            case "sessions.inject":
                return await self._sessions.inject(half, params)
            case _:
                raise Refusal("no-method", f"there is no {method!r:.80} for plugins")

    def _add_tool(self, half: Half, kept: _Kept, params: dict[str, Any]) -> None:
        if len(kept.tools) >= half.limits.tools:
            raise Refusal("too-many", f"a plugin can add {half.limits.tools} tools at most")
        tool = plugin_tool(half, params)
        try:
            undo = self._registry.register(tool, half.facts.session)
        except NameTaken as taken:
            raise Refusal("bad-tool", f"there is a tool {taken.name} already: stop the older version first") from taken
        kept.tools[str(params["name"])] = undo
        kept.scope.add(tool.name, undo)

    async def _listen(self, kept: _Kept, event: Any) -> None:
        if not isinstance(event, str) or event not in HEARD:
            raise Refusal("no-event", f"there is no event {event!r:.80} for plugins; they hear: {', '.join(HEARD)}")
        await kept.ears.add(event)
