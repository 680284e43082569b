"""Tool names as vendors take them, and back. A plugin's tool is called `<plugin>.<tool>`, and vendors refuse the dot.

A dot travels as two hyphens, which is easy to read and easy to undo. A name for which that would not lead back, or
that a vendor refuses for another reason, travels as a shortened form with a piece of its own hash. So two names never
meet on the way, and a name always has the same form, however often it is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256

from placet.agent.model.port import AssistantTurn, ModelRequest, ToolReturn

LONGEST = 64
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
_MARK = "--"


def wire_name(name: str) -> str:
    """The form in which a vendor hears of a tool: letters, digits, `_` and `-`, at most 64 of them."""
    wire = name.replace(".", _MARK)
    if wire and len(wire) <= LONGEST and not _REFUSED.search(wire) and wire.replace(_MARK, ".") == name:
        return wire
    piece = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{_REFUSED.sub('_', wire)[: LONGEST - len(piece) - 1]}-{piece}"


class Names:
    """The names of one request in both directions."""

    def __init__(self, names: Iterable[str]) -> None:
        self._own: Mapping[str, str] = {wire_name(name): name for name in names}

    @classmethod
    def of(cls, request: ModelRequest) -> Names:
        """All names that a request speaks of: the tools on offer, and those of earlier calls."""
        names = {tool.name for tool in request.tools}
        for message in request.messages:
            if isinstance(message, AssistantTurn):
                names.update(call.name for call in message.calls)
            elif isinstance(message, ToolReturn):
                names.add(message.name)
        return cls(names)

    def own_name(self, wire: str) -> str:
        """The tool that a vendor means; for one that nobody named before, what the form stands for."""
        return self._own.get(wire, wire.replace(_MARK, "."))
