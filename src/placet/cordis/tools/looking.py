"""The three tools that only look (contract group N)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from placet.cordis.inspect import Inspection, Unanswered
from placet.cordis.inspect.plugins import summary, with_code, with_packages
from placet.cordis.registry import Plugin
from placet.cordis.service import Cordis
from placet.cordis.tools import words
from placet.cordis.tools.arguments import Nothing, Query, Self
from placet.cordis.tools.kind import CordisTool, refusal, told
from placet.cordis.vocabulary import PackageId, RunRefusal
from placet.session.ids import SessionId
from placet.tools.tool import Arguments, CallContext, ToolOutput


class _Looking(CordisTool):
    def parallel(self, args: Arguments) -> bool:
        """Looking disturbs nobody."""
        return True


class CordisInspectList(_Looking):
    """Lists who can be asked."""

    name = "cordis_inspect_list"
    description = words.INSPECT_LIST
    model: type[BaseModel] = Nothing

    def __init__(self, inspection: Inspection) -> None:
        self._inspection = inspection

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Return every provider with its methods."""
        manifest = self._inspection.manifest()
        return told(f"{len(manifest)} providers; ask one with cordis_inspect_query.", {"providers": manifest})


class CordisInspectQuery(_Looking):
    """Asks one of them."""

    name = "cordis_inspect_query"
    description = words.INSPECT_QUERY
    model: type[BaseModel] = Query

    def __init__(self, inspection: Inspection) -> None:
        self._inspection = inspection

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Return the method's answer, or why there is none."""
        asked = Query.model_validate(args)
        answer = await self._inspection.query(asked.platform, asked.provider, asked.method, asked.input, call.session)
        if isinstance(answer, Unanswered):
            return refusal(answer.reason.value, answer.message)
        value = {"platform": asked.platform, "provider": asked.provider, "method": asked.method, "data": answer}
        return told(f"{asked.provider}.{asked.method} of the {asked.platform} side:", value)


class CordisInspectSelf(_Looking):
    """Shows the agent its own plugins."""

    name = "cordis_inspect_self"
    description = words.INSPECT_SELF
    model: type[BaseModel] = Self

    def __init__(self, cordis: Cordis) -> None:
        self._cordis = cordis

    def check(self, args: Arguments) -> str | None:
        """Refuse a package of no plugin (N12)."""
        if args.get("packageId") is not None and args.get("pluginId") is None:
            return "packageId: it needs the pluginId that it belongs to"
        return super().check(args)

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Return all plugins of the session, one with its packages, or one package with its code."""
        plugins = await self._own(call.session)
        wanted, package = args.get("pluginId"), args.get("packageId")
        if wanted is None:
            value: dict[str, Any] = {"mode": "plugins", "plugins": [summary(plugin) for plugin in plugins]}
            return told(f"{len(plugins)} plugins in this session.", value)
        plugin = next((one for one in plugins if one.id == wanted), None)
        if plugin is None:
            known = ", ".join(one.id for one in plugins) or "none"
            return refusal(RunRefusal.PLUGIN_MISSING.value, words.no_plugin(wanted, known), pluginId=wanted)
        if package is None:
            return told(f"{plugin.id}, {plugin.state.value}.", {"mode": "plugin", **with_packages(plugin)})
        return await self._package(plugin, PackageId(package))

    async def _package(self, plugin: Plugin, id: PackageId) -> ToolOutput:
        package = plugin.package(id)
        code = None if package is None else await self._cordis.code(plugin, package)
        if package is None or code is None:
            known = ", ".join(one.id for one in plugin.packages)
            message = words.no_package(plugin.id, id, known)
            return refusal(RunRefusal.PACKAGE_MISSING.value, message, pluginId=plugin.id, packageId=id)
        return told(f"{plugin.id}/{id}, {package.name}.", {"mode": "package", **with_code(plugin, package, code)})

    async def _own(self, session: SessionId) -> list[Plugin]:
        return list(await self._cordis.plugins(session))
