"""What can go wrong when somebody turns a knob: always the caller's mistake, and nothing was written."""

from __future__ import annotations

from collections.abc import Iterable


class PermissionRefused(Exception):
    """Base of the room's errors."""


class UnknownPreset(PermissionRefused):
    """A preset that the table does not hold was named; `custom` is a description, not a choice (E6, E10)."""

    def __init__(self, value: object, known: Iterable[str]) -> None:
        super().__init__(f"unknown preset {value!r}; choose one of {', '.join(known)}")


class UnknownMode(PermissionRefused):
    """A sandbox mode outside the vocabulary was named."""

    def __init__(self, value: object, known: Iterable[str]) -> None:
        super().__init__(f"unknown sandbox mode {value!r}; choose one of {', '.join(known)}")
