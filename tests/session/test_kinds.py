"""A record that is whole but not what its type says is damage of its session, and of no other."""

from __future__ import annotations

import sqlite3
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from placet.approval.outcome import Outcome, Policy, WhoKind
from placet.cordis.vocabulary import AttemptStatus, Half, Mode, Phase, Width
from placet.sandbox import SandboxMode
from placet.session.catalogue.kinds import WORDS
from placet.session.codec import dumps
from placet.session.errors import BadDraft, StoreDamaged
from placet.session.event import Draft, Event
from placet.session.store import Appended
from placet.session.stores.rows import checksum
from placet.session.stores.sqlite import SqliteStore
from placet.testing.facts import fact, new_session
from placet.tools.jobs.record import Reason

pytestmark = pytest.mark.anyio

BY = {"kind": "person", "name": "owner"}
HOMES: dict[str, type[StrEnum]] = {
    "mode": SandboxMode,
    "policy": Policy,
    "outcome": Outcome,
    "who-kind": WhoKind,
    "job-end": Reason,
    "attempt-mode": Mode,
    "width": Width,
    "status": AttemptStatus,
    "phase": Phase,
    "half": Half,
}


def test_the_words_of_the_table_are_those_of_the_rooms_that_they_belong_to() -> None:
    assert {name: tuple(home) for name, home in HOMES.items()} == WORDS


@pytest.mark.parametrize(
    ("kind", "data", "lacks"),
    [
        ("turn/start", {"turn": "one"}, "turn is no integer"),
        ("turn/end", {"turn": 1, "reason": "completed"}, "reason is no tagged"),
        ("sandbox/mode", {"mode": "wide-open", "by": BY}, "mode is no mode"),
        ("approval/policy", {"by": BY}, "policy is missing"),
        ("agent/inbox", {"put": {"id": "m-1", "text": "go"}}, "put is no message"),
        ("agent/inbox", {"take": ["m-1"], "cancel": ["m-1"]}, "exactly one of put, take and cancel"),
        ("cordis/undefined", {"plugin": None, "wasRunning": False, "by": BY}, "plugin is null"),
    ],
)
async def test_f11_a_record_that_is_not_what_its_type_says_keeps_nobody_from_other_sessions(
    kind: str, data: dict[str, Any], lacks: str, tmp_path: Path
) -> None:
    path = tmp_path / "state" / "placet.db"
    async with await SqliteStore.open(path) as store:
        first, second = await new_session(store), await new_session(store)
        with pytest.raises(BadDraft, match=f"no {kind}: {lacks}"):
            await store.append(first, [Draft(kind, data, "odd")])
        appended = await store.append(first, [fact("odd")])
        assert isinstance(appended, Appended)
        [event] = appended.events
    _write_over(path, event, kind, dumps(data))
    async with await SqliteStore.open(path) as store:
        assert {event.session for event in await store.feed(0)} == {second}
        assert list(await store.damaged()) == [first]
        with pytest.raises(StoreDamaged, match=f"{first}, seq {event.seq}.*is no {kind} \\({lacks}"):
            await store.read(first)


def _write_over(path: Path, event: Event, kind: str, data: str) -> None:
    """Put another record in the place of an event, with the checksum that belongs to it."""
    total = checksum(event.session, event.seq, event.time, kind, event.key, data)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE event SET type = ?, data = ?, sum = ? WHERE pos = ?", (kind, data, total, event.pos))
    db.close()
