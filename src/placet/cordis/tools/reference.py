"""What the agent is told when the person writes `@` and the id of a plugin (contract O13)."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence

from placet.cordis.inspect.plugins import reference
from placet.cordis.registry import Plugin
from placet.session.ids import SessionId

_NAMED = re.compile(r"(?<![A-Za-z0-9_@-])@([a-z]{3,6}-[0-9]{1,18})(?![A-Za-z0-9_-])")
_MOST = 16
"""Plugins of which one message is told; a person who names more means none of them in particular."""

KNOWN = """\
placet adds, about the plugin @{plugin} that the user refers to:
{facts}
Whatever they want changed about it belongs into that plugin. Read its source first (cordis_inspect_self with pluginId \
and the packageId of basePackage), define the change as another package of the same plugin (kind "existing"), and then \
start it with cordis_run, mode "run" or "update". Never make another plugin in its place."""

UNKNOWN = """\
placet adds: the user refers to @{plugin}, but this session has no such plugin: it was removed, or belongs to another \
session. Tell the user so. Do not make another plugin in its place."""

Plugins = Callable[[SessionId], Awaitable[Iterable[Plugin]]]


def named(texts: Iterable[str]) -> list[str]:
    """Return the ids that texts of a person name as whole words, each once, in order."""
    return list(dict.fromkeys(match for text in texts for match in _NAMED.findall(text)))


class References:
    """Looks up what a person's messages refer to; `plugins` returns those of a session."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins

    async def __call__(self, session: SessionId, texts: Sequence[str]) -> Sequence[str]:
        """Return one text for each plugin that is named."""
        ids = named(texts)[:_MOST]
        if not ids:
            return ()
        own: dict[str, Plugin] = {plugin.id: plugin for plugin in await self._plugins(session)}
        return [_told(id, own.get(id)) for id in ids]


def _told(id: str, plugin: Plugin | None) -> str:
    if plugin is None:
        return UNKNOWN.format(plugin=id)
    return KNOWN.format(plugin=id, facts=json.dumps(reference(plugin), ensure_ascii=False))
