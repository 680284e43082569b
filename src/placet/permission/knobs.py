"""Turning the knobs: people do it, without a lease, and the last accepted turn wins everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import anyio

from placet.approval.outcome import Policy
from placet.approval.policy import policy_switched
from placet.permission.escalation import wider
from placet.permission.preset import (
    PERMISSIONS,
    TYPES,
    PermissionFold,
    Permissions,
    Preset,
    mode_switched,
    preset_named,
    preset_selected,
)
from placet.sandbox.mode import SandboxMode
from placet.session.errors import UnknownSession
from placet.session.event import Draft
from placet.session.fold import folded
from placet.session.ids import SessionId
from placet.session.store import Appended, Refused, Store


@dataclass(frozen=True, slots=True)
class Change:
    """What a turn of the knobs does: from where to where, and the events that say so (none: nothing changes)."""

    before: Permissions
    after: Permissions
    drafts: tuple[Draft, ...]

    @property
    def policy(self) -> tuple[Policy, Policy] | None:
        """Return the old and the new policy, if it changes."""
        return None if self.before.policy is self.after.policy else (self.before.policy, self.after.policy)

    @property
    def mode(self) -> tuple[SandboxMode, SandboxMode] | None:
        """Return the old and the new mode, if it changes."""
        return None if self.before.mode is self.after.mode else (self.before.mode, self.after.mode)

    @property
    def narrows(self) -> bool:
        """Whether less can be touched afterwards."""
        return wider(self.after.mode, self.before.mode)


Also = Callable[[Change], Sequence[Draft]]
"""What else goes into the same append: the agent's room adds the message that tells the model (A19)."""


def nothing_else(_: Change) -> Sequence[Draft]:
    """Add nothing."""
    return ()


def plan_preset(state: Permissions, preset: Preset, *, by: dict[str, Any], key: str) -> Change:
    """Plan the selection of a preset: its record if another one is effective, then the knobs that differ (E3, E4)."""
    drafts = []
    if state.current != preset.value:
        drafts.append(preset_selected(preset, by=by, key=key))
    if state.mode is not preset.mode:
        drafts.append(mode_switched(preset.mode, by=by, key=key))
    if state.policy is not preset.policy:
        drafts.append(policy_switched(preset.policy, by=by, key=key))
    recorded = preset.value if state.current != preset.value else state.recorded
    return Change(state, Permissions(recorded, preset.mode, preset.policy), tuple(drafts))


def plan_knobs(
    state: Permissions,
    *,
    mode: SandboxMode | None = None,
    policy: Policy | None = None,
    by: dict[str, Any],
    key: str,
) -> Change:
    """Plan a turn of one knob, or of both; the recorded preset stays, and may no longer hold."""
    new = Permissions(state.recorded, mode or state.mode, policy or state.policy)
    drafts = []
    if new.mode is not state.mode:
        drafts.append(mode_switched(new.mode, by=by, key=key))
    if new.policy is not state.policy:
        drafts.append(policy_switched(new.policy, by=by, key=key))
    return Change(state, new, tuple(drafts))


class Knobs:
    """Reads and turns the knobs of any session, whether a worker lives or not."""

    def __init__(self, store: Store, fold: PermissionFold = PERMISSIONS) -> None:
        self._store, self._fold = store, fold
        self._locks: WeakValueDictionary[SessionId, anyio.Lock] = WeakValueDictionary()

    async def state(self, session: SessionId) -> Permissions:
        """Return where the knobs stand now."""
        return (await self._read(session))[0]

    async def select(
        self, session: SessionId, preset: str, *, by: dict[str, Any], key: str, also: Also = nothing_else
    ) -> Change:
        """Select a preset. Raises `UnknownPreset` or `UnknownSession`; the same key again changes nothing."""
        chosen = preset_named(preset)
        return await self._turn(session, lambda state, key: plan_preset(state, chosen, by=by, key=key), key, also)

    async def turn(
        self,
        session: SessionId,
        *,
        mode: SandboxMode | None = None,
        policy: Policy | None = None,
        by: dict[str, Any],
        key: str,
        also: Also = nothing_else,
    ) -> Change:
        """Set the mode, the policy or both, leaving the other one alone (D20)."""
        return await self._turn(
            session, lambda state, key: plan_knobs(state, mode=mode, policy=policy, by=by, key=key), key, also
        )

    async def _turn(
        self, session: SessionId, plan: Callable[[Permissions, str], Change], key: str, also: Also
    ) -> Change:
        """Append the planned events, and again what another process's turn has undone in between."""
        lock = self._locks.setdefault(session, anyio.Lock())
        async with lock:
            state, seen = await self._read(session)
            first = change = plan(state, key)
            attempt = 0
            while change.drafts:
                outcome = await self._store.append(session, [*change.drafts, *also(change)])
                if isinstance(outcome, Refused):
                    return await self._already(session, outcome)
                state, seen, alone = await self._overtaken(session, state, seen, outcome)
                if alone:
                    break
                attempt += 1
                change = plan(state, f"{key}~{attempt}")
            return Change(first.before, first.after, first.drafts)

    async def _already(self, session: SessionId, refused: Refused) -> Change:
        """The same key was recorded before: tell what is in force now."""
        if refused.why != "duplicate":
            raise UnknownSession(session)
        state = await self.state(session)
        return Change(state, state, ())

    async def _overtaken(
        self, session: SessionId, state: Permissions, seen: int, appended: Appended
    ) -> tuple[Permissions, int, bool]:
        """Return the state at our own events, and whether nobody else turned a knob between reading and appending."""
        last = appended.events[-1].pos
        events = [e for e in await self._store.feed(seen, types=TYPES, session=session) if e.pos <= last]
        alone = all(event.pos >= appended.events[0].pos for event in events)
        for event in events:
            state = self._fold.step(state, event)
        return state, last, alone

    async def _read(self, session: SessionId) -> tuple[Permissions, int]:
        if await self._store.lookup(session, "created") is None:
            raise UnknownSession(session)
        events, after = [], 0
        while found := await self._store.feed(after, types=TYPES, session=session):
            events += found
            after = found[-1].pos
        return folded(self._fold, events), after
