"""A machine that does to one ask whatever can happen to it, in any order, on a real store.

The worker's appends pass a gate, so that anything else can happen before and after each commit: answers of two people,
a stop, a switch of policy or mode, a failing responder, a store that refuses or loses its answer, a crash, a second
worker while the first one is only paused.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import anyio
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from placet.approval import (
    Dispatcher,
    Inbox,
    NotPending,
    Outcome,
    Receipt,
    Responders,
    Who,
    WhoKind,
    grants,
)
from placet.kernel.signal import AbortSignal
from placet.permission import mode_switched
from placet.sandbox.mode import SandboxMode
from placet.session import Draft, Event, Lease, LeaseLost, SessionId, SessionLog, StoreGone, keys, new_id
from placet.session.store import Appended, Store
from placet.testing.clock import ManualClock
from placet.testing.faults import Fault
from placet.tools import CallContext, CallFacts, Pipeline, Registry, RunContext, ToolCall, ToolOutput
from tests.approval.world import BY, one
from tests.properties.gated import GatedStore, Unsteady
from tests.tools.world import Probe

TOLD = {"APPROVAL_REJECTED": "rejected", "APPROVAL_CANCELLED": "cancelled", "APPROVAL_UNAVAILABLE": "unavailable"}
NOT_STARTED = {"TOOL_NOT_STARTED", "ABORTED_BEFORE_DISPATCH", *TOLD}
ARGUMENTS = '{"what":"this","sandbox_permissions":"danger-full-access","justification":"because"}'


class Worker:
    """One worker on the session: its own memory, its own view of the stop."""

    def __init__(self, machine: AskMachine, lease: Lease, log: SessionLog) -> None:
        self.machine, self.lease, self.log = machine, lease, log
        self.store = GatedStore(machine.store, lease, machine.sins)
        log.store = self.store
        self.signal, self.unsteady = AbortSignal(), Unsteady()
        self.inbox = Inbox(self.store, machine.clock)
        responders = Responders(("unsteady", "inbox"))
        responders.register(self.unsteady)
        responders.register(self.inbox.responder())
        dispatcher = Dispatcher(self.store, responders, machine.clock)
        self.pipeline = Pipeline(Registry([machine.probe]), dispatcher, machine.clock)
        self.task: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Bring the call to its result, from what the log holds, and end the turn."""
        machine = self.machine
        if await machine.store.lookup(machine.session, keys.abort(1)):
            self.signal.abort("user")
        run = RunContext(self.log, self.lease, 1, self.signal, machine.session, machine.folder, "rehearsal")
        facts = await machine.facts()
        try:
            await self.pipeline.run(machine.call, run, facts)
            data = {"turn": 1, "reason": {"kind": "completed"}}
            await self.log.append([Draft("turn/end", data, keys.end(1))], lease=self.lease)
        except (LeaseLost, StoreGone):
            return

    @property
    def alive(self) -> bool:
        return self.task is not None and not self.task.done()

    def holds(self) -> bool:
        """Whether it waits for a person."""
        return bool(self.inbox._people._waiting)


