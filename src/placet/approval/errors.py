"""What can go wrong with an ask before it exists. Refused answers are values, see `answer`."""

from __future__ import annotations


class ApprovalError(Exception):
    """Base of the room's errors."""


class NoOpenTurn(ApprovalError):
    """An ask was made outside an open turn: the caller's mistake, nothing was logged (A2)."""

    def __init__(self, turn: int) -> None:
        super().__init__(f"turn {turn} is not open: an ask can only be made inside an open turn")


class SubjectInvalid(ApprovalError):
    """The text of a subject cannot be what a person signs: whoever built or stored it made a mistake."""


class SubjectTooLarge(ApprovalError):
    """Nobody can be shown so much: the call ends with `TOO_LARGE_TO_SHOW` and nobody is asked."""

    def __init__(self, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(f"what a person would have to read is {size} bytes; the limit is {limit}")


class UnknownPolicy(ApprovalError):
    """A policy outside `ask` and `never` was named: the caller's mistake, nothing was written (A18)."""

    def __init__(self, value: object) -> None:
        super().__init__(f"unknown approval policy {value!r}; use 'ask' or 'never'")


class UnknownResponder(ApprovalError):
    """The order of the chain does not name this responder: a mistake in the configuration or in the composition."""

    def __init__(self, name: str, order: tuple[str, ...]) -> None:
        told = ", ".join(order) or "empty"
        super().__init__(f"responder {name!r} has no place in the chain; the configured order is {told}")
