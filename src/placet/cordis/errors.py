"""What can go wrong in Cordis beside the refusals, which are values."""

from __future__ import annotations


class CordisError(Exception):
    """The root of this room's errors."""


class CheckUnavailable(CordisError):
    """The machine's fault: no sandbox could look at the code, so nothing was defined. `placet doctor` says why."""


class Overtaken(CordisError):
    """Nobody's fault: somebody else made an attempt first. Look again."""
