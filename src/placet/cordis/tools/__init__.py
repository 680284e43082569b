"""The seven tools by which an agent writes, starts and ends plugins, and looks at what there is."""

from __future__ import annotations

from placet.cordis.inspect import Inspection, Platform
from placet.cordis.inspect.catalogue import Entry
from placet.cordis.inspect.directory import builtins, events, services
from placet.cordis.inspect.page import COMPONENTS, SLOTS, THEME
from placet.cordis.inspect.tools import tools
from placet.cordis.service import Cordis
from placet.cordis.tools.acting import CordisDefine, CordisRun, CordisStop, CordisUndefine
from placet.cordis.tools.looking import CordisInspectList, CordisInspectQuery, CordisInspectSelf
from placet.cordis.tools.reference import References
from placet.cordis.tools.section import SECTION
from placet.session.ids import SessionId
from placet.tools.registry import Registry
from placet.tools.tool import Tool

__all__ = ["SECTION", "References", "cordis_tools"]


def cordis_tools(cordis: Cordis, registry: Registry) -> tuple[Tool, ...]:
    """Return the seven; the registry is that in which an agent's tools are looked up."""
    inspection = _inspection(cordis, registry)
    return (
        CordisInspectList(inspection),
        CordisInspectQuery(inspection),
        CordisInspectSelf(cordis),
        CordisDefine(cordis),
        CordisRun(cordis),
        CordisStop(cordis),
        CordisUndefine(cordis),
    )


def _inspection(cordis: Cordis, registry: Registry) -> Inspection:
    async def provided(session: SessionId) -> dict[str, Entry]:
        running = (plugin for plugin in await cordis.plugins(session) if plugin.active is not None)
        return {
            name: Entry(
                summary=f"Provided by the plugin {plugin.id} while it runs.",
                contract="Its methods are async, and take and return plain JSON; read the plugin's source for them.",
            )
            for plugin in running
            if plugin.active is not None
            for name in plugin.active.offer.provides
        }

    return Inspection(
        [
            services(Platform.HOST, provided),
            events(Platform.HOST),
            builtins(Platform.HOST),
            tools(registry.tools),
            services(Platform.CLIENT),
            events(Platform.CLIENT),
            builtins(Platform.CLIENT),
            SLOTS,
            THEME,
            COMPONENTS,
        ]
    )
