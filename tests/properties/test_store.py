"""Whatever is appended in whatever order, the store does what a list in memory does."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from placet.session import Appended, Draft, Event, Held, Lease, Refused, SessionId, Store
from placet.session.stores.sqlite import SqliteStore
from placet.testing.stores import fact

KEYS = ["created", "asked:1", "asked:2", "decided:1", "decided:2", "abort:1", "x"]
SESSIONS = [SessionId("s-a"), SessionId("s-b")]


@dataclass(frozen=True)
class Append:
    session: SessionId
    keys: tuple[str, ...]
    present: tuple[str, ...]
    absent: tuple[str, ...]
    lease: int | None
    handle: int


@dataclass(frozen=True)
class Other:
    what: str
    session: SessionId
    handle: int


KEY = st.sampled_from(KEYS)
APPENDS = st.builds(
    Append,
    st.sampled_from(SESSIONS),
    st.lists(KEY, min_size=1, max_size=3, unique=True).map(tuple),
    st.lists(KEY, max_size=1).map(tuple),
    st.lists(KEY, max_size=1).map(tuple),
    st.sampled_from([None, None, None, 0, 1]),
    st.integers(0, 1),
)
OTHERS = st.builds(
    Other, st.sampled_from(["acquire", "takeover", "release", "remove"]), st.sampled_from(SESSIONS), st.integers(0, 1)
)
BEGIN = [Append(session, ("created",), (), (), None, 0) for session in SESSIONS]


@dataclass
class Reference:
    """The contract in its simplest form."""

    logs: dict[SessionId, list[str]] = field(default_factory=dict)
    leases: dict[SessionId, Lease | None] = field(default_factory=dict)
    order: list[tuple[SessionId, str]] = field(default_factory=list)

    def append(self, step: Append, lease: Lease | None) -> tuple[str, str] | None:
        """None if it is appended, else why not and which key."""
        log = self.logs.get(step.session, [])
        if lease is not None and self.leases.get(step.session) != lease:
            return "lease", lease.holder
        for key in step.keys:
            if key in log:
                return "duplicate", key
        if not log and step.keys[0] != "created":
            return "present", "created"
        for key in step.present:
            if key not in log:
                return "present", key
        for key in step.absent:
            if key in log:
                return "absent", key
        self.logs[step.session] = [*log, *step.keys]
        self.order += [(step.session, key) for key in step.keys]
        return None

    def unpaired(self) -> list[str]:
        return [
            key
            for session, key in self.order
            if key.startswith("asked:") and key.replace("asked", "decided") not in self.logs[session]
        ]

    def remove(self, session: SessionId) -> None:
        self.logs.pop(session, None)
        self.leases[session] = None
        self.order = [entry for entry in self.order if entry[0] != session]


@given(st.lists(APPENDS | OTHERS, max_size=30))
@settings(max_examples=60, deadline=None)
def test_a_store_does_what_a_list_in_memory_does(steps: list[Append | Other]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_compare(Path(folder) / "placet.db", [*BEGIN, *steps]))


async def _compare(path: Path, steps: list[Append | Other]) -> None:
    async with await SqliteStore.open(path) as one, await SqliteStore.open(path) as two:
        stores: tuple[Store, Store] = (one, two)
        reference = Reference()
        taken: dict[tuple[SessionId, int], Lease] = {}
        for step in steps:
            store = stores[step.handle]
            if isinstance(step, Append):
                lease = None if step.lease is None else taken.get((step.session, step.lease))
                expected = reference.append(step, lease)
                answer = await store.append(
                    step.session, _drafts(step), present=step.present, absent=step.absent, lease=lease
                )
                _same(answer, expected)
            else:
                await _other(store, step, reference, taken)
        await _same_state(two, reference)
        assert await one.damage() == []


def _drafts(step: Append) -> list[Draft]:
    return [fact(key, n=n) for n, key in enumerate(step.keys)]


def _same(answer: Appended | Refused, expected: tuple[str, str] | None) -> None:
    if expected is None:
        assert isinstance(answer, Appended)
    else:
        assert isinstance(answer, Refused) and (answer.why, answer.key) == expected
        there: Event | None = answer.event
        assert (there is not None) == (answer.why in ("duplicate", "absent"))
        assert there is None or there.key == answer.key


async def _other(store: Store, step: Other, reference: Reference, taken: dict[Any, Lease]) -> None:
    holder = f"holder {step.handle}"
    if step.what == "remove":
        await store.remove(step.session)
        reference.remove(step.session)
    elif step.what == "release":
        if (mine := taken.get((step.session, step.handle))) is not None:
            await store.release(mine)
            if reference.leases.get(step.session) == mine:
                reference.leases[step.session] = None
    else:
        before = reference.leases.get(step.session)
        answer = await store.acquire(step.session, holder, lambda name: step.what == "acquire")
        if before is not None and before.holder != holder and step.what == "acquire":
            assert answer == Held(before.holder)
        else:
            assert isinstance(answer, Lease) and (before is None or answer.epoch == before.epoch + 1)
            assert answer.epoch > max(
                (lease.epoch for lease in taken.values() if lease.session == step.session), default=0
            )
            reference.leases[step.session] = taken[step.session, step.handle] = answer


async def _same_state(store: Store, reference: Reference) -> None:
    for session in SESSIONS:
        events = await store.read(session)
        assert [event.key for event in events] == reference.logs.get(session, [])
        assert [event.seq for event in events] == list(range(len(events)))
        assert await store.current_lease(session) == reference.leases.get(session)
    assert [(event.session, event.key) for event in await store.feed(0)] == reference.order
    assert [event.key for event in await store.unpaired("asked:", "decided:")] == reference.unpaired()
    assert {head.id for head in await store.sessions()} == set(reference.logs)
