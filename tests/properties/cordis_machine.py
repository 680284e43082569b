"""A machine that does to one plugin whatever can happen to it, in any order, on the real service and a real store.

Two pages show cards, click, fetch and judge; the agent runs packages; people stop and remove; host halves come up,
fail or die; the store refuses or loses its answer; the process dies and another one takes over. Each commit is looked
at in the moment in which it is made.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from placet.approval.outcome import Who, WhoKind
from placet.cordis import events as log
from placet.cordis.answers import Answered, BadResponse, NotPending, Receipt, RunRefused
from placet.cordis.definition import Definition, Package
from placet.cordis.registry import Plugin
from placet.cordis.vocabulary import AttemptStatus, PluginId, RunId
from placet.session import Lease, SessionLog, Store, StoreError
from placet.session.stores.sqlite import SqliteStore
from placet.testing.facts import appended, new_session, yes
from placet.testing.faults import Fault, FaultyStore
from tests.cordis.world import AGENT, CLIENT, PANEL, CordisWorld
from tests.properties.watched import Gated, QuickClock, Watched

OVER = (AttemptStatus.FAILED, AttemptStatus.CANCELLED, AttemptStatus.STOPPED, AttemptStatus.REJECTED)
ROUND_TRIPS = 12


@dataclass
class Page:
    """What one page shows, has fetched and runs."""

    card: tuple[RunId, str] | None = None
    fetched: RunId | None = None
    runs: RunId | None = None
    keys: int = 0
    sent: list[Any] = field(default_factory=list)


class CordisMachine(RuleBasedStateMachine):
    """One plugin, three packages (one without a client half), two pages."""

    runner: asyncio.Runner
    folder: Path
    store: Store

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do something, and let what follows from it go on for a while."""

        async def both() -> Any:
            try:
                return await asyncio.wait_for(work, 20)
            finally:
                for _ in range(ROUND_TRIPS):
                    await self.store.head()

        return self.runner.run(both())

    @initialize()
    def begin(self) -> None:
        self.sins: list[str] = []
        self.allowed: set[RunId] = set()
        self.pages = (Page(), Page())
        self.number, self.process = 0, 0
        self.tasks: list[asyncio.Task[None]] = []
        self.store = self.runner.run(SqliteStore.open(self.folder / f"{secrets.token_hex(8)}.db"))
        self.faulty = FaultyStore(self.store)
        self.watched = Watched(self.faulty, self.sins)
        self.do(self._begin())

    async def _begin(self) -> None:
        session = await new_session(self.store)
        appended(await self.store.append(session, [log.Draft("turn/start", {"turn": 1}, "turn:1")]))
        lease = await self.store.acquire(session, "worker", yes)
        assert isinstance(lease, Lease)
        opened = await SessionLog.open(self.store, session)
        self.world = CordisWorld(self.watched, session, lease, opened, self.folder)
        self.world.clock = QuickClock()
        await self._serve()
        self.packages: list[Package] = []
        for host, client in (("ok one", CLIENT), ("ok two", CLIENT), ("ok three", None)):
            plugin = self.packages[0].plugin if self.packages else None
            definition = Definition("Clock", "Shows.", host, client, prefix=None if plugin else "clock", plugin=plugin)
            package = await self.world.cordis.define(self.world.call(), definition)
            assert isinstance(package, Package)
            self.packages.append(package)
        self.id: PluginId = self.packages[0].plugin

    async def _serve(self) -> None:
        self.process += 1
        self.halves = Gated(self.store, self.sins)
        self.watched.living = lambda: set(self.halves.living)
        up, self.down = asyncio.Event(), asyncio.Event()

        async def serve() -> None:
            async with self.world.process(f"process-{self.process}", halves=self.halves):
                up.set()
                await self.down.wait()

        self.serving = asyncio.create_task(serve())
        await up.wait()

    # ---- what happens ----

    @rule(which=st.integers(0, 2), panel=st.booleans())
    def runs(self, which: int, panel: bool) -> None:
        """The agent, or a person in the panel, runs a package; a host-only one comes up in a task."""
        package = self.packages[which]

        async def run() -> None:
            plugin = await self.world.cordis.plugin(self.id)
            mode = "run" if plugin is None or plugin.current in (None, package.id) else "update"
            call = None if panel else self.world.call()
            self.number += 1
            try:
                answer = await self.world.cordis.run(
                    self.world.session, self.id, package.id, mode,
                    by=PANEL if panel else AGENT, call=call, key=f"run-{self.number}",
                )  # fmt: skip
            except StoreError:
                return
            assert isinstance(answer, Receipt | RunRefused)

        async def begun() -> None:
            task = asyncio.create_task(run())
            await asyncio.wait({task}, timeout=0.05)
            self.tasks.append(task)

        self.do(begun())

    @rule(
        which=st.integers(0, 2),
        page=st.integers(0, 1),
        word=st.sampled_from(["package", "future", "decline"]),
        far=st.integers(1, 5),
    )
    def goes_its_way(self, which: int, page: int, word: str, far: int) -> None:
        """The usual way, as far as it goes: run, answer, up, load, verdict."""
        self.runs(which, panel=False)
        if far > 1:
            self.shows(page)
            self.clicks(page, word, twice=False)
        if far > 2:
            self.start_ends(up=True)
        if far > 3:
            self.fetches(page)
        if far > 4:
            self.judges(page, ok=True)

    @rule(page=st.integers(0, 1))
    def shows(self, page: int) -> None:
        """A page shows the oldest card."""

        async def show() -> None:
            found = await self.world.cordis.requests()
            for row in found.rows:
                if row.plugin.id == self.id:
                    self.pages[page].card = (row.attempt.run, row.attempt.digest)

        self.do(show())

    @rule(page=st.integers(0, 1), word=st.sampled_from(["package", "future", "decline"]), twice=st.booleans())
    def clicks(self, page: int, word: str, twice: bool) -> None:
        """A page sends its answer, however old the card is by now, perhaps twice."""
        mine = self.pages[page]
        if mine.card is None:
            return
        (run, digest), mine.card = mine.card, None
        self.number += 1
        given = {
            "digest": digest, "who": self._who(page), "channel": "page", "evidence": "e", "strength": "s",
            "key": f"click-{self.number}",
        }  # fmt: skip

        async def send() -> Any:
            for _ in range(3):
                try:
                    if word == "decline":
                        return await self.world.cordis.decline(run, **given)
                    return await self.world.cordis.consent(run, width=word, **given)
                except StoreError:
                    continue
            return None

        first = self.do(send())
        assert first is None or isinstance(first, Answered | NotPending | BadResponse)
        if twice and isinstance(first, Answered):
            assert self.do(send()) == first

    @rule(up=st.booleans())
    def start_ends(self, up: bool) -> None:
        """A start that was under way comes up, or fails."""

        async def end() -> None:
            for gate in list(self.halves.gates.values()):
                if not gate.done():
                    gate.set_result(up)

        self.do(end())

    @rule()
    def half_dies(self) -> None:
        async def die() -> None:
            for run, half in list(self.halves.living.items()):
                if run not in self.halves.gates:
                    half.die()

        self.do(die())

    @rule(page=st.integers(0, 1))
    def fetches(self, page: int) -> None:
        """A page loads the client half of the active run."""

        async def fetch() -> None:
            plugin = await self.world.cordis.plugin(self.id)
            if plugin is None or plugin.active is None:
                return
            run = plugin.active.run
            source = await self.world.cordis.source(self.id, run)
            if isinstance(source, str):
                self.pages[page].fetched = run
                await self._may_run(run)

        self.do(fetch())

    async def _may_run(self, run: RunId) -> None:
        asked = await self.store.find(log.requested_key(run))
        agreed = await self.store.find(log.consented_key(run))
        if asked is None or (asked.data["needsConsent"] and agreed is None):
            self.sins.append(f"a page got code of {run}, which nobody agreed to")

    @rule(page=st.integers(0, 1), ok=st.booleans())
    def judges(self, page: int, ok: bool) -> None:
        """A page says whether what it has fetched, however long ago, has loaded."""
        run = self.pages[page].fetched
        if run is None:
            return

        async def judge() -> None:
            try:
                accepted = await self.world.cordis.verdict(
                    run, ok=ok, message=None if ok else "no", page=f"page-{page}"
                )
            except StoreError:
                return
            if accepted and ok and run not in self.halves.living:
                attempt = (await self.world.cordis.plugins(self.world.session))[0].attempt(run)
                if attempt is not None and attempt.host != "absent":
                    self.sins.append(f"{run} settled as running although its host half was dead")

        self.do(judge())
        self.pages[page].fetched = None

    @rule(panel=st.booleans())
    def stops(self, panel: bool) -> None:
        async def stop() -> None:
            try:
                await self.world.cordis.stop(self.world.session, self.id, by=PANEL, told=panel)
            except StoreError:
                return
            plugin = await self.world.cordis.plugin(self.id)
            if plugin is not None and (plugin.in_flight is not None or plugin.active is not None):
                self.sins.append("a stop has left something")

        self.do(stop())

    @precondition(lambda self: self.number > 5)
    @rule()
    def removes(self) -> None:
        async def remove() -> None:
            try:
                await self.world.cordis.undefine(self.world.session, self.id, by=PANEL, told=True)
            except StoreError:
                return
            if self.halves.living:
                self.sins.append("a removed plugin's code runs")

        self.do(remove())

    @rule(fault=st.sampled_from([Fault.REFUSE, Fault.LOSE_ACK]))
    def store_fails(self, fault: Fault) -> None:
        """The next append of anything about plugins fails, or its answer is lost."""
        if not self.faulty.pending:
            self.faulty.plan(fault)

    @rule()
    def crashes(self) -> None:
        """The process dies without a word, its halves with it, and another one takes over."""

        async def crash() -> None:
            async def nothing() -> None:
                return

            self.world.cordis._activation.close = nothing  # type: ignore[method-assign]
            self.halves.living.clear()
            self.serving.cancel()
            for task in self.tasks:
                task.cancel()
            await asyncio.gather(self.serving, *self.tasks, return_exceptions=True)
            self.tasks.clear()
            self.halves.living.clear()
            self.world.dead.add(f"process-{self.process}")
            await self._serve()

        self.do(crash())

    def _who(self, page: int) -> Any:
        return Who(WhoKind.PERSON, f"page {page}")

    # ---- what must hold ----

    @invariant()
    def nothing_forbidden_has_happened(self) -> None:
        assert getattr(self, "sins", []) == [], self.sins

    def teardown(self) -> None:
        if hasattr(self, "serving"):
            try:
                self.runner.run(self._calm())
            finally:
                self.runner.run(self.store.aclose())
            assert self.sins == [], self.sins

    async def _calm(self) -> None:
        """Let every start come up; then what is in the log, what lives and what was told agree."""
        async with asyncio.timeout(30), self.store.doorbell() as bell:
            while True:
                for gate in list(self.halves.gates.values()):
                    if not gate.done():
                        gate.set_result(True)
                found = await self.world.cordis.plugin(self.id)
                if found is None or self._is_calm(found):
                    break
                await bell.wait(0.05)
        if found is None:
            assert self.halves.living == {}
        self.down.set()
        await asyncio.gather(self.serving, *self.tasks, return_exceptions=True)
        self.tasks.clear()
        await self._check_log()

    def _is_calm(self, plugin: Plugin) -> bool:
        flight = plugin.in_flight
        if flight is not None and flight.status is AttemptStatus.STARTING_HOST:
            return False
        active = set() if plugin.active is None or plugin.active.host == "absent" else {plugin.active.run}
        return set(self.halves.living) == active

    async def _check_log(self) -> None:
        """One outcome per attempt, pointers that follow from it, and no outcome that the agent never hears of."""
        events = await self.store.read(self.world.session)
        asked = [event for event in events if event.type == log.REQUESTED]
        told = [event.data["put"]["text"] for event in events if event.type == "agent/inbox"]
        for event in asked:
            run = event.data["run"]
            ends = [one for one in events if one.type in (log.SETTLED, log.DECLINED) and one.data["run"] == run]
            assert len(ends) <= 1
            if ends and ends[0].type == log.DECLINED:
                assert not any(one.type == log.STARTED and one.data["run"] == run for one in events)
            if ends and event.data["needsConsent"] and event.data["call"] is not None:
                by_hand = ends[0].type == log.SETTLED and ends[0].data["by"] is not None
                assert by_hand or any(f"{run}" in text for text in told), f"nobody told the agent of {run}"
