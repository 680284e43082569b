"""The moment between a yes and the body: everything that was signed is looked at again, then used up in one append."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from placet.approval.errors import SubjectInvalid
from placet.approval.events import decided_key
from placet.approval.outcome import Decision, grants
from placet.approval.subject import Subject, digest_of
from placet.kernel.clock import Clock
from placet.permission.escalation import wider
from placet.sandbox.errors import SandboxError
from placet.sandbox.mode import ModeFold, SandboxMode
from placet.sandbox.policy import Workdir
from placet.session import keys
from placet.session.codec import unescape
from placet.session.errors import LeaseLost
from placet.session.event import Draft, Event
from placet.session.store import Appended, Refused
from placet.tools.codes import Unused
from placet.tools.stages.checks import Checked
from placet.tools.tool import RunContext, Tool, ToolCall, definition_digest

LIFE = 10 * 60 * 1000
"""Milliseconds for which a grant can be used."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A yes as the log holds it: the ask's event, its subject, the decision."""

    asked: Event
    subject: Subject
    decision: Decision


@dataclass(frozen=True, slots=True)
class Consumed:
    """`tool/started` is in the log, by us: the body may start, in this mode and folder."""

    mode: SandboxMode
    workdir: Workdir


@dataclass(frozen=True, slots=True)
class Withheld:
    """The body may not start; a grant stays unused."""

    reason: Unused


@dataclass(frozen=True, slots=True)
class Halted:
    """The turn is stopped."""


async def consume(
    call: ToolCall,
    run: RunContext,
    tool: Tool | None,
    source: Grant | Checked,
    *,
    modes: ModeFold,
    clock: Clock,
) -> Consumed | Withheld | Halted:
    """Check what was signed, and append `tool/started` under the conditions that make it the only use.

    `source` is the grant, or what was checked of a call that needs none. Raises `LeaseLost` where another worker
    drives the session now.
    """
    grant = source if isinstance(source, Grant) else None
    if isinstance(source, Grant):
        reason = changed(call, tool, source, clock.now())
        if reason is not None:
            return Withheld(reason)
        workdir, mode = signed_workdir(source.subject), SandboxMode(source.subject.mode)
    elif tool is None or definition_digest(tool) != source.definition:
        return Withheld(Unused.TOOL)
    else:
        await run.log.catch_up()
        workdir, mode = source.workdir, run.log.see(modes)
    before = run.log.seq
    outcome = await run.log.append(
        [started(call, mode, grant)],
        present=[] if grant is None else [decided_key(grant.subject.ask)],
        absent=[keys.abort(call.turn), keys.end(call.turn)],
        lease=run.lease,
    )
    match outcome:
        case Appended(events):
            return Consumed(mode if grant else await _narrower(run, modes, mode, before, events[0]), workdir)
        case Refused("lease"):
            raise LeaseLost(run.session)
        case Refused(_, key=stood) if stood == keys.abort(call.turn):
            return Halted()
        case Refused(_, key=stood) if stood == keys.started(call.turn, call.step, call.position):
            return Withheld(Unused.USED)
        case _:
            return Withheld(Unused.DIGEST)


def started(call: ToolCall, mode: SandboxMode, grant: Grant | None) -> Draft:
    """Draft `tool/started`; without a grant its ask and digest are null."""
    data = {
        **call.key.json(),
        "ask": None if grant is None else grant.subject.ask,
        "digest": None if grant is None else grant.decision.digest,
        "mode": mode.value,
    }
    return Draft("tool/started", data, keys.started(call.turn, call.step, call.position))


def changed(call: ToolCall, tool: Tool | None, grant: Grant, now: int) -> Unused | None:
    """Return why a grant cannot be used for this call now, or None."""
    subject, decision = grant.subject, grant.decision
    digest = digest_of(grant.asked.data["subject"])
    if not grants(decision.outcome) or not digest == decision.digest == grant.asked.data["digest"]:
        return Unused.DIGEST
    if (subject.call, subject.tool, subject.arguments) != (call.key, call.name, call.arguments):
        return Unused.DIGEST
    if abs(now - decision.time) > LIFE:
        return Unused.EXPIRED
    if tool is None or definition_digest(tool) != subject.tool_digest:
        return Unused.TOOL
    return None if _same_folder(subject) else Unused.FILE_CHANGED


def signed_workdir(subject: Subject) -> Workdir:
    """Return the folder that was signed, by path, device and inode."""
    device, _, inode = subject.cwd_id.partition(":")
    return Workdir(Path(unescape(subject.cwd)), int(device), int(inode))


def _same_folder(subject: Subject) -> bool:
    try:
        signed = signed_workdir(subject)
        return Workdir.of(signed.path) == signed
    except (SandboxError, SubjectInvalid, ValueError):
        return False


async def _narrower(run: RunContext, modes: ModeFold, mode: SandboxMode, before: int, event: Event) -> SandboxMode:
    """Return the mode at the place of `tool/started`, if it became narrower while that was on its way."""
    if event.seq == before + 1:
        return mode
    state = mode
    for earlier in await run.log.store.read(run.session, after=before, before=event.seq):
        state = modes.step(state, earlier)
    return state if wider(state, mode) else mode
