"""Plugins as a panel shows them: everything but their code."""

from __future__ import annotations

from placet.cordis.attempt import Attempt, Diagnosis
from placet.cordis.definition import Package
from placet.cordis.registry import Consent, Plugin
from placet.cordis.vocabulary import HalfStatus, PackageId, PluginId
from placet.web.desk import Desk
from placet.web.errors import Conflict, NotFound
from placet.web.views import damage
from placet.web.wire import Signer
from placet.web.wire_plugin import (
    ActiveRun,
    AttemptView,
    ClientState,
    ConsentGiven,
    Diagnostic,
    Failure,
    HostState,
    PackageRow,
    PackageText,
    PendingRequest,
    Plugins,
    PluginView,
)


async def listed(desk: Desk) -> Plugins:
    """Return the plugins of all sessions, in the order in which they came, but those whose log is damaged."""
    await desk.summaries.catch_up()
    damaged = await desk.services.store.damaged()
    plugins = [plugin for plugin in await desk.services.cordis.plugins() if plugin.session not in damaged]
    notices = await damage.notices(desk.services.store)
    return Plugins(plugins=[plugin_view(desk, plugin) for plugin in plugins], notices=notices)


async def look(desk: Desk, plugin: str) -> Plugin | None:
    """Return a plugin as it stands now. Raises StoreDamaged if the log of its session is known to be."""
    found = await desk.services.cordis.plugin(PluginId(plugin))
    if found is not None:
        await desk.summaries.line(found.session)
    return found


async def find(desk: Desk, plugin: str) -> Plugin:
    """Return a plugin as it stands now. Raises NotFound, and StoreDamaged as `look` does."""
    found = await look(desk, plugin)
    if found is None:
        raise NotFound("there is no such plugin", code="plugin-missing")
    return found


async def package_text(desk: Desk, plugin: str, package: str) -> PackageText:
    """Return a package with its code. Raises NotFound, Conflict for code that is not what its digest says."""
    owner = await find(desk, plugin)
    found = owner.package(PackageId(package))
    if found is None:
        raise NotFound("this plugin has no such package", code="package-missing")
    code = await desk.services.cordis.code(owner, found)
    if code is None:
        raise Conflict("the stored code is not what its digest says", code="tampered")
    return PackageText(
        plugin=owner.id,
        package=found.id,
        name=found.name,
        purpose=found.purpose,
        host=code.host,
        client=code.client,
        digest=found.digest,
        defined_at=found.defined_at,
    )


def plugin_view(desk: Desk, plugin: Plugin) -> PluginView:
    """Return one plugin as it stands."""
    shown = plugin.package(plugin.current) or plugin.newest
    pending = plugin.pending
    return PluginView(
        plugin=plugin.id,
        session=plugin.session,
        session_name=desk.summaries.name(plugin.session, ""),
        name=shown.name,
        purpose=shown.purpose,
        state=plugin.state.value,
        packages=[_package(plugin, package) for package in plugin.packages],
        current=plugin.current,
        next=plugin.next,
        active_run=None if plugin.active is None else _active(plugin.active),
        latest=None if plugin.latest is None else _attempt(plugin.latest),
        pending=None if pending is None else _pending(pending),
        future=plugin.future,
        consents=[_consent(consent) for consent in plugin.consents],
        diagnostics=[_diagnostic(one) for one in plugin.diagnoses],
    )


def _package(plugin: Plugin, package: Package) -> PackageRow:
    return PackageRow(
        package=package.id,
        name=package.name,
        purpose=package.purpose,
        has_host_half=package.has_host,
        has_client_half=package.has_client,
        digest=package.digest,
        defined_at=package.defined_at,
        consented=not plugin.needs_consent(package),
    )


def _host(attempt: Attempt) -> HostState:
    offer = attempt.offer
    return HostState(
        status=attempt.host.value,
        provides=list(offer.provides),
        waiting_for=list(offer.waiting_for),
        handlers=list(offer.handlers),
    )


def _client(attempt: Attempt) -> ClientState:
    return ClientState(status=attempt.client.value, waiting_for=list(attempt.client_waiting_for))


def _active(attempt: Attempt) -> ActiveRun:
    return ActiveRun(
        run=attempt.run,
        package=attempt.package,
        status=attempt.status.value,
        host=_host(attempt),
        client=_client(attempt),
        client_half=attempt.client is not HalfStatus.ABSENT,
        started_at=attempt.started_at or attempt.requested_at,
    )


def _attempt(attempt: Attempt) -> AttemptView:
    fault = attempt.fault
    return AttemptView(
        run=attempt.run,
        package=attempt.package,
        mode=attempt.mode.value,
        status=attempt.status.value,
        host=_host(attempt),
        client=_client(attempt),
        phase=None if attempt.phase is None else attempt.phase.value,
        error=None if fault is None else Failure(message=fault.message, stack=fault.stack, line=fault.line),
        detail=attempt.detail,
        requested_at=attempt.requested_at,
        by=dict(attempt.by),
    )


def _pending(attempt: Attempt) -> PendingRequest:
    return PendingRequest(
        run=attempt.run, package=attempt.package, mode=attempt.mode.value, requested_at=attempt.requested_at
    )


def _consent(consent: Consent) -> ConsentGiven:
    return ConsentGiven(
        package=consent.package,
        width=consent.width.value,
        who=Signer.model_validate(dict(consent.who)),
        channel=consent.channel,
        at=consent.at,
    )


def _diagnostic(one: Diagnosis) -> Diagnostic:
    return Diagnostic(
        run=one.run,
        half=one.half.value,
        phase=one.phase.value,
        slot=one.slot,
        message=one.message,
        stack=one.stack,
        at=one.at,
    )
