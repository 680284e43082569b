"""Asks the helper: one that is kept warm for what only looks, a fresh one under the call's own profile for a write."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from placet.kernel.clock import Clock
from placet.sandbox.errors import HelperOverran, HelperStopped, SandboxUnavailable
from placet.sandbox.mode import SandboxMode
from placet.sandbox.policy import Profile, Workdir
from placet.session.ids import SessionId

from .process import Helper
from .requests import Inquiry, Message

Start = Callable[[Profile, Workdir], Awaitable[Helper]]

_WARM = 4
"""How many sessions have a warm helper at a time."""
_ATTEMPTS = 5


@dataclass(slots=True)
class _Place:
    """A session's warm helper, and the turn to use it."""

    turn: anyio.Lock = field(default_factory=anyio.Lock)
    helper: Helper | None = None
    bounds: tuple[Profile, Workdir] | None = None
    used: float = 0.0


class Helpers:
    """The helpers of one server.

    What only looks runs under the session's profile narrowed to read-only, in whichever mode the session is; so a
    warm helper can never write more than a later call may. With full access, and for writing, a fresh one is started.
    """

    def __init__(self, start: Start, clock: Clock) -> None:
        self._start, self._clock = start, clock
        self._places: dict[SessionId, _Place] = {}

    async def ask(self, inquiry: Inquiry, folder: Workdir, message: Message) -> dict[str, Any]:
        """Ask, within the time and until the stop.

        Raises `HelperOverran`, `HelperStopped` or `HelperFailed`; the helper is dead then. Raises what starting raises.
        """
        profile = inquiry.profile
        if inquiry.verb.writes or not profile.mode.confines:
            return await _unless_stopped(inquiry, lambda: self._once(inquiry, (profile, folder), message))
        narrow = replace(profile, mode=SandboxMode.READ_ONLY, escalated=False)
        place = self._places.setdefault(profile.session, _Place())
        answer = await _unless_stopped(inquiry, lambda: self._warm(inquiry, place, (narrow, folder), message))
        await self._cool(profile.session)
        return answer

    async def forget(self, session: SessionId) -> None:
        """End the session's warm helper."""
        place = self._places.pop(session, None)
        if place is not None:
            await _end(place)

    async def aclose(self) -> None:
        """End all."""
        for session in list(self._places):
            await self.forget(session)

    async def _once(self, inquiry: Inquiry, bounds: tuple[Profile, Workdir], message: Message) -> dict[str, Any]:
        with _time(inquiry):
            for attempt in range(_ATTEMPTS):
                helper = await self._start(*bounds)
                try:
                    return await helper.ask(message)
                except SandboxUnavailable:  # a file that vanished during set-up: nothing ran, so it is tried again
                    if attempt == _ATTEMPTS - 1:
                        raise
                finally:
                    await helper.end()
        raise HelperOverran(inquiry.seconds)

    async def _warm(
        self, inquiry: Inquiry, place: _Place, bounds: tuple[Profile, Workdir], message: Message
    ) -> dict[str, Any]:
        async with place.turn:
            if place.bounds != bounds:
                await _end(place)
            place.used = self._clock.monotonic()
            try:
                with _time(inquiry):
                    if place.helper is None:
                        place.helper, place.bounds = await self._start(*bounds), bounds
                    return await place.helper.ask(message)
            except SandboxUnavailable:
                await _end(place)
            except BaseException:
                await _end(place)
                raise
            else:
                await _end(place)
                raise HelperOverran(inquiry.seconds)
        return await self._once(inquiry, bounds, message)

    async def _cool(self, latest: SessionId) -> None:
        """Let go of the helpers that were not used for longest, where there are too many."""
        idle = [(place.used, session) for session, place in self._places.items() if not place.turn.locked()]
        for _, session in sorted(idle)[: max(0, len(self._places) - _WARM)]:
            if session != latest:
                await self.forget(session)


def _time(inquiry: Inquiry) -> anyio.CancelScope:
    return anyio.move_on_after(inquiry.seconds)


async def _unless_stopped(inquiry: Inquiry, ask: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """Wait for the answer, but not past the stop; the helper that was asked is ended then."""
    signal = inquiry.signal
    if signal is None:
        return await ask()
    if signal.aborted:
        raise HelperStopped("The turn was stopped before this was done")
    with anyio.CancelScope() as scope:
        undo = signal.on_abort(lambda _: scope.cancel())
        try:
            return await ask()
        finally:
            undo()
    raise HelperStopped("The turn was stopped while this was done")


async def _end(place: _Place) -> None:
    """End the helper of a place, whatever else is going on."""
    helper, place.helper, place.bounds = place.helper, None, None
    if helper is not None:
        with anyio.CancelScope(shield=True), suppress(OSError):
            await helper.end()
