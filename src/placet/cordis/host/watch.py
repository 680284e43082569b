"""What can end a half that nobody stops: its process, its line, what it prints, its bounds, a pulse that fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from placet.cordis.host.errors import HalfRaised, LineBroken
from placet.cordis.host.limits import Limits
from placet.cordis.host.line import Line
from placet.cordis.host.port import Cause, Ended
from placet.cordis.host.prints import Prints
from placet.cordis.vocabulary import Phase
from placet.sandbox import Companion
from placet.sandbox.backend import Exit

_GRACE = 0.5
"""Seconds for a process to end behind its line, so that the end is told and not the line."""
_MOMENT = 0.2
LINE_GONE = 83
"""The exit code of a half that finds its line gone, while placet is there: it has closed that itself."""


class Watch:
    """Watches one half; each method returns when there is an end to tell."""

    def __init__(self, companion: Companion, line: Line, prints: Prints, limits: Limits, settled: anyio.Event) -> None:
        self._companion, self._line, self._prints = companion, line, prints
        self._limits, self._settled = limits, settled

    def all(self) -> tuple[Callable[[], Awaitable[Ended]], ...]:
        """All that has to be watched; the first that returns tells the end."""
        return self.talk, self.exit, self.share, self.printing, self.pulse

    async def talk(self) -> Ended:
        try:
            await self._line.run()
        except LineBroken as broken:
            return await self._broken(broken)
        except BaseExceptionGroup as group:
            broken_ones = group.subgroup(LineBroken)
            if broken_ones is None or group.split(LineBroken)[1] is not None:
                raise
            return await self._broken(_first(broken_ones))
        raise AssertionError("a line ends by breaking")

    async def _broken(self, broken: LineBroken) -> Ended:
        with anyio.move_on_after(_GRACE):
            return await self.exit()
        return cut(str(broken))

    async def exit(self) -> Ended:
        ended = await self._companion.wait()
        if ended.signal == "SIGKILL":
            await anyio.sleep(_MOMENT)  # who has killed it for a bound says so now
            refused = self._companion.refused()
            if refused is not None:
                return cut(f"it had {refused}")
        return _crashed(ended)

    async def share(self) -> Ended:
        return cut(f"it had {await self._companion.exceeded()}")

    async def printing(self) -> Ended:
        try:
            await self._prints.watch()
        except LineBroken as broken:
            return cut(str(broken))
        raise AssertionError("only too much ends the printing")

    async def pulse(self) -> Ended:
        """Ping it. While it has the time of its start to itself, that bound speaks."""
        await self._settled.wait()
        while True:
            await anyio.sleep(self._limits.ping)
            try:
                await self._line.call("ping", {}, self._limits.silence, bounded=False)
            except TimeoutError:
                blocked = "its code blocks (a loop without `await`, or a call that does not return)"
                return cut(f"it did not answer for {self._limits.silence:g} seconds: {blocked}")
            except (LineBroken, HalfRaised):
                await anyio.sleep_forever()


def _first(group: BaseExceptionGroup[LineBroken]) -> LineBroken:
    found = group.exceptions[0]
    return found if isinstance(found, LineBroken) else _first(found)


def cut(why: str) -> Ended:
    return Ended(Cause.GUARD, Phase.GUARD, f"placet ended the plugin: {why}")


def _crashed(ended: Exit) -> Ended:
    if ended.code == LINE_GONE:
        return cut("it closed its line to placet")
    if ended.broken:
        how = "the sandbox broke"
    elif ended.signal is not None:
        how = f"it was killed by {ended.signal}"
    else:
        how = f"exit code {ended.code}"
    return Ended(Cause.CRASHED, Phase.GUARD, f"the plugin's process ended by itself ({how})")
