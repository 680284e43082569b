"""The plugins of a session as their agent sees them: the shapes of `cordis_inspect_self` and of a reference (N12, H14).

All of it is a view of the fold: looking appends nothing, moves no pointer and starts nothing.
"""

from __future__ import annotations

from typing import Any

from placet.cordis.attempt import Attempt, Diagnosis
from placet.cordis.definition import Code, Package
from placet.cordis.events import Fault
from placet.cordis.registry import Plugin
from placet.cordis.vocabulary import Half, HalfStatus, Phase


def summary(plugin: Plugin) -> dict[str, Any]:
    """Return a plugin in short; what is not there is left out."""
    told: dict[str, Any] = {
        "pluginId": plugin.id,
        "name": plugin.name,
        "packageCount": len(plugin.packages),
        "state": plugin.state.value,
        **_pointers(plugin),
    }
    if plugin.active is not None:
        told["activeRun"] = {"pluginRunId": plugin.active.run, "packageId": plugin.active.package}
    if plugin.pending is not None:
        pending = plugin.pending
        told["pendingApproval"] = {
            "pluginRunId": pending.run,
            "packageId": pending.package,
            "mode": pending.mode.value,
        }
    return told


def with_packages(plugin: Plugin) -> dict[str, Any]:
    """Return a plugin with its packages in the order in which they were defined."""
    packages = [{**_package(package), **_marks(plugin, package)} for package in plugin.packages]
    told = {**summary(plugin), "packages": packages}
    if plugin.latest is not None:
        told["latestRun"] = _attempt(plugin.latest)
    return told


def with_code(plugin: Plugin, package: Package, code: Code) -> dict[str, Any]:
    """Return one package with its code as the agent wrote it, and how its halves stand."""
    halves = {"host": code.plain_host, "client": code.plain_client}
    return {
        "plugin": summary(plugin),
        "packageId": package.id,
        "name": package.name,
        "purpose": package.purpose,
        "code": {half: text for half, text in halves.items() if text is not None},
        "runtime": _runtime(plugin, package),
    }


def reference(plugin: Plugin) -> dict[str, Any]:
    """Return what a person means who writes `@` and the plugin's id: no code, and the package to begin from (H14)."""
    base = plugin.package(plugin.next) or plugin.package(plugin.current) or plugin.newest
    told: dict[str, Any] = {
        "pluginId": plugin.id,
        "name": plugin.name,
        "state": plugin.state.value,
        "basePackage": _package(base),
        **_pointers(plugin),
    }
    if plugin.active is not None:
        told["activeRun"] = {"pluginRunId": plugin.active.run, "packageId": plugin.active.package}
    if plugin.latest is not None:
        told["latestRun"] = _attempt(plugin.latest)
    return told


def _pointers(plugin: Plugin) -> dict[str, Any]:
    named = {"currentPackageId": plugin.current, "nextPackageId": plugin.next}
    return {name: package for name, package in named.items() if package is not None}


def _package(package: Package) -> dict[str, Any]:
    return {
        "packageId": package.id,
        "name": package.name,
        "purpose": package.purpose,
        "hasHostHalf": package.has_host,
        "hasClientHalf": package.has_client,
    }


def _marks(plugin: Plugin, package: Package) -> dict[str, Any]:
    return {"isCurrent": package.id == plugin.current, "isNext": package.id == plugin.next}


def _attempt(attempt: Attempt) -> dict[str, Any]:
    told: dict[str, Any] = {
        "pluginRunId": attempt.run,
        "packageId": attempt.package,
        "mode": attempt.mode.value,
        "status": attempt.status.value,
    }
    if attempt.fault is not None:
        told["error"] = _fault(attempt.fault, attempt.phase)
    return told


def _runtime(plugin: Plugin, package: Package) -> dict[str, Any]:
    """How the halves of a package stand: those of its active run, else of the newest attempt, else of nothing yet."""
    tried = (plugin.active, plugin.latest)
    attempt = next((one for one in tried if one is not None and one.package == package.id), None)
    if attempt is None:
        client: dict[str, Any] = {"status": _idle(there=package.has_client), "waitingFor": []}
        offers = {name: list[str]() for name in ("provides", "waitingFor", "handlers")}
        return {"state": "defined", "host": {"status": _idle(there=package.has_host), **offers}, "client": client}
    host: dict[str, Any] = {
        "status": attempt.host.value,
        "provides": list(attempt.offer.provides),
        "waitingFor": list(attempt.offer.waiting_for),
        "handlers": list(attempt.offer.handlers),
    }
    client = {"status": attempt.client.value, "waitingFor": list(attempt.client_waiting_for)}
    if attempt.fault is not None and attempt.phase is not Phase.CLIENT_RENDER:
        broken = client if attempt.client is HalfStatus.FAILED else host
        broken["error"] = _fault(attempt.fault, attempt.phase)
    for diagnosis in plugin.diagnoses:
        if diagnosis.run == attempt.run:
            half = client if diagnosis.half is Half.CLIENT else host
            name = "renderFailure" if diagnosis.phase is Phase.CLIENT_RENDER else "error"
            half[name] = _diagnosis(diagnosis)
    return {"state": attempt.status.value, "host": host, "client": client}


def _idle(*, there: bool) -> str:
    return (HalfStatus.STOPPED if there else HalfStatus.ABSENT).value


def _diagnosis(diagnosis: Diagnosis) -> dict[str, Any]:
    told = {"message": diagnosis.message, "phase": diagnosis.phase.value}
    return told if diagnosis.slot is None else {**told, "slot": diagnosis.slot}


def _fault(fault: Fault, phase: Phase | None) -> dict[str, Any]:
    told: dict[str, Any] = {"message": fault.message}
    for name, value in (("phase", phase), ("stack", fault.stack), ("line", fault.line)):
        if value is not None:
            told[name] = value.value if isinstance(value, Phase) else value
    return told
