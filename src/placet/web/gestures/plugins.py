"""What people do to plugins, and what their pages say of the halves that they have loaded."""

from __future__ import annotations

from typing import Any

from placet.cordis.answers import InvokeRefused, Receipt, RunRefused, SourceRefused, Stopped, StopRefused
from placet.cordis.registry import Plugin
from placet.cordis.vocabulary import Mode, PackageId, Phase, PluginId, RunId
from placet.session.codec import lossless
from placet.session.errors import NotLossless
from placet.web.desk import Desk
from placet.web.errors import ApiError, Conflict, NotFound, Unacceptable
from placet.web.gestures.senders import admit, person, strength
from placet.web.security.caller import Caller
from placet.web.views import plugins as views
from placet.web.wire_plugin import (
    ClientSource,
    HalfFailure,
    Invoke,
    Invoked,
    PluginEnded,
    PluginView,
    Revoke,
    RunPlugin,
    RunReceipt,
    Taken,
    Verdict,
)

_MISSING = frozenset({"plugin-missing", "package-missing"})


async def run(desk: Desk, caller: Caller, plugin: str, request: RunPlugin) -> RunReceipt:
    """Run a package for a person; one that needs consent opens the card (J7 as changed).

    Raises NotFound for what is not there, Conflict with the reason of a refusal, Forbidden.
    """
    await admit(desk, caller, "run a plugin")
    found = await views.find(desk, plugin)
    said = await desk.services.cordis.run(
        found.session,
        found.id,
        PackageId(request.package),
        Mode(request.mode),
        by=caller.by,
        call=None,
        key=request.key,
    )
    match said:
        case Receipt():
            return RunReceipt(
                status=said.status.value,
                plugin=said.plugin,
                package=said.package,
                run=said.run,
                mode=said.mode.value,
            )
        case RunRefused(reason, message):
            raise _refused(reason.value, message)


async def stop(desk: Desk, caller: Caller, plugin: str) -> PluginEnded:
    """Stop what runs or waits of a plugin. Raises NotFound, Conflict where another process runs it."""
    found = await views.find(desk, plugin)
    return _ended(await desk.services.cordis.stop(found.session, found.id, by=caller.by, told=True))


async def undefine(desk: Desk, caller: Caller, plugin: str) -> PluginEnded:
    """Stop a plugin and forget it. Raises NotFound, Conflict where another process runs it."""
    found = await views.find(desk, plugin)
    return _ended(await desk.services.cordis.undefine(found.session, found.id, by=caller.by, told=True))


async def revoke(desk: Desk, caller: Caller, plugin: str, request: Revoke) -> PluginView:
    """Take back one consent and return the plugin. Raises NotFound, Unacceptable."""
    if (request.package is None) != request.future:
        raise Unacceptable("send exactly one of package and future", code="bad-revoke")
    found = await views.find(desk, plugin)
    if request.package is not None and found.package(PackageId(request.package)) is None:
        raise NotFound("this plugin has no such package", code="package-missing")
    await desk.services.cordis.revoke(
        found.id,
        package=None if request.package is None else PackageId(request.package),
        future=request.future,
        who=person(caller),
        channel=str(caller.channel),
        evidence=caller.evidence,
        strength=await strength(desk, caller),
        key=request.key,
    )
    return views.plugin_view(desk, await views.find(desk, plugin))


async def verdict(desk: Desk, caller: Caller, plugin: str, request: Verdict) -> Taken:
    """Take a page's word on whether a client half has loaded."""
    found = await _owner(desk, plugin, request.run)
    if found is None:
        return Taken(accepted=False)
    if not request.ok and request.message is None:
        raise Unacceptable("say in message what went wrong", code="bad-verdict")
    accepted = await desk.services.cordis.verdict(
        RunId(request.run),
        ok=request.ok,
        phase=None if request.phase is None else Phase(request.phase),
        message=request.message,
        stack=request.stack,
        waiting_for=request.waiting_for,
        page=caller.key_id,
    )
    return Taken(accepted=accepted)


async def failure(desk: Desk, plugin: str, request: HalfFailure) -> Taken:
    """Take a page's word that a client half failed after it had loaded."""
    if await _owner(desk, plugin, request.run) is None:
        return Taken(accepted=False)
    accepted = await desk.services.cordis.report(
        RunId(request.run),
        phase=Phase(request.phase),
        slot=request.slot,
        message=request.message,
        stack=request.stack,
    )
    return Taken(accepted=accepted)


async def invoke(desk: Desk, plugin: str, request: Invoke) -> Invoked:
    """Call a method of the host half. Raises Conflict with the contract's code, Unacceptable for lossy arguments."""
    try:
        lossless(request.args, "args")
    except NotLossless as error:
        raise Unacceptable(str(error), code="not-json") from error
    said: Any = await desk.services.cordis.invoke(PluginId(plugin), RunId(request.run), request.method, request.args)
    if isinstance(said, InvokeRefused):
        raise Conflict(said.message, code=said.code.value)
    return Invoked(value=said)


async def source(desk: Desk, plugin: str, run: str) -> ClientSource:
    """Hand out the client half of the active run. Raises NotFound, Conflict for any other run."""
    found = await views.find(desk, plugin)
    said = await desk.services.cordis.source(found.id, RunId(run))
    if isinstance(said, SourceRefused):
        raise Conflict(said.message, code="not-active")
    active = found.attempt(RunId(run))
    return ClientSource(run=run, package="" if active is None else active.package, source=said)


async def _owner(desk: Desk, plugin: str, run: str) -> Plugin | None:
    """Return the plugin if it is there and the run is its own."""
    found = await views.look(desk, plugin)
    return None if found is None or found.attempt(RunId(run)) is None else found


def _ended(said: Stopped | StopRefused) -> PluginEnded:
    match said:
        case Stopped(plugin, was_running):
            return PluginEnded(plugin=plugin, was_running=was_running)
        case StopRefused(reason, message):
            raise _refused(reason, message)


def _refused(reason: str, message: str) -> ApiError:
    kind = NotFound if reason in _MISSING else Conflict
    return kind(message, code=reason)
