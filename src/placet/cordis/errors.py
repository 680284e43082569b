"""What can go wrong in Cordis beside the refusals, which are values."""

from __future__ import annotations


class CordisError(Exception):
    """The root of this room's errors."""


class CheckUnavailable(CordisError):
    """The machine's fault: no sandbox could look at the code, so nothing was defined. `placet doctor` says why."""


class NoSuchRun(CordisError, LookupError):
    """The caller's fault: no log holds an attempt with this id."""

    def __init__(self, run: str) -> None:
        super().__init__(f"there is no run {run}")
        self.run = run