class AskMachine(RuleBasedStateMachine):
    """One ask and everything that can happen to it."""

    runner: asyncio.Runner
    store: Store
    clock: ManualClock
    folder: Path

    @initialize(gates=st.integers(0, 9))
    def begin(self, gates: int) -> None:
        """Begin with a worker that has come so far."""
        self.workers: list[Worker] = []
        self.answers: list[tuple[Who, str, object]] = []
        self.sins: list[str] = []
        self.stopped = False
        self.switches = 0
        self.probe = Probe(self._body)
        self._do(self._begin())
        self.a_worker_starts()
        for _ in range(gates):
            self.appends_go_on(0, 1, None)

    async def _begin(self) -> None:
        self.session = SessionId(new_id("s"))
        facts = os.stat(self.folder)
        cwd_id = f"{facts.st_dev}:{facts.st_ino}"
        created = {"v": 1, "cwd": str(self.folder), "cwdId": cwd_id, "title": None, "gitRoots": [], "by": BY}
        start = Draft("turn/start", {"turn": 1}, keys.turn(1))
        one(await self.store.append(self.session, [Draft("session/created", created, "created"), start]))
        self.call = ToolCall(1, 1, 0, "call_x", "probe", ARGUMENTS)

    async def _body(self, args: dict[str, Any], call: CallContext) -> ToolOutput:
        """The body looks around at the moment when it starts."""
        facts = await self.facts()
        if facts.started is None or facts.decided is None or not grants(Outcome(facts.decided.data["outcome"])):
            self.sins.append("a body started without a durable grant")
        if facts.asked is None or call.mode != facts.asked.data["subject"]["toMode"]:
            self.sins.append("a body started in another mode than the card showed")
        if self.stopped:
            self.sins.append("a body started after the stop was acknowledged")
        return ToolOutput("ok")

    # What can happen.

    @precondition(lambda self: not any(w.alive for w in self.workers) and not self._ended())
    @rule()
    def a_worker_starts(self) -> None:
        self._do(self._start())

    @precondition(lambda self: any(w.alive for w in self.workers) and len(self.workers) < 6 and not self._ended())
    @rule()
    def another_worker_takes_over(self) -> None:
        """The first one is not dead, only paused."""
        self._do(self._start())

    @rule(pick=st.integers(0, 7), times=st.integers(1, 4), fault=st.sampled_from([None, None, None, Fault.REFUSE]))
    def appends_go_on(self, pick: int, times: int, fault: Fault | None) -> None:
        """The commit happens or fails; after it the acknowledgement arrives or is lost."""
        for left in range(times, 0, -1):
            waiting = [w.store.gate for w in self.workers if w.store.gate]
            if waiting:
                gate = waiting[pick % len(waiting)]
                gate.fault = fault if left == 1 else None
                gate.passed.set()
                self._do(self._quiet())

    @precondition(lambda self: any(w.alive for w in self.workers))
    @rule(again=st.booleans())
    def all_workers_die(self, again: bool) -> None:
        """A crash, with or without a restart at once."""
        for worker in [w for w in self.workers if w.alive]:
            self._do(self._kill(worker))
        if again and not self._ended():
            self._do(self._start())

    @precondition(lambda self: self._asked())
    @rule(name=st.sampled_from(["Ada", "Bob"]), outcome=st.sampled_from(["allowed-once", "allowed-once", "rejected"]))
    def somebody_answers(self, name: str, outcome: str) -> None:
        self._do(self._answer(name, outcome, None))

    @precondition(lambda self: self._asked())
    @rule(name=st.sampled_from(["Ada", "Bob"]))
    def somebody_answers_about_other_bytes(self, name: str) -> None:
        self._do(self._answer(name, "allowed-once", "0" * 64))

    @precondition(lambda self: not self.stopped and not self._ended())
    @rule(really=st.sampled_from([False, False, True]))
    def somebody_stops_the_turn(self, really: bool) -> None:
        if really:
            self._do(self._stop())

    @rule(policy=st.sampled_from(["ask", "never"]))
    def the_policy_is_switched(self, policy: str) -> None:
        self.switches += 1
        key = keys.client("policy", str(self.switches))
        draft = Draft("approval/policy", {"policy": policy, "by": BY}, key)
        self._do(self.store.append(self.session, [draft]))

    @rule(mode=st.sampled_from([SandboxMode.READ_ONLY, SandboxMode.WORKSPACE_WRITE]))
    def the_mode_is_switched(self, mode: SandboxMode) -> None:
        self.switches += 1
        self._do(self.store.append(self.session, [mode_switched(mode, by=BY, key=str(self.switches))]))

    @precondition(lambda self: any(w.alive and w.holds() for w in self.workers))
    @rule()
    def a_responder_fails(self) -> None:
        for worker in self.workers:
            worker.unsteady.fails.set()
        self._do(self._quiet())

    @rule(minutes=st.sampled_from([1, 11]))
    def time_passes(self, minutes: int) -> None:
        self.clock.tick(minutes * 60)

    # What always holds.

    @invariant()
    def the_log_keeps_the_rules(self) -> None:
        if not hasattr(self, "session"):
            return
        events = self._do(self.store.read(self.session))
        asked = {e.data["id"]: e for e in events if e.type == "approval/asked"}
        decided = [e for e in events if e.type == "approval/decided"]
        started = [e for e in events if e.type == "tool/started"]
        results = [e for e in events if e.type == "tool/result"]
        assert self.sins == []
        assert len(self.probe.runs) <= 1, "one grant ran twice"
        assert len({e.data["id"] for e in decided}) == len(decided), "an ask has two decisions"
        assert len(started) <= 1 and len(results) <= 1 and len(asked) <= 1
        self._decisions_are_right(asked, decided)
        self._answers_are_true({e.data["id"]: e for e in decided})
        for result in results:
            self._result_is_true(result, decided, started)
        self._nothing_after_the_stop(events)
        if any(e.type == "turn/end" for e in events):
            assert len(results) == 1 and len(decided) == len(asked)

    def _nothing_after_the_stop(self, events: list[Event]) -> None:
        stop = next((e.seq for e in events if e.type == "turn/abort"), None)
        for event in events:
            if stop is not None and event.seq > stop:
                assert event.type not in ("approval/asked", "tool/started"), f"{event.type} after the stop"
                if event.type == "approval/decided":
                    assert event.data["outcome"] == "cancelled", "an answer counted after the stop"

    def _decisions_are_right(self, asked: dict[str, Event], decided: list[Event]) -> None:
        for event in decided:
            policy, kind = asked[event.data["id"]].data["policy"], event.data["who"]["kind"]
            assert event.seq > asked[event.data["id"]].seq
            assert event.data["digest"] == asked[event.data["id"]].data["digest"]
            if kind == "person":
                assert policy == "ask", "a person was asked although the policy was never"
            if event.data["outcome"] == "allowed-once":
                assert kind == "person"

    def _answers_are_true(self, decided: dict[str, Event]) -> None:
        for who, outcome, answer in self.answers:
            if isinstance(answer, Receipt):
                event = decided[answer.ask]
                assert (event.data["outcome"], event.data["who"]["name"]) == (outcome, who.name)
            if isinstance(answer, NotPending) and answer.decision is not None:
                assert (answer.decision.outcome, answer.decision.who.name) != (outcome, who.name)

    def _result_is_true(self, result: Event, decided: list[Event], started: list[Event]) -> None:
        code = result.data["code"]
        if code in NOT_STARTED:
            assert self.probe.runs == [], f"{code}, but the body started"
        if code == "TOOL_OUTCOME_UNKNOWN":
            assert started, "outcome unknown, though the log proves that nothing started"
        if code == "TOOL_NOT_STARTED":
            assert not started
        if code in TOLD:
            assert [e.data["outcome"] for e in decided] == [TOLD[code]]

    def teardown(self) -> None:
        """With fair steps, an answering person and no further faults the ask settles and the turn ends."""
        if not hasattr(self, "session"):
            return
        for _ in range(60):
            if self._ended():
                break
            if not any(w.alive for w in self.workers):
                self.a_worker_starts()
            for worker in [w for w in self.workers if w.store.gate]:
                if worker.store.gate is not None:
                    worker.store.gate.passed.set()
            self._do(self._quiet())
            if any(w.alive and w.holds() for w in self.workers):
                self._do(self._answer("Ada", "allowed-once", None))
        assert self._ended(), "the turn never ended"
        self.the_log_keeps_the_rules()
        for worker in self.workers:
            if worker.alive:
                self._do(self._kill(worker))

    # How it is done.

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    def _asked(self) -> bool:
        return hasattr(self, "session") and self._do(self.facts()).asked is not None

    def _ended(self) -> bool:
        return hasattr(self, "session") and self._do(self.store.lookup(self.session, keys.end(1))) is not None

    async def facts(self) -> CallFacts:
        """Return what the log holds about the call."""
        found: dict[str, Event] = {}
        names = {"tool/call": "called", "tool/started": "started", "tool/result": "result"}
        names |= {"approval/asked": "asked", "approval/decided": "decided"}
        for event in await self.store.read(self.session):
            if event.type in names:
                found[names[event.type]] = event
        return CallFacts(**found)

    async def _start(self) -> None:
        lease = await self.store.acquire(self.session, new_id("w"), lambda _: False)
        assert isinstance(lease, Lease)
        worker = Worker(self, lease, await SessionLog.open(self.store, self.session))
        self.workers.append(worker)
        worker.task = asyncio.get_running_loop().create_task(worker.run())
        await self._quiet()

    async def _kill(self, worker: Worker) -> None:
        assert worker.task is not None
        worker.task.cancel()
        worker.store.gate = None
        await asyncio.gather(worker.task, return_exceptions=True)

    async def _answer(self, name: str, outcome: str, digest: str | None) -> None:
        facts = await self.facts()
        if facts.asked is None:
            return
        who = Who(WhoKind.PERSON, name)
        answer = await Inbox(self.store, self.clock).answer(
            facts.asked.data["id"],
            outcome=outcome,
            digest=facts.asked.data["digest"] if digest is None else digest,
            key=f"{name}-{outcome}",
            who=who,
            channel="page",
            evidence="signature",
            strength="page-key",
        )
        if digest is not None:
            assert not isinstance(answer, Receipt)
        else:
            self.answers.append((who, outcome, answer))
        await self._quiet()

    async def _stop(self) -> None:
        data = {"turn": 1, "reason": "user", "by": BY}
        answer = await self.store.append(
            self.session, [Draft("turn/abort", data, keys.abort(1))], present=[keys.turn(1)], absent=[keys.end(1)]
        )
        if isinstance(answer, Appended):
            self.stopped = True
            for worker in self.workers:
                worker.signal.abort("user")
        await self._quiet()

    async def _quiet(self) -> None:
        """Return when every living worker stands at a gate or waits for a person who has not answered."""
        with anyio.fail_after(60):
            while not await self._all_wait():
                pass  # each look reads the store, and lets the workers go on meanwhile

    async def _all_wait(self) -> bool:
        undecided = bool(await self.store.unpaired("asked:", "decided:"))
        for worker in self.workers:
            if worker.alive and not (worker.store.gate and not worker.store.gate.passed.is_set()):
                waits = worker.holds() and undecided and not worker.signal.aborted
                if not waits or worker.unsteady.fails.is_set():
                    return False
        return True
