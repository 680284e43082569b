"""The four tools that change something: define, run, stop, undefine."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from placet.cordis.answers import DefineRefused, RunRefused, StopRefused
from placet.cordis.definition import Definition
from placet.cordis.errors import CheckUnavailable
from placet.cordis.service import Cordis
from placet.cordis.tools import words
from placet.cordis.tools.arguments import Define, ExistingPlugin, Named, Run
from placet.cordis.tools.kind import CordisTool, refusal, told
from placet.cordis.vocabulary import PackageId, PluginId, ReceiptStatus
from placet.tools.tool import Arguments, CallContext, ToolOutput

AGENT = {"kind": "agent", "name": "agent"}
"""The `by` of what the agent does by a tool."""
REFUSED, UNAVAILABLE = "DEFINE_REFUSED", "SANDBOX_UNAVAILABLE"


class _Acting(CordisTool):
    def __init__(self, cordis: Cordis) -> None:
        self._cordis = cordis


class CordisDefine(_Acting):
    """Writes down a package."""

    name = "cordis_define"
    description = words.DEFINE
    model: type[BaseModel] = Define

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Define it, or say why it cannot be one."""
        wish = Define.model_validate(args)
        existing = isinstance(wish.plugin, ExistingPlugin)
        definition = Definition(
            wish.name,
            wish.purpose,
            wish.code.host,
            wish.code.client,
            prefix=None if isinstance(wish.plugin, ExistingPlugin) else wish.plugin.idPrefix,
            plugin=PluginId(wish.plugin.pluginId) if isinstance(wish.plugin, ExistingPlugin) else None,
        )
        try:
            package = await self._cordis.define(call, definition)
        except CheckUnavailable as failure:
            return refusal(UNAVAILABLE, str(failure))
        if isinstance(package, DefineRefused):
            return refusal(REFUSED, f"{package.message}\nNothing was defined." if existing else package.message)
        ids = {"pluginId": package.plugin, "packageId": package.id}
        value = {
            **ids,
            "name": package.name,
            "purpose": package.purpose,
            "hasHostHalf": package.has_host,
            "hasClientHalf": package.has_client,
        }
        return told(words.defined(package.plugin, package.id), value, **ids)


class CordisRun(_Acting):
    """Starts a package, or has a person asked about it."""

    name = "cordis_run"
    description = words.RUN
    model: type[BaseModel] = Run

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Begin the run; what needs a person or the page is told later, by a message."""
        plugin, package = PluginId(args["pluginId"]), PackageId(args["packageId"])
        ids: dict[str, str] = {"pluginId": plugin, "packageId": package}
        receipt = await self._cordis.run(
            call.session, plugin, package, args["mode"], by=AGENT, call=call, policy=call.policy
        )
        if isinstance(receipt, RunRefused):
            attempt = {} if receipt.run is None else {"pluginRunId": str(receipt.run)}
            return refusal(receipt.reason.value, receipt.message, **ids, **attempt)
        names = (plugin, package, receipt.run)
        match receipt.status:
            case ReceiptStatus.AWAITING_APPROVAL:
                sentence = words.awaiting(*names)
            case ReceiptStatus.STARTING:
                sentence = words.starting(*names)
            case ReceiptStatus.RUNNING | ReceiptStatus.WAITING:
                sentence = words.running(*names, list(receipt.attempt.waiting_for))
        return told(sentence, receipt.json(), **ids, pluginRunId=receipt.run)


class CordisStop(_Acting):
    """Stops what runs of a plugin."""

    name = "cordis_stop"
    description = words.STOP
    model: type[BaseModel] = Named

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Stop it; one that does not run is stopped already (I27)."""
        plugin = PluginId(args["pluginId"])
        stopped = await self._cordis.stop(call.session, plugin, by=AGENT, told=False)
        if isinstance(stopped, StopRefused):
            return refusal(stopped.reason, stopped.message, pluginId=plugin)
        sentence = words.stopped(plugin, was_running=stopped.was_running)
        return told(sentence, {"pluginId": plugin}, pluginId=plugin)


class CordisUndefine(_Acting):
    """Forgets a plugin."""

    name = "cordis_undefine"
    description = words.UNDEFINE
    model: type[BaseModel] = Named

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Stop it and forget it."""
        plugin = PluginId(args["pluginId"])
        gone = await self._cordis.undefine(call.session, plugin, by=AGENT, told=False)
        if isinstance(gone, StopRefused):
            return refusal(gone.reason, gone.message, pluginId=plugin)
        value: dict[str, Any] = {"pluginId": plugin, "wasRunning": gone.was_running}
        return told(words.removed(plugin), value, pluginId=plugin)
