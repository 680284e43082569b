"""What can go wrong with the log; each class says whose fault it is and what to do."""

from __future__ import annotations

from collections.abc import Sequence


class SessionError(Exception):
    """The root of this room's errors."""


class BadDraft(SessionError, ValueError):
    """The caller's fault: a bad key, a type nobody knows, or data that no log can hold. Nothing was appended."""


class NotLossless(BadDraft):
    """The caller's fault: the value would not come back from JSON as it is. `path` names the spot."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class UnknownSession(SessionError, LookupError):
    """There is no session with this id: mistyped, or removed."""

    def __init__(self, session: str) -> None:
        super().__init__(f"there is no session {session}")
        self.session = session


class LeaseLost(SessionError):
    """Somebody else drives the session now: drop what is in memory and write nothing more."""

    def __init__(self, session: str) -> None:
        super().__init__(f"another worker drives session {session} now")
        self.session = session


class UnknownEvent(SessionError):
    """The log holds event types of a later placet that may not be skipped: open it with that one."""

    def __init__(self, session: str, names: Sequence[str]) -> None:
        self.names = tuple(sorted(set(names)))
        super().__init__(
            f"the log of {session} holds events that this placet does not know ({', '.join(self.names)}):"
            " it was written by a later version; update placet to open it"
        )


class StoreError(SessionError):
    """The store's fault, not the caller's."""


class StoreGone(StoreError):
    """The store did not answer, so nobody knows whether the append is there: look it up by its key, or stop working."""


class StoreRemoved(StoreGone):
    """The file was removed or replaced while it was open; nothing was appended. Stop, put it back, and start again."""


class StoreLocked(StoreGone):
    """Another process held the store for too long; nothing was appended. Try again, or find who holds it."""


class StoreFull(StoreGone):
    """The disk is full; nothing was appended. Free some space and try again."""


class StoreDamaged(StoreError):
    """The file is damaged, at the place that `where` names, and is never loaded in part: restore it from a copy.

    `session` is set where the damage is known to lie in the log of that session alone.
    """

    def __init__(self, where: str, why: str, *, session: str | None = None) -> None:
        super().__init__(f"the store is damaged at {where}: {why}")
        self.where = where
        self.why = why
        self.session = session


class StoreFormat(StoreError):
    """The file is no store of this format. The message names the direction: update placet, or convert the file."""
