"""What one process knows of all sessions: their plugins, and the knobs that their runs depend on. Follows the feed."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from placet.approval.events import POLICY
from placet.approval.outcome import Policy
from placet.approval.policy import PolicyFold
from placet.cordis.definition import Code, Package
from placet.cordis.events import TYPES
from placet.cordis.registry import PLUGINS, Plugin, Plugins
from placet.sandbox.mode import ModeFold, SandboxMode
from placet.session.event import Event
from placet.session.ids import SessionId
from placet.session.store import Store

MODE, ARCHIVED, REMOVED = "sandbox/mode", "session/archived", "session/removed"
FOLLOWED = TYPES | {MODE, POLICY, ARCHIVED, REMOVED}

CHUNK = 100
"""Events that are read at a time: one may hold half a mebibyte of code."""


class Ledger:
    """The state after everything that was read; each event of the store is folded once, so reading costs what is new.

    `heard` is called with each new event, in order, after it was folded; it waits for nothing.
    """

    def __init__(
        self,
        store: Store,
        *,
        modes: ModeFold = ModeFold(),  # noqa: B008 - a frozen value
        policies: PolicyFold = PolicyFold(),  # noqa: B008 - a frozen value
    ) -> None:
        self._store, self._modes, self._policies = store, modes, policies
        self.heard: Callable[[Event], None] = lambda _: None
        self.plugins: Plugins = PLUGINS.start()
        self._mode: dict[SessionId, SandboxMode] = {}
        self._policy: dict[SessionId, Policy] = {}
        self._archived: set[SessionId] = set()
        self._cursor = 0
        self._reading = anyio.Lock()

    async def catch_up(self) -> Plugins:
        """Read what was appended since, by whomever. Raises `StoreError`."""
        async with self._reading:
            head = await self._store.head()
            if head <= self._cursor:
                return self.plugins
            while events := await self._store.feed(self._cursor, limit=CHUNK, types=FOLLOWED):
                for event in events:
                    self._take(event)
                    self._cursor = event.pos
                    self.heard(event)
            self._cursor = max(self._cursor, head)  # what follows nothing is not looked at again
        return self.plugins

    def _take(self, event: Event) -> None:
        session = event.session
        match event.type:
            case "sandbox/mode":
                self._mode[session] = self._modes.step(self.mode(session), event)
            case "approval/policy":
                self._policy[session] = self._policies.step(self.policy(session), event)
            case "session/archived":
                (self._archived.add if event.data["archived"] else self._archived.discard)(session)
            case _:
                self.plugins = PLUGINS.step(self.plugins, event)

    def mode(self, session: SessionId) -> SandboxMode:
        """Return the mode that a session is in."""
        return self._mode.get(session, self._modes.start())

    def policy(self, session: SessionId) -> Policy:
        """Return the approval policy of a session."""
        return self._policy.get(session, self._policies.start())

    def archived(self, session: SessionId) -> bool:
        """Return whether a session is put away."""
        return session in self._archived

    async def code(self, plugin: Plugin, package: Package) -> Code | None:
        """Return the stored code of a package, or None where it is not what its digest says (tampered, or gone)."""
        found = await self._store.read(plugin.session, after=package.seq - 1, limit=1)
        if not found or found[0].data.get("package") != package.id:
            return None
        code = Code(found[0].data["host"], found[0].data["client"])
        return code if code.digest == package.digest == found[0].data["digest"] else None
