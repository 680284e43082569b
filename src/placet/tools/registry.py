"""The tools that an agent can call, by name: those of all sessions, and those that only one session sees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from placet.kernel.bus import Bus
from placet.session.ids import SessionId
from placet.tools.errors import NameTaken
from placet.tools.tool import Tool


class Registry:
    """Tools by name; `changes` tells the name of each that comes or goes."""

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._of_sessions: dict[SessionId, dict[str, Tool]] = defaultdict(dict)
        self.changes: Bus[str] = Bus("tools")
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool, session: SessionId | None = None) -> Callable[[], None]:
        """Offer a tool, to all sessions or to one; the returned undo takes it away. Raises `NameTaken`.

        No tool of a session can take the name of one that all have, whichever came first.
        """
        name = tool.name
        taken = self.get(name, session) is not None
        if taken or (session is None and any(name in tools for tools in self._of_sessions.values())):
            raise NameTaken(name)
        where = self._tools if session is None else self._of_sessions[session]
        where[name] = tool
        self.changes.notify(name)

        def undo() -> None:
            if where.get(name) is tool:
                del where[name]
                self.changes.notify(name)

        return undo

    def get(self, name: str, session: SessionId | None = None) -> Tool | None:
        """Return the tool of that name, if the session has one now; without a session, one that all have."""
        found = self._tools.get(name)
        if found is None and session in self._of_sessions:
            return self._of_sessions[session].get(name)
        return found

    def tools(self, session: SessionId | None = None) -> tuple[Tool, ...]:
        """Return all tools in the order in which they came, those of the session after the others."""
        own = self._of_sessions.get(session, {}) if session is not None else {}
        return (*self._tools.values(), *own.values())
