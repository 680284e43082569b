"""The tools that an agent can call, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from placet.kernel.bus import Bus
from placet.tools.errors import NameTaken
from placet.tools.tool import Tool


class Registry:
    """Tools by name; `changes` tells the name of each that comes or goes."""

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self.changes: Bus[str] = Bus("tools")
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool) -> Callable[[], None]:
        """Offer a tool; the returned undo takes it away. Raises `NameTaken`."""
        name = tool.name
        if name in self._tools:
            raise NameTaken(name)
        self._tools[name] = tool
        self.changes.notify(name)

        def undo() -> None:
            if self._tools.get(name) is tool:
                del self._tools[name]
                self.changes.notify(name)

        return undo

    def get(self, name: str) -> Tool | None:
        """Return the tool of that name, if there is one now."""
        return self._tools.get(name)

    def tools(self) -> tuple[Tool, ...]:
        """Return all tools in the order in which they came."""
        return tuple(self._tools.values())
