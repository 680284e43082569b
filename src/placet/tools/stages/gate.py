"""Whether a call needs a person: what pre-execute says, and what its wish for a wider mode means now."""

from __future__ import annotations

from dataclasses import dataclass

from placet.permission.escalation import REJECTIONS, Verdict, judge
from placet.permission.likeness import likeness
from placet.sandbox.mode import SandboxMode
from placet.session.codec import escape
from placet.tools import texts
from placet.tools.codes import Code
from placet.tools.stages.checks import Checked
from placet.tools.stages.hooks import Allow, AskFirst, Deny, Stages
from placet.tools.stages.result import Ended, error, refused
from placet.tools.tool import RunContext, Stakes


@dataclass(frozen=True, slots=True)
class Free:
    """Nobody has to be asked; `note` is a line that the result begins with."""

    note: str | None = None


@dataclass(frozen=True, slots=True)
class Asks:
    """A person has to agree to this call, in a wider mode or as it is."""

    to_mode: SandboxMode | None
    reason: str | None


async def need(stages: Stages, checked: Checked, run: RunContext, current: SandboxMode) -> Free | Asks | Ended:
    """Ask the pre-execute stages, then judge the call's wish for a mode against the one in force."""
    decision: object = await stages.pre(checked.request)
    if isinstance(decision, Deny):
        return refused(Code.DENIED, decision.reason)
    if not isinstance(decision, Allow | AskFirst):
        return Ended(error(Code.DENIED, "a pre-execute stage gave no valid answer; the call did not run"), plain=True)
    listener = Asks(None, decision.reason) if isinstance(decision, AskFirst) else None
    stakes = checked.tool.stakes(checked.request.args)
    wish = Free() if stakes is None else _wish(checked, run, stakes, current)
    return listener if listener is not None and isinstance(wish, Free) else wish


def _wish(checked: Checked, run: RunContext, stakes: Stakes, current: SandboxMode) -> Free | Asks | Ended:
    """Judge a wish; what was rejected in this turn is refused without asking (design, section 7)."""
    match judge(current, stakes.to_mode):
        case Verdict.RUNS:
            return Free(texts.in_force(current))
        case Verdict.NARROWER:
            return refused(Code.NOT_WIDER, texts.not_wider(stakes.to_mode, current))
        case Verdict.ASKS:
            return _asks(checked, run, stakes)


def _asks(checked: Checked, run: RunContext, stakes: Stakes) -> Asks | Ended:
    rejections = run.log.see(REJECTIONS)
    call, cwd = checked.request.call, escape(str(checked.workdir.path))
    if likeness(call.name, call.arguments, cwd, stakes.to_mode) in rejections.rejected:
        return refused(Code.ALREADY_REJECTED, texts.rejected_before(stakes.to_mode, checked.tool.noun))
    if rejections.exhausted:
        return refused(Code.ALREADY_REJECTED, texts.exhausted(rejections.count, checked.tool.noun))
    return Asks(stakes.to_mode, f"escalate sandbox to {stakes.to_mode}: {stakes.reason}")
