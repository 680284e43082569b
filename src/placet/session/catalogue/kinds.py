"""What the fields of events can hold, by kind. A reader may rely on it: a record that differs is not handed out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Test = Callable[[Any], bool]

WORDS: Mapping[str, tuple[str, ...]] = {
    "mode": ("read-only", "workspace-write", "danger-full-access"),
    "policy": ("ask", "never"),
    "outcome": ("allowed-once", "rejected", "cancelled", "unavailable"),
    "who-kind": ("person", "policy", "rule", "system"),
    "job-end": (
        "exited",
        "failed",
        "killed",
        "stopped",
        "turn-stopped",
        "narrowed",
        "archived",
        "deleted",
        "shutdown",
        "lost",
    ),
    "attempt-mode": ("run", "update"),
    "width": ("package", "future"),
    "status": (
        "awaiting-approval",
        "starting-host",
        "client-pending",
        "running",
        "waiting",
        "rejected",
        "failed",
        "cancelled",
        "stopped",
    ),
    "phase": (
        "approval",
        "host-load",
        "host-apply",
        "client-load",
        "client-apply",
        "client-render",
        "guard",
        "handler",
    ),
    "half": ("host", "client"),
}
"""The closed vocabularies of fields. Each has its home in the room that it belongs to; a test says that they agree."""


def _has(value: Any, **kinds: str) -> bool:
    return isinstance(value, dict) and all(name in value and KINDS[kind](value[name]) for name, kind in kinds.items())


KINDS: dict[str, Test] = {
    "text": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "object": lambda v: isinstance(v, dict),
    "list": lambda v: isinstance(v, list),
    "texts": lambda v: isinstance(v, list) and all(isinstance(item, str) for item in v),
    "by": lambda v: _has(v, kind="text", name="text"),
    "who": lambda v: _has(v, kind="who-kind", name="text"),
    "tagged": lambda v: _has(v, kind="text"),
    "call": lambda v: _has(v, turn="integer", step="integer", position="integer"),
    "message": lambda v: _has(v, id="text", text="text", source="tagged"),
    "JSON": lambda v: True,
    **{kind: words.__contains__ for kind, words in WORDS.items()},
}
