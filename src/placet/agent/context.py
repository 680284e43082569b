"""What the model is told about its place: standing instructions, and one statement that travels only when it changes.

The statement is put together from contributions, each with a name and an order (contract A21, D19, G14). It goes into
the conversation as a message of the plugin `context`, and again only when its text is another one than the last that
the model saw. The instructions never change, so that vendors can keep them cached.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from placet.agent.mailbox import Source
from placet.agent.transcript import CONTEXT, TRANSCRIPT
from placet.approval.outcome import Policy
from placet.approval.policy import PolicyFold
from placet.sandbox.mode import ModeFold, SandboxMode
from placet.session.event import Event
from placet.session.log import SessionLog

SOURCE = Source("plugin", CONTEXT)
REFERENCE = Source("system", "reference")
"""Of what is told about the things that a person's message names, right behind it."""

INSTRUCTIONS = """\
You are an agent that works in one folder of a person's computer, through the tools that you are given.
Look before you change things, do what was asked and no more, and say plainly what you did and what you saw.
Check the last line of every command's output, which tells how it ended, before you go on.
Some actions reach further than the sandbox lets them. A person decides about those, one at a time, and their \
answer holds for exactly that action. Silence is no consent. If a person refuses, accept it: do not look for another \
way to the same effect, and say what remains undone.
Messages that begin with [placet] state the rules that are in force now; the newest one counts."""

HEAD = "[placet] The rules of this session now:"

POLICY_TEXTS = {
    Policy.ASK: (
        "Approval: an action that needs it may be put to a person, who allows or rejects it."
        " If nobody is there to answer, it does not happen."
    ),
    Policy.NEVER: (
        "Approval: prompts are off. Whatever would need approval is rejected automatically,"
        " so do not request escalation: leave sandbox_permissions out."
    ),
}


@dataclass(frozen=True, slots=True)
class Standing:
    """The session's folder, which never changes, and the model that later steps ask (None: the default one)."""

    cwd: Path = Path("/")
    model: str | None = None


class StandingFold:
    """Reads `session/created` and `session/model`."""

    def start(self) -> Standing:
        return Standing()

    def step(self, state: Standing, event: Event) -> Standing:
        match event.type:
            case "session/created":
                return replace(state, cwd=Path(event.data["cwd"]))
            case "session/model":
                return replace(state, model=event.data["model"])
        return state


STANDING = StandingFold()


@dataclass(frozen=True, slots=True)
class Contribution:
    """One part of the statement; an empty text contributes nothing."""

    name: str
    order: int
    text: Callable[[SessionLog], str]


class Context:
    """The contributions in their order."""

    def __init__(self, contributions: tuple[Contribution, ...]) -> None:
        self._contributions = list(contributions)

    def add(self, contribution: Contribution) -> Callable[[], None]:
        """Let another part contribute; the returned undo takes it out."""
        self._contributions.append(contribution)
        return lambda: self._contributions.remove(contribution)

    def statement(self, log: SessionLog) -> str:
        """The whole statement as of now: identical bytes while nothing changed."""
        parts = [part.text(log) for part in sorted(self._contributions, key=lambda part: part.order)]
        return "\n".join([HEAD, *(f"- {text}" for text in parts if text)])

    def changed(self, log: SessionLog) -> str | None:
        """The statement if it differs from the last one that the model saw, else None."""
        statement = self.statement(log)
        return None if log.see(TRANSCRIPT).context == statement else statement


def standard_context(policy: PolicyFold, mode: ModeFold) -> Context:
    """The two knobs: the sandbox mode (order 110) and the approval policy (order 115)."""
    return Context(
        (
            Contribution("sandbox:policy", 110, lambda log: sandbox_text(log.see(mode), str(log.see(STANDING).cwd))),
            Contribution("approval:policy", 115, lambda log: POLICY_TEXTS[log.see(policy)]),
        )
    )


_TEMPORARY = (
    "Temporary files belong in $TMPDIR; that folder, and /tmp where it can be written, is private to this session:"
    " the person and other programs do not see it under that name."
)


def sandbox_text(mode: SandboxMode, root: str) -> str:
    """What a mode means for the model's commands (O4)."""
    folder = json.dumps(root, ensure_ascii=False)
    match mode:
        case SandboxMode.READ_ONLY:
            return (
                f"Sandbox: read-only. Commands run, but cannot change files in the workspace {folder} or elsewhere."
                f" {_TEMPORARY}"
                " Do not refuse a task for that reason: try what it needs, and follow the guidance in the result if the"
                " sandbox denies it."
            )
        case SandboxMode.WORKSPACE_WRITE:
            return (
                f"Sandbox: workspace-write. Commands can change files inside {folder}. {_TEMPORARY}"
                " Everything else can be read, not changed."
            )
        case SandboxMode.DANGER_FULL_ACCESS:
            return "Sandbox: danger-full-access. Nothing confines commands: they can do what the person's account can."


def switch_text(old: Policy, new: Policy) -> str:
    """The notice that the policy was switched (A19, O3)."""
    return f'The approval policy changed from "{old}" to "{new}" (changed by the user).'
