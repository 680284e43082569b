"""What can go wrong when tools are put together; what goes wrong in a call is a result, never an exception."""

from __future__ import annotations


class ToolsError(Exception):
    """Base of the room's errors."""


class NameTaken(ToolsError):
    """Two tools have the same name: a mistake of whoever registered the second one."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is a tool called {name!r} already")
        self.name = name
