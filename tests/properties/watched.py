"""Parts of the machine over plugins: a store that looks at each commit, and host halves that wait to be let up."""

from __future__ import annotations

import asyncio
from typing import Any

from placet.cordis import events as log
from placet.cordis.host.port import HostFailed, RunFacts
from placet.cordis.vocabulary import AttemptStatus, Phase, RunId
from placet.kernel.clock import SystemClock
from placet.session import Event, Store
from placet.session.store import Appended
from placet.testing.faults import StoreWrapper
from tests.cordis.world import Half, Halves


class QuickClock(SystemClock):
    """Repetitions come at once."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0.001)


class Watched(StoreWrapper):
    """A store that looks at the processes in the moment of each commit."""

    def __init__(self, inner: Store, sins: list[str]) -> None:
        super().__init__(inner)
        self.sins, self.living = sins, lambda: set[RunId]()

    async def append(self, *args: Any, **more: Any) -> Any:
        outcome = await self.inner.append(*args, **more)
        if isinstance(outcome, Appended):
            for event in outcome.events:
                self._look(event)
        return outcome

    def _look(self, event: Event) -> None:
        data = event.data
        over = event.type in (log.DECLINED, log.STOPPED) or (
            event.type == log.SETTLED and not AttemptStatus(data["status"]).succeeded
        )
        if over and data["run"] in self.living():
            self.sins.append(f"{event.type} of {data['run']} was written while its host half ran")


class Gated(Halves):
    """Halves whose start waits for the machine to let it come up or fail."""

    def __init__(self, store: Store, sins: list[str]) -> None:
        super().__init__()
        self.store, self.sins = store, sins
        self.gates: dict[RunId, asyncio.Future[bool]] = {}

    async def start(self, facts: RunFacts, **more: Any) -> Half:
        run = facts.run
        asked = await self.store.find(log.requested_key(run))
        if asked is None or await self.store.find(log.settled_key(run)) is not None:
            self.sins.append(f"{run} was started although it has an outcome")
        elif asked.data["needsConsent"] and await self.store.find(log.consented_key(run)) is None:
            self.sins.append(f"{run} was started without a committed consent")
        gate = self.gates[run] = asyncio.get_running_loop().create_future()
        half = Half(self, facts, more["on_ended"], more.get("on_change", lambda: None))
        self.living[run] = half
        if sum(one.facts.plugin == facts.plugin for one in self.living.values()) > 1:
            self.sins.append("a plugin has two physical runs")
        try:
            if not await gate:
                raise HostFailed(Phase.HOST_APPLY, "it failed")
        except BaseException:
            self.living.pop(run, None)
            raise
        finally:
            self.gates.pop(run, None)
        return half
