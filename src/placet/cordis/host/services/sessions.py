"""What a half can know of its own session, and the one thing that it can say in it."""

from __future__ import annotations

import time
from typing import Any

from placet.approval.policy import PolicyFold
from placet.cordis import events, messages
from placet.cordis.host.errors import Refusal
from placet.cordis.host.half import Half
from placet.cordis.host.limits import Bucket
from placet.cordis.host.services.calling import Calling
from placet.kernel.clock import Clock
from placet.sandbox.mode import ModeFold
from placet.session import keys
from placet.session.event import Event
from placet.session.ids import new_message_id
from placet.session.store import Appended, Store
from placet.session.turn import TURNS

LONGEST_MESSAGE = 20_000
MESSAGES, TEXT = 100, 8_000
_INJECTIONS = (0.1, 10.0)


class Sessions:
    """Reads the own session and injects as the plugin; preset, mode, policy, decisions and consent are out of reach."""

    def __init__(self, calling: Calling, store: Store, clock: Clock, *, modes: ModeFold, policies: PolicyFold) -> None:
        self._calling, self._store, self._clock = calling, store, clock
        self._modes, self._policies = modes, policies
        self._said: dict[Half, Bucket] = {}

    def forget(self, half: Half) -> None:
        """Let go of what was counted for a half."""
        self._said.pop(half, None)

    async def state(self, half: Half) -> dict[str, Any]:
        """Return what the session is now."""
        log = await self._calling.log(half.facts.session)
        turn = log.see(TURNS)
        created = log.events[0].data
        return {
            "id": log.session,
            "cwd": created["cwd"],
            "title": _last(log.events, "session/renamed", "title") or created["title"],
            "model": _last(log.events, "session/model", "model"),
            "mode": log.see(self._modes).value,
            "policy": log.see(self._policies).value,
            "turn": turn.number,
            "turnOpen": turn.open,
        }

    async def messages(self, half: Half, params: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the newest messages, oldest first."""
        limit = params.get("limit")
        if not isinstance(limit, int) or not 1 <= limit <= MESSAGES:
            raise Refusal("bad-arguments", f"limit must be a whole number from 1 to {MESSAGES}")
        log = await self._calling.log(half.facts.session)
        found: list[dict[str, Any]] = []
        for event in reversed(log.events):
            if event.type in ("user/message", "assistant/message"):
                role = event.type.partition("/")[0]
                found.append({"role": role, "text": event.data["text"][:TEXT], "turn": event.data["turn"]})
                if len(found) == limit:
                    break
        return found[::-1]

    async def inject(self, half: Half, params: dict[str, Any]) -> None:
        """Leave a message for the agent, marked as the plugin's; it wakes nobody."""
        text = params.get("text")
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_MESSAGE:
            raise Refusal("bad-arguments", f"a message is a text of 1 to {LONGEST_MESSAGE} characters")
        now = time.monotonic()
        if not self._said.setdefault(half, Bucket(_INJECTIONS, now)).take(1, now):
            raise Refusal("too-many", "this plugin has left many messages already; at most one every ten seconds")
        facts = half.facts
        said = messages.of_plugin(facts.plugin, text)
        draft = events.told(facts.plugin, said, new_message_id(self._clock), wake=False)
        outcome = await self._store.append(
            facts.session, [draft], present=[keys.created()], absent=[events.stopped_key(facts.run)]
        )
        if not isinstance(outcome, Appended):
            raise Refusal("stopping", "the plugin was stopped")


def _last(log: Any, kind: str, field: str) -> Any:
    found: Event | None = next((event for event in reversed(log) if event.type == kind), None)
    return None if found is None else found.data[field]
