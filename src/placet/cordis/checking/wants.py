"""Which services and seats a package names in its code: a hint for whoever decides, never a promise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from placet.cordis.definition import Code

SEATS = (
    "shell.overlay",
    "sidebar.footer.action",
    "session.header",
    "conversation.chat.turnTail",
    "tool.call.toolview",
    "settings.section",
)
OWN = frozenset({"get", "provide", "on", "once", "effect", "log", "inject"})
"""What the context itself offers: no services."""

_MEMBER = re.compile(r"\bctx\s{0,8}\.\s{0,8}([A-Za-z_][A-Za-z0-9_]{0,63})")
_GET = re.compile(r"""\bctx\s{0,8}\.\s{0,8}get\s{0,8}\(\s{0,8}["']([^"'\\\n]{1,64})["']""")
_INJECT = re.compile(r"\binject\s{0,8}[=:]\s{0,8}[\[(]")
_INJECTS, _LIST = 20, 1000
"""How many lists are looked at, and how much of each: the text is the agent's, and the server reads it."""
_END = re.compile(r"[\])]")
_NAME = re.compile(r"""["']([^"'\\\n]{1,64})["']""")


@dataclass(frozen=True, slots=True)
class Wants:
    """Services that each half names, and the seats that the client half names, in the order in which it names them."""

    host: tuple[str, ...] = ()
    client: tuple[str, ...] = ()
    seats: tuple[str, ...] = ()

    @property
    def services(self) -> tuple[str, ...]:
        """The services that either half names."""
        return tuple(dict.fromkeys((*self.host, *self.client)))


def wants(code: Code) -> Wants:
    """Look for names in both halves. It reads the text and runs nothing; code can hide what it uses."""
    client = code.client or ""
    return Wants(_services(code.host or ""), _services(client), tuple(seat for seat in SEATS if seat in client))


def _services(text: str) -> tuple[str, ...]:
    """The names in `inject`, in `ctx.get(...)` and after `ctx.`; no other text counts."""
    found: dict[str, None] = {}
    for begun in islice(_INJECT.finditer(text), _INJECTS):
        listed = _END.split(text[begun.end() : begun.end() + _LIST], maxsplit=1)[0]
        found |= dict.fromkeys(_NAME.findall(listed))
    found |= dict.fromkeys(_GET.findall(text))
    found |= dict.fromkeys(name for name in _MEMBER.findall(text) if name not in OWN)
    return tuple(found)[:50]
