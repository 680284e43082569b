"""Define: check first, then record under new numbers; a refusal leaves no trace (H3 to H8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from placet.cordis import events as log
from placet.cordis.admission import MISSING
from placet.cordis.answers import DefineRefused
from placet.cordis.definition import PACKAGES, PLUGINS, Code, Definition, Package
from placet.cordis.registry import Plugins
from placet.cordis.running.ledger import Ledger
from placet.cordis.vocabulary import PACKAGE, PLUGIN, PackageId, PluginId
from placet.session.errors import LeaseLost
from placet.session.event import Draft, Event
from placet.session.ids import SessionId
from placet.session.store import Appended, Numbered, Refused
from placet.tools.tool import CallContext


class Checks(Protocol):
    """Looks at code before it is defined, where it can do no harm."""

    async def complaint(self, call: CallContext, definition: Definition) -> str | None:
        """Return what is wrong with the code, or None. Raises `CheckUnavailable`."""
        ...


class Defining:
    """Defines packages."""

    def __init__(self, ledger: Ledger, checks: Checks) -> None:
        self._ledger, self._checks = ledger, checks

    async def define(self, call: CallContext, definition: Definition) -> Package | DefineRefused:
        """Check and record a package. Raises `LeaseLost`, `StoreError`, `CheckUnavailable`."""
        wanted = definition.trimmed()
        complaint = wanted.complaint()
        if complaint is not None:
            return DefineRefused(complaint)
        complaint = _no_room(await self._ledger.catch_up(), call.session, wanted.plugin)
        if complaint is not None:
            return DefineRefused(complaint)
        complaint = await self._checks.complaint(call, wanted)
        if complaint is not None:
            return DefineRefused(complaint)
        return await self._record(call, wanted)

    async def _record(self, call: CallContext, wanted: Definition) -> Package | DefineRefused:
        key = call_key(call)
        absent = [] if wanted.plugin is None else [log.undefined_key(wanted.plugin)]
        outcome = await call.log.append(_defined(wanted, key), absent=absent, lease=call.lease)
        match outcome:
            case Refused("lease"):
                raise LeaseLost(call.session)
            case Refused("duplicate", event=Event() as event):
                id = PackageId(event.data["package"])
            case Refused():
                return DefineRefused(MISSING.format(plugin=wanted.plugin))
            case Appended(events):
                id = PackageId(events[0].data["package"])
        plugins = await self._ledger.catch_up()
        found = (plugin.package(id) for plugin in plugins.of(call.session))
        package = next((one for one in found if one is not None), None)
        return package or DefineRefused("the plugin was removed while this was defined")


def _no_room(plugins: Plugins, session: SessionId, id: PluginId | None) -> str | None:
    """Why there is no place for one more package, or None."""
    if id is None:
        if len(plugins.of(session)) < PLUGINS:
            return None
        return (
            f"this session has {PLUGINS} plugins already: change one of them (give its pluginId), or remove one that"
            " nobody needs with cordis_undefine"
        )
    plugin = plugins.owned(session, id)
    if plugin is None:
        return MISSING.format(plugin=id[:64])
    if len(plugin.packages) < PACKAGES:
        return None
    return (
        f"{id} has {PACKAGES} packages already: run one of these, or tell the user that you start it afresh, remove it"
        " with cordis_undefine and define it anew"
    )


def call_key(call: CallContext) -> str:
    """Return the server's name of a call as text, `T.S.P`."""
    return f"{call.key.turn}.{call.key.step}.{call.key.position}"


def _defined(wanted: Definition, call: str) -> Numbered:
    """The package's event, with the numbers that it gets."""
    code = Code.of(wanted.host, wanted.client)

    def make(numbers: Mapping[str, int]) -> list[Draft]:
        data = {
            "plugin": wanted.plugin or f"{wanted.prefix}-{numbers[PLUGIN]}",
            "package": f"pkg-{numbers[PACKAGE]}",
            "name": wanted.name,
            "purpose": wanted.purpose,
            "host": code.host,
            "client": code.client,
            "digest": code.digest,
            "call": call,
        }
        return [Draft(log.DEFINED, data, log.defined_key(call))]

    counters = (PACKAGE,) if wanted.plugin is not None else (PLUGIN, PACKAGE)
    return Numbered(counters, make, log.defined_key(call))
