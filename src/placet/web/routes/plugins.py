"""Plugins: what they are and run, what people do to them, and what pages say of the halves that they have loaded."""

from typing import Annotated

from fastapi import APIRouter, Path

from placet.web.desk import DeskDep
from placet.web.gestures import plugins as gestures
from placet.web.rights import Channel, Right, needs
from placet.web.security.caller import CallerDep
from placet.web.views import plugins as views
from placet.web.wire import ErrorBody, Keyed
from placet.web.wire_plugin import (
    ClientSource,
    HalfFailure,
    Invoke,
    Invoked,
    PackageText,
    PluginEnded,
    Plugins,
    PluginView,
    Revoke,
    RunPlugin,
    RunReceipt,
    Taken,
    Verdict,
)

router = APIRouter(tags=["plugins"])

Id = Annotated[str, Path(pattern=r"^[a-z]{3,6}-[0-9]{1,15}$")]
Package = Annotated[str, Path(pattern=r"^pkg-[0-9]{1,15}$")]
Run = Annotated[str, Path(pattern=r"^run-[0-9]{1,15}$")]


@router.get("/api/plugins", dependencies=[needs(Right.READ)])
async def plugins(desk: DeskDep) -> Plugins:
    """List the plugins of all sessions, without their code."""
    return await views.listed(desk)


@router.get("/api/plugins/{id}/packages/{package}", dependencies=[needs(Right.READ)])
async def package(desk: DeskDep, id: Id, package: Package) -> PackageText:
    """Read one package of a plugin with its code."""
    return await views.package_text(desk, id, package)


@router.post(
    "/api/plugins/{id}/run",
    dependencies=[needs(Right.ANSWER)],
    responses={409: {"model": ErrorBody, "description": "Refused; the code is the reason"}},
)
async def run(desk: DeskDep, caller: CallerDep, id: Id, request: RunPlugin) -> RunReceipt:
    """Run a package; one that needs consent opens the card, whoever asks."""
    return await gestures.run(desk, caller, id, request)


@router.post(
    "/api/plugins/{id}/stop",
    dependencies=[needs(Right.SEND)],
    responses={
        409: {"model": ErrorBody, "description": "It lives in another process, or another gesture is under way"}
    },
)
async def stop(desk: DeskDep, caller: CallerDep, id: Id, request: Keyed) -> PluginEnded:
    """Stop what runs or waits of a plugin; its packages and consents stay."""
    return await gestures.stop(desk, caller, id)


@router.post(
    "/api/plugins/{id}/undefine",
    dependencies=[needs(Right.SEND)],
    responses={
        409: {"model": ErrorBody, "description": "It lives in another process, or another gesture is under way"}
    },
)
async def undefine(desk: DeskDep, caller: CallerDep, id: Id, request: Keyed) -> PluginEnded:
    """Stop a plugin and forget it with its packages and consents."""
    return await gestures.undefine(desk, caller, id)


@router.post("/api/plugins/{id}/revoke", dependencies=[needs(Right.SEND)])
async def revoke(desk: DeskDep, caller: CallerDep, id: Id, request: Revoke) -> PluginView:
    """Take back a consent; ends nothing that runs, the next start asks."""
    return await gestures.revoke(desk, caller, id, request)


@router.post("/api/plugins/{id}/verdict", dependencies=[needs(Right.SEND, Channel.PAGE)])
async def verdict(desk: DeskDep, caller: CallerDep, id: Id, request: Verdict) -> Taken:
    """Say whether the client half of a run has loaded; the first word on the active run counts."""
    return await gestures.verdict(desk, caller, id, request)


@router.post("/api/plugins/{id}/failure", dependencies=[needs(Right.SEND, Channel.PAGE)])
async def failure(desk: DeskDep, id: Id, request: HalfFailure) -> Taken:
    """Say that a client half failed after it had loaded."""
    return await gestures.failure(desk, id, request)


@router.post(
    "/api/plugins/{id}/invoke",
    dependencies=[needs(Right.SEND, Channel.PAGE)],
    responses={409: {"model": ErrorBody, "description": "Not run, another run, no such method, or the method failed"}},
)
async def invoke(desk: DeskDep, id: Id, request: Invoke) -> Invoked:
    """Call a method of the plugin's host half."""
    return await gestures.invoke(desk, id, request)


@router.get(
    "/api/plugins/{id}/runs/{run}/source",
    dependencies=[needs(Right.READ, Channel.PAGE)],
    responses={409: {"model": ErrorBody, "description": "This run is not the active one, or has no client half"}},
)
async def source(desk: DeskDep, id: Id, run: Run) -> ClientSource:
    """Hand out the client half of exactly the active run, to be loaded once."""
    return await gestures.source(desk, id, run)
