"""Chooses the backend: the first that stands its trial, the verdict kept until something speaks against it."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .backend import Backend, Enforcement, ProbeResult

FORCE = "PLACET_SANDBOX"
"""For tests and for finding faults: `bubblewrap`, `landlock` or `none` leaves only that backend to choose from."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One backend and what its trial found; `result` is None if it was not tried because an earlier one is usable."""

    backend: Backend
    result: ProbeResult | None


class Selection:
    """Backends in order of preference. Trials run once each; `forget` has them run again."""

    def __init__(self, backends: Sequence[Backend], environ: Mapping[str, str] = os.environ) -> None:
        forced = environ.get(FORCE, "")
        self._backends = [backend for backend in backends if not forced or backend.name == forced]
        self._results: dict[str, ProbeResult] = {}
        self._lock = threading.Lock()

    def choose(self) -> Backend | None:
        """The first usable backend, or None if there is none. Blocks for the trials the first time."""
        with self._lock:
            return next((backend for backend in self._backends if self._result(backend).usable), None)

    def chosen(self) -> Backend | None:
        """The backend that the trials so far have chosen; None if that is not known yet. Never blocks."""
        for backend in self._backends:
            result = self._results.get(backend.name)
            if result is None or result.usable:
                return backend if result is not None else None
        return None

    def forget(self) -> None:
        """Throw the verdicts away: the next choice tries again."""
        with self._lock:
            self._results.clear()

    def verdicts(self) -> list[Verdict]:
        """What is known so far, without a new trial."""
        return [Verdict(backend, self._results.get(backend.name)) for backend in self._backends]

    def report(self) -> dict[str, Any]:
        """What `placet doctor --json` prints: every backend tried, and which one is chosen. These keys, no others."""
        tried = self.tried()
        chosen = next((backend.name for backend, result in tried if result.usable), None)
        return {
            "chosen": chosen,
            "backends": [
                {
                    "name": backend.name,
                    "usable": result.usable,
                    "enforcement": backend.enforcement.value,
                    "not_governed": list(backend.not_governed),
                    "why": result.why or None,
                }
                for backend, result in tried
            ],
        }

    def advice(self) -> str | None:
        """What would give the first backend that has an advice and is not usable; None if there is nothing to mend."""
        return next((result.hint for _, result in self.tried() if result.hint and not result.usable), None)

    def tried(self) -> list[tuple[Backend, ProbeResult]]:
        """Every backend with the verdict of its trial. Blocks for the trials that were not made yet."""
        with self._lock:
            return [(backend, self._result(backend)) for backend in self._backends]

    def refusal(self) -> tuple[str, str]:
        """Why nothing can be confined here, in one line, and what helps, the least drastic way first."""
        tried = [(backend, result) for backend, result in self.tried() if not _untested(backend)]
        why = "; ".join(f"{backend.name}: {result.why}" for backend, result in tried if not result.usable)
        hints = [result.hint for _, result in tried if result.hint]
        if not tried:
            return (
                "Your choice leaves no sandbox that placet would use, so the command was not run",
                "choose another backend, or leave the choice to placet (auto)",
            )
        return (
            f"No sandbox works on this machine ({why}), so the command was not run",
            "; or ".join([*hints, "run placet on a machine or in a container where one of them works"]),
        )

    def _result(self, backend: Backend) -> ProbeResult:
        if backend.name not in self._results:
            self._results[backend.name] = backend.probe()
        return self._results[backend.name]


def _untested(backend: Backend) -> bool:
    return backend.enforcement is Enforcement.UNTESTED
