"""Worker processes for the scenarios: this file is run as a program, and killed.

`python process.py DB turn SESSION` drives one session with a responder that answers by itself: line `a` is allowed,
line `b` is rejected with a note as soon as `a` has its result. `python process.py DB serve` is a crew whose asks wait
in the inbox. With PLACET_CRASH_AFTER=TYPE:N the process kills itself right after the N-th event of that type is
durable.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio

from placet.agent.crew import Crew
from placet.agent.worker import Worker
from placet.approval.inbox import Inbox
from placet.approval.outcome import Outcome, Who, WhoKind
from placet.approval.responder import Answer, Ask, Reply
from placet.kernel.chain import CallNext
from placet.kernel.clock import SYSTEM_CLOCK
from placet.session.ids import SessionId
from placet.session.store import Store
from placet.session.stores.sqlite import SqliteStore
from placet.testing.faults import CRASH_AFTER, FaultyStore
from placet.testing.models import Say, ScriptedModel, call
from tests.agent.house import kit_on, line_of

NOTE = "rather not"


def model() -> ScriptedModel:
    """Two calls in one message, under one id, both of which a person has to allow; then a closing text."""
    calls = (call("trace", "same", line="a", widen=True), call("trace", "same", line="b", widen=True))
    return ScriptedModel([Say("Two things.", calls), Say("Done.")], by_transcript=True)


class ByLine:
    """Allows `a`; rejects `b`, and only when the result of `a` is there, so that the order of events is known."""

    name = "by-line"

    def __init__(self, store: Store) -> None:
        self._store = store

    async def answer(self, ask: Ask, call_next: CallNext[Reply]) -> Reply:
        who = Who(WhoKind.RULE, "by-line")
        if line_of(ask.event) == "a":
            return Answer(Outcome.ALLOWED_ONCE, who, "test", "rule", "none")
        call = ask.subject.call
        async with self._store.doorbell() as bell:
            while await self._store.lookup(ask.session, f"result:{call.turn}.{call.step}.0") is None:
                await bell.wait(0.5)
        return Answer(Outcome.REJECTED, who, "test", "rule", "none", feedback=NOTE)


async def main(database: str, what: str, *sessions: str) -> None:
    """Be a worker or a server until the end, or until somebody kills this process."""
    async with await SqliteStore.open(Path(database)) as inner:
        store = FaultyStore(inner)
        if what == "serve":
            await Crew(kit_on(store, model(), responders=[Inbox(store, SYSTEM_CLOCK).responder()])).run()
        for session in sessions:
            await Worker(kit_on(store, model(), responders=[ByLine(store)]), SessionId(session)).run()


@contextmanager
def started(
    database: Path, what: str, *sessions: str, crash_after: str | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A process as above, killed at the end."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    if crash_after is not None:
        environment[CRASH_AFTER] = crash_after
    process = subprocess.Popen([sys.executable, __file__, str(database), what, *sessions], env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def crashed(database: Path, session: str, crash_after: str) -> None:
    """Let a worker drive a session until it kills itself."""
    with started(database, "turn", session, crash_after=crash_after) as process:
        code = process.wait(timeout=60)
    assert code == -signal.SIGKILL, f"the process ended with {code}: {crash_after} never became durable"


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
