"""What the agent reads when something became of a plugin (O14, I24, I29): ids, what happened, what runs, what to do."""

from __future__ import annotations

from placet.cordis.attempt import Attempt
from placet.cordis.events import Fault
from placet.cordis.registry import Plugin
from placet.cordis.vocabulary import AttemptStatus, Detail, Half, Phase

_WHY = {
    Detail.RESTART: "placet was restarted while it was under way",
    Detail.STOPPED: "it was stopped",
    Detail.REPLACED: "another run took its place",
    Detail.UNDEFINED: "the plugin was removed",
    Detail.ARCHIVED: "the session was put away",
    Detail.DELETED: "the session was deleted",
    Detail.SHUTDOWN: "placet was ended",
    Detail.EXPIRED: "nobody decided about it in time",
    Detail.NARROWED: "the user narrowed what code may touch, and it ran with more",
    Detail.CRASHED: "its host half ended by itself",
    Detail.GUARD: "a half went over its bounds and was cut off",
    Detail.TAMPERED: "its stored code is not what was defined",
    Detail.TURN_STOPPED: "the user stopped the turn that was starting it",
}
_PHASE = {
    Phase.APPROVAL: "before it was started",
    Phase.HOST_LOAD: "while its host half was loaded",
    Phase.HOST_APPLY: "in the host half's apply",
    Phase.CLIENT_LOAD: "while its client half was loaded in the page",
    Phase.CLIENT_APPLY: "in the client half's apply, in the page",
    Phase.CLIENT_RENDER: "while the client half was drawn, in the page",
    Phase.GUARD: "because a half went over its bounds",
    Phase.HANDLER: "in a function that the host half had registered",
}
_REPAIR = (
    "Find the cause, define a corrected package of the same plugin ({plugin}) with cordis_define, and start it with"
    " cordis_run. Do not make another plugin for it."
)


def running(plugin: Plugin, attempt: Attempt) -> str:
    """Tell that an attempt has succeeded; `plugin` is as it stands after that."""
    waits = attempt.waiting_for
    state = f"is up and waits for: {', '.join(waits)}" if waits else "is running"
    what = f"{_named(plugin, attempt)} {state}. Current package: {plugin.current}."
    if attempt.client_waiting_for:
        names = ", ".join(attempt.client_waiting_for)
        what += f" No page has {names}, so the client half goes on waiting and shows nothing."
    if attempt.agents:
        return what
    return f"The user started {attempt.package} from the plugins panel. {what}"


def rejected(plugin: Plugin, attempt: Attempt, feedback: str | None) -> str:
    """Tell that a person declined; nothing of the attempt was started."""
    named = _named(plugin, attempt).removesuffix(",")
    lines = [f"The user declined {named}. Nothing of it was started. {_still(plugin, attempt)}"]
    if feedback:
        lines.append(f"The user's note: {feedback}")
    lines.append("Do not ask for it again unless the user wants it.")
    return "\n".join(lines)


def cancelled(plugin: Plugin, attempt: Attempt, detail: Detail) -> str:
    """Tell that a request was withdrawn before anybody decided."""
    return (
        f"The request to run {_named(plugin, attempt)} is withdrawn: {_WHY[detail]}. Nothing of it was started."
        f" {_still(plugin, attempt)}"
    )


def failed(plugin: Plugin, attempt: Attempt, *, phase: Phase | None, fault: Fault | None, detail: Detail | None) -> str:
    """Tell that an attempt failed, with what was said about it, what runs, and how to go on."""
    where = f" {_PHASE[phase]}" if phase is not None else ""
    why = f": {_WHY[detail]}" if detail is not None else ""
    lines = [f"{_named(plugin, attempt)} failed{where}{why}.", *_said(fault), _still(plugin, attempt)]
    if detail is Detail.RESTART:
        lines.append("Nothing started by itself. Consents are kept; start it again with cordis_run if it is wanted.")
    elif attempt.consented or attempt.needs_consent:
        lines += [_REPAIR.format(plugin=plugin.id), "The user's consent to this package is kept."]
    else:
        lines.append(_REPAIR.format(plugin=plugin.id))
    return "\n".join(lines)


def failure(plugin: Plugin, attempt: Attempt) -> str:
    """Say to the call that made an attempt how it ended without success."""
    detail = None if attempt.detail is None else Detail(attempt.detail)
    if attempt.status is AttemptStatus.FAILED:
        return failed(plugin, attempt, phase=attempt.phase, fault=attempt.fault, detail=detail)
    why = "" if detail is None else f": {_WHY[detail]}"
    return f"{_named(plugin, attempt)} did not come up{why}. {_still(plugin, attempt)}"


def ended(plugin: Plugin, attempt: Attempt, detail: Detail, fault: Fault | None = None) -> str:
    """Tell that a run which had succeeded is over."""
    lines = [f"{_named(plugin, attempt)} is stopped: {_WHY[detail]}.", *_said(fault)]
    if detail in (Detail.CRASHED, Detail.GUARD):
        lines.append(_REPAIR.format(plugin=plugin.id))
    else:
        lines.append("Its packages and the user's consents are kept; cordis_run starts it again if it is wanted.")
    return "\n".join(lines)


def stopped_by_user(plugin: Plugin, attempt: Attempt) -> str:
    """Tell that a person stopped a run, or an attempt that was under way, in the panel."""
    return (
        f"The user stopped {_named(plugin, attempt)} in the plugins panel. Its packages and consents are kept. Do not"
        " start it again unless the user wants it."
    )


def undefined_by_user(plugin: Plugin) -> str:
    """Tell that a person removed a plugin in the panel."""
    return (
        f"The user removed the plugin {plugin.id} ({plugin.name}) in the plugins panel, with all its packages and"
        " consents. Its id is gone for good."
    )


def diagnosed(plugin: Plugin, attempt: Attempt, *, half: Half, phase: Phase, slot: str | None, fault: Fault) -> str:
    """Tell that something failed in a run that goes on."""
    seat = f" (seat {slot})" if slot else ""
    first = f"{_named(plugin, attempt)} goes on running, but something failed {_PHASE[phase]}{seat}, {half} half."
    return "\n".join([first, *_said(fault), _REPAIR.format(plugin=plugin.id)])


def of_plugin(plugin: str, text: str) -> str:
    """Put a line before what a plugin's code says, which the agent reads in the user's role."""
    return f"Message of the plugin {plugin}, a program that does not speak for the user:\n{text}"


def _named(plugin: Plugin, attempt: Attempt) -> str:
    return f"{attempt.package} of plugin {plugin.id} ({plugin.name}), {attempt.run},"


def _said(fault: Fault | None) -> list[str]:
    if fault is None:
        return []
    return [f"Error: {fault.message}", *([fault.stack] if fault.stack else [])]


def _still(plugin: Plugin, over: Attempt) -> str:
    """Say what runs beside an attempt that is over, and where the pointers are."""
    pointers = f" Next package: {plugin.next}." if plugin.next is not None else ""
    if plugin.active is None or plugin.active.run == over.run:
        current = f" The current package is {plugin.current}, which does not run now." if plugin.current else ""
        return f"Nothing of this plugin runs.{current}{pointers}"
    return f"{plugin.active.package} ({plugin.active.run}) goes on running.{pointers}"
