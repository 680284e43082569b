"""Interpreters that wait, confined, for the next half of their session; no agent's code has run in them."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio

from placet.cordis.host.port import HostFailed
from placet.sandbox import Companion, Profile, SandboxError, SandboxMode
from placet.session.errors import SessionError
from placet.session.ids import SessionId

logger = logging.getLogger(__name__)

IDLE, AT_ONCE = 120.0, 4
"""How long one waits, and how many do in the whole process: one more takes the place of the oldest."""


@dataclass(eq=False, slots=True)
class _Spare:
    session: SessionId
    mode: SandboxMode
    profile: Profile | None = None
    companion: Companion | None = None
    taken: bool = False
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ready: anyio.Event = field(default_factory=anyio.Event)
    over: anyio.Event = field(default_factory=anyio.Event)

    async def end(self) -> None:
        """Return when nothing of it is left, or somebody has it."""
        self.scope.cancel()
        with anyio.CancelScope(shield=True):
            await self.over.wait()


class Spares:
    """One for a session at most. `profile` says what a half of that session and mode may touch, `start` starts one."""

    def __init__(
        self,
        profile: Callable[[SessionId, SandboxMode], Awaitable[Profile]],
        start: Callable[[Profile], Awaitable[Companion]],
    ) -> None:
        self._profile, self._start = profile, start
        self._kept: dict[SessionId, _Spare] = {}

    def waiting(self) -> list[Companion]:
        """Those that are started, the oldest first."""
        return [spare.companion for spare in self._kept.values() if spare.companion is not None]

    async def keep(self, session: SessionId, mode: SandboxMode, *, after: float = 0.0) -> None:
        """Have one wait, from some seconds on; returns when it waits no more. Never raises for what cannot be had."""
        older = self._kept.get(session)
        if older is not None and older.mode is mode:
            return
        spare = self._kept[session] = _Spare(session, mode)
        try:
            with spare.scope:
                for one in (older, *self._too_many()):
                    if one is not None:
                        await one.end()
                await anyio.sleep(after)
                await self._wait(spare)
        except (SandboxError, SessionError, HostFailed, OSError) as failure:
            logger.debug("no interpreter was kept waiting: %s", failure)
        except Exception:  # a fault of ours must not end the halves
            logger.exception("no interpreter was kept waiting")
        finally:
            await self._clear(spare)

    async def take(self, profile: Profile) -> Companion | None:
        """Return the one that waits under exactly this profile; one that waits under another is ended.

        Raises `WorkdirUnusable` or `WorkdirChanged` where the folder is not the one any more that it sees.
        """
        spare = self._kept.get(profile.session)
        if spare is None:
            return None
        if spare.profile is not None:
            await spare.ready.wait()
        companion = spare.companion
        if spare.profile == profile and companion is not None and not spare.taken:
            os.close(profile.workspace.open())
            spare.taken = True
            self._forget(spare)
            spare.scope.cancel()
            return companion
        await spare.end()
        return None

    async def end(self, session: SessionId) -> None:
        """End the one that waits for a session."""
        spare = self._kept.get(session)
        if spare is not None:
            await spare.end()

    async def end_all(self) -> None:
        """End all of them."""
        for spare in list(self._kept.values()):
            await spare.end()

    # ---- inside ----

    async def _wait(self, spare: _Spare) -> None:
        spare.profile = await self._profile(spare.session, spare.mode)
        spare.companion = await self._start(spare.profile)
        spare.ready.set()
        with anyio.move_on_after(IDLE):
            await spare.companion.wait()

    def _too_many(self) -> list[_Spare]:
        return list(self._kept.values())[: max(0, len(self._kept) - AT_ONCE)]

    def _forget(self, spare: _Spare) -> None:
        if self._kept.get(spare.session) is spare:
            del self._kept[spare.session]

    async def _clear(self, spare: _Spare) -> None:
        self._forget(spare)
        companion, spare.companion = spare.companion, None
        spare.ready.set()
        try:
            if companion is not None and not spare.taken:
                with anyio.CancelScope(shield=True):
                    await companion.end()
        finally:
            spare.over.set()
