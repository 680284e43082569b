"""Whether a run is accepted: the checks in their order, each with its reason (I1 to I4)."""

from __future__ import annotations

from dataclasses import dataclass

from placet.cordis.answers import RunRefused
from placet.cordis.definition import Package
from placet.cordis.registry import Plugin
from placet.cordis.vocabulary import Mode, PackageId, PluginId, RunRefusal

MISSING = (
    "there is no plugin {plugin} in this session: it was removed, or it belongs to another session. Define a new one"
    " with cordis_define"
)
WAIT = (
    "Wait for the message that tells its outcome, and do not call again until then. If there is nothing else to do, end"
    " your turn."
)


@dataclass(frozen=True, slots=True)
class Admitted:
    """Nothing stands in the way of an attempt."""

    package: Package
    mode: Mode
    needs_consent: bool


def admit(
    plugin: Plugin | None,
    id: PluginId,
    package: PackageId,
    mode: str,
    *,
    transition: bool,
    aborted: bool,
) -> Admitted | RunRefused:
    """Check a wish to run a package, in the order of I1; `transition` means that the plugin is being ended now."""
    if plugin is None:
        return RunRefused(RunRefusal.PLUGIN_MISSING, MISSING.format(plugin=id))
    found = plugin.package(package)
    if found is None:
        known = ", ".join(one.id for one in plugin.packages[-10:])
        return RunRefused(RunRefusal.PACKAGE_MISSING, f"{id} has no package {package}; it has: {known}")
    right = right_mode(plugin, found.id)
    if mode != right:
        return RunRefused(RunRefusal.INVALID_MODE, _wrong_mode(plugin, found.id, mode, right))
    if transition:
        return RunRefused(RunRefusal.TRANSITION_IN_FLIGHT, f"{id} is being stopped or removed just now. {WAIT}")
    flight = plugin.in_flight
    if flight is not None and not flight.awaits:
        text = f"{flight.run} of {id} ({flight.package}) is under way and has no outcome yet. {WAIT}"
        return RunRefused(RunRefusal.TRANSITION_IN_FLIGHT, text)
    if aborted:
        return RunRefused(RunRefusal.CANCELLED, "the turn was stopped before this began; nothing was started")
    if flight is not None:
        text = f"{flight.run} of {id} ({flight.package}) waits for the user's decision already. {WAIT}"
        return RunRefused(RunRefusal.TRANSITION_IN_FLIGHT, text)
    return Admitted(found, right, plugin.needs_consent(found))


def right_mode(plugin: Plugin, package: PackageId) -> Mode:
    """Return the only mode in which this package can be run now (I2)."""
    return Mode.RUN if plugin.current in (None, package) else Mode.UPDATE


def _wrong_mode(plugin: Plugin, package: PackageId, mode: str, right: Mode) -> str:
    if plugin.current is None:
        why = f"nothing of {plugin.id} is current yet"
    elif plugin.current == package:
        why = f"{package} is the current package, so running it restarts it"
    else:
        why = f"{plugin.current} is current, so {package} would take its place"
    return f"the mode {mode[:20]!r} is wrong here: {why}. Use mode {right.value!r}"
