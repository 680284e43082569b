"""The built-in check: no record is missing or changed, every event follows the table, and every pair is a pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from .catalogue import misfits
from .codec import canonical
from .errors import StoreDamaged
from .event import Event
from .ids import HOUSE, SessionId
from .store import Finding, Store

CHUNK = 5000


@dataclass(frozen=True, slots=True)
class Report:
    """What a check has looked at and what it found; `well` if that is nothing."""

    sessions: int
    events: int
    findings: tuple[Finding, ...]

    @property
    def well(self) -> bool:
        return not self.findings


async def verify(store: Store, session: SessionId | None = None) -> Report:
    """Check one session, or the whole store: its records first, then what each log says."""
    findings = await store.damage() if session is None else []
    wanted = [session] if session is not None else await _all(store, findings)
    count = 0
    for one in wanted:
        check = LogCheck()
        try:
            while chunk := await store.read(one, after=check.count - 1, limit=CHUNK):
                check.take(chunk)
        except StoreDamaged as error:
            check.findings.append(Finding(error.where, error.why))
        count += check.count
        places = {found.where for found in findings}
        findings += [found for found in check.findings if found.where not in places]
    return Report(len(wanted), count, tuple(findings))


async def _all(store: Store, findings: list[Finding]) -> list[SessionId]:
    """Every log there is; none, and a finding, where the file cannot say."""
    try:
        return [*(head.id for head in await store.sessions()), HOUSE]
    except StoreDamaged as error:
        if not findings:
            findings.append(Finding(error.where, error.why))
        return []


def check(events: Iterable[Event]) -> list[Finding]:
    """What is wrong with the events of one log, given from its beginning."""
    found = LogCheck()
    found.take(events)
    return found.findings


class LogCheck:
    """Follows one log and collects what is wrong with it. What is open at its end is not wrong."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.count = 0
        self._keys: set[str] = set()
        self._asks: dict[str, bool] = {}
        self._calls: dict[str, bool] = {}
        self._runs: dict[str, bool] = {}
        self._turn = 0
        self._open = False

    def take(self, events: Iterable[Event]) -> None:
        for event in events:
            for text in self._faults(event):
                self.findings.append(Finding(f"session {event.session}, seq {event.seq}", f"{event.type}: {text}"))
            self.count += 1

    def _faults(self, event: Event) -> list[str]:
        found = []
        if event.seq != self.count:
            found.append(f"it should be seq {self.count}")
            self.count = event.seq
        if event.key in self._keys:
            found.append(f"the key {event.key!r} is there twice")
        self._keys.add(event.key)
        misfit = misfits(event.type, event.data, event.key)
        return found + (misfit or self._meaning(event))

    def _meaning(self, event: Event) -> list[str]:
        """What does not follow from the events before it (F6, F7, A22)."""
        data = event.data
        match event.type:
            case "turn/start":
                return self._begin(data["turn"])
            case "turn/end":
                return self._end(data["turn"])
            case "approval/asked":
                self._asks[data["id"]] = False
                return [] if self._open else ["asked outside an open turn"]
            case "approval/decided":
                known = data["id"] in self._asks
                self._asks[data["id"]] = True
                return [] if known else [f"decided {data['id']}, which was never asked"]
            case "tool/call" | "tool/started" | "tool/result":
                place = f"{data['turn']}.{data['step']}.{data['position']}"
                known = place in self._calls
                self._calls[place] = event.type == "tool/result"
                return ["started a call that is not there"] if event.type == "tool/started" and not known else []
            case "cordis/defined":
                code = canonical({"host": data["host"], "client": data["client"]})
                whole = sha256(code).hexdigest() == data["digest"]
                return [] if whole else [f"the code of {data['package']} is not what its digest says"]
            case _ if event.type.startswith("cordis/") and "run" in data:
                return self._run(event.type, data["run"], data)
            case _:
                return []

    def _run(self, kind: str, run: str, data: Mapping[str, Any]) -> list[str]:
        """What is wrong with an event about an attempt to run a plugin: it must be there, and agreed to if need be."""
        if kind == "cordis/requested":
            self._runs[run] = not data["needsConsent"]
            return []
        if run not in self._runs:
            return [f"it speaks of {run}, which was never requested"]
        if kind == "cordis/consented":
            self._runs[run] = True
        return [f"started {run}, to which nobody agreed"] if kind == "cordis/started" and not self._runs[run] else []

    def _begin(self, turn: int) -> list[str]:
        found = [f"turn {self._turn} has not ended"] if self._open else []
        if turn != self._turn + 1:
            found.append(f"turn {turn} follows turn {self._turn}")
        self._turn, self._open = turn, True
        return found

    def _end(self, turn: int) -> list[str]:
        found = [] if self._open and turn == self._turn else [f"turn {turn} is not open"]
        found += [f"{ask} has no decision" for ask, decided in self._asks.items() if not decided]
        found += [f"call {place} has no result" for place, ended in self._calls.items() if not ended]
        self._open = False
        self._asks.clear()
        self._calls.clear()
        return found
