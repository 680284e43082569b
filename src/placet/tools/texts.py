"""The sentences that the model reads where a call has no ordinary result. One place, so that they stay distinct."""

from __future__ import annotations

from placet.approval.outcome import Decision, Outcome, WhoKind
from placet.sandbox.mode import SandboxMode
from placet.tools.codes import Code, Unused

FINAL = "This is final for this {noun}: do not repeat it in this turn, and do not try to reach the same by other means."

UNUSED = {
    Unused.DIGEST: "what would run is not what was signed",
    Unused.USED: "the approval was used already",
    Unused.EXPIRED: "the approval was older than ten minutes",
    Unused.TOOL: "the tool was defined anew or taken away meanwhile",
    Unused.FILE_CHANGED: "the working directory or a signed file changed after the approval",
    Unused.JOBS_RUNNING: "other commands, jobs or plugins of this workspace are still running",
    Unused.GUARD: "a guard of this placet does not let it run",
}


def what(to_mode: str | None, noun: str) -> str:
    """Name what was asked for."""
    return "this call" if to_mode is None else f'running this {noun} once with "{to_mode}" access'


def denial(decision: Decision, to_mode: str | None, noun: str = "command") -> tuple[Code, str]:
    """Return code and sentence of a decision that grants nothing, with the person's note."""
    asked = what(to_mode, noun)
    match decision.outcome:
        case Outcome.REJECTED if decision.who.kind is WhoKind.POLICY:
            text = (
                f"approval prompts are off in this session, so {asked} was refused without asking anybody. It did not"
                " run. Do not request more access; go on within the sandbox, or say what you could not do."
            )
            return Code.APPROVAL_REJECTED, text
        case Outcome.REJECTED:
            said = f"the user rejected {asked}. It did not run. {FINAL.format(noun=noun)}"
            return Code.APPROVAL_REJECTED, _with_note(said, decision)
        case Outcome.CANCELLED:
            text = f"the question about {asked} was cancelled before an answer came. It did not run. Nobody refused it."
            return Code.APPROVAL_CANCELLED, text
        case _:
            return Code.APPROVAL_UNAVAILABLE, _unavailable(decision, asked)


def _unavailable(decision: Decision, asked: str) -> str:
    if decision.detail == "expired":
        why = "nobody answered in time"
    elif decision.detail == "no-responder":
        why = "there is nobody who could be asked here"
    else:
        why = "whoever should have answered failed"
    return f"no decision about {asked}: {why}. It did not run. Nobody refused it, but do not send it again now."


def _with_note(text: str, decision: Decision) -> str:
    return text if not decision.feedback else f"{text}\nThe user's note: {decision.feedback}"


def not_wider(requested: SandboxMode, current: SandboxMode) -> str:
    """Say that a mode narrower than the one in force cannot be requested (C14)."""
    return (
        f'"{requested}" is narrower than "{current}", the mode that this call runs in anyway. Nothing ran and nobody'
        " was asked. Send the call again without sandbox_permissions and justification."
    )


def in_force(mode: SandboxMode) -> str:
    """Say that the requested mode is in force already."""
    return f'[sandbox: "{mode}" is in force already; the call ran in it and nobody was asked]'


def rejected_before(to_mode: str, noun: str = "command") -> str:
    """Say that an equal call was rejected in this turn."""
    return (
        f'the user rejected this very {noun} with "{to_mode}" access in this turn already. It did not run and nobody'
        f" was asked again. {FINAL.format(noun=noun)}"
    )


def exhausted(count: int, noun: str = "command") -> str:
    """Say that no more widening is asked about in this turn."""
    return (
        f"{count} requests for more access were rejected in this turn, so no further one is shown to the user. The"
        f" {noun} did not run. Go on within the sandbox, or end your turn and say what you need and why."
    )


def not_started(reason: Unused, *, allowed: bool) -> str:
    """Say that a call was not started although nobody refused it."""
    begin = "the user allowed this call, but it was not started" if allowed else "this call was not started"
    return f"{begin}: {UNUSED[reason]}. Send it again if it is still needed."


def unused_notice(reason: Unused) -> str:
    """Tell the person that a yes of theirs was not used."""
    return f"Your yes was not used: {UNUSED[reason]}. Nothing ran."


ABORTED_BEFORE_DISPATCH = "the turn was stopped before this call started; it did not run."
ABORTED = "the turn was stopped while this call ran; it was ended, and may have done part of its work."
UNKNOWN_OUTCOME = (
    "placet was interrupted while this call ran. Its outcome is unknown: it may have run in whole, in part or not at"
    " all. Look at what it would have changed before you try it again."
)
NO_APPROVAL = "this call needs an approval, and this placet has no way to ask for one. It did not run."
TOO_MANY_ASKS = (
    "too many questions of this session wait for an answer already, so this one was not asked. The call did not run."
    " Wait for the answers before you ask for more."
)
