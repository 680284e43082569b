"""A new session: its folder is looked at first, its permission is pinned with it, and its first message may come along.

The page, the socket and a run without a page all create sessions here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from placet.agent import mailbox
from placet.agent.mailbox import Target
from placet.approval.outcome import Policy
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.permission.preset import pinned
from placet.sandbox.errors import SandboxUnavailable
from placet.sandbox.policy import Workdir
from placet.sandbox.workspace.check import WorkspaceFacts, WorkspaceRefused
from placet.session import keys
from placet.session.codec import escape
from placet.session.errors import UnknownSession
from placet.session.event import Draft
from placet.session.ids import MessageId, SessionId, new_message_id, new_session_id
from placet.session.store import Appended, Store


class Workspaces(Protocol):
    """What the sandbox says about folders."""

    async def check_workspace(self, path: Path) -> WorkspaceFacts | WorkspaceRefused:
        """Whether a folder may be a session's workspace."""
        ...

    async def probe_write(self, session: SessionId, workspace: Workdir) -> str | None:
        """Try a write in the workspace, confined; one line if it fails."""
        ...

    def move_away(self, session: SessionId, workspace: Workdir, git_roots: Sequence[Path], path: Path) -> Path:
        """Move something of a session's folder into the state directory; returns where it is now. Blocks."""
        ...

    async def release(self, session: SessionId) -> None:
        """End what is kept warm for a session."""
        ...

    def forget_session(self, session: SessionId) -> None:
        """Remove what was made for a session that does not come to be."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants a new session to be. `key` is the client's own: the same key again is the same session."""

    cwd: str
    preset: str
    key: str
    policy: Policy | None = None
    title: str | None = None
    model: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Created:
    """The session is in the log. `warning` is one line for the person, where a command will not run as it is now."""

    session: SessionId
    warning: str | None = None


async def create_session(
    store: Store, workspaces: Workspaces, wish: Wish, *, by: Mapping[str, Any], clock: Clock = SYSTEM_CLOCK
) -> Created | WorkspaceRefused:
    """Create a session, or say in one line why its folder cannot be one; nothing is left behind then.

    Raises `UnknownPreset`. Everything that the session begins with is one append.
    """
    if (there := await store.find(keys.client("preset", wish.key))) is not None and there.seq == 1:
        return Created(there.session)
    session = new_session_id(clock)
    permission = pinned(wish.preset, by=dict(by), key=wish.key, policy=wish.policy)
    facts = await workspaces.check_workspace(Path(wish.cwd))
    if isinstance(facts, WorkspaceRefused):
        return facts
    warning = None
    try:
        complaint = await workspaces.probe_write(session, facts.workdir)
    except SandboxUnavailable as unavailable:  # sessions can be read and talked to; each command says it again
        complaint, warning = None, f"{unavailable.why}. {unavailable.hint or ''}".strip()
    if complaint is not None:
        workspaces.forget_session(session)
        return WorkspaceRefused(complaint)
    drafts = [_created(wish, facts, by), *permission, *_beginning(wish, by, clock)]
    match await store.append(session, drafts):
        case Appended():
            return Created(session, warning)
        case _:
            raise UnknownSession(session)


def _created(wish: Wish, facts: WorkspaceFacts, by: Mapping[str, Any]) -> Draft:
    data = {
        "v": 1,
        "cwd": str(facts.workdir.path),
        "cwdId": facts.workdir.id,
        "title": None if wish.title is None else escape(wish.title),
        "gitRoots": [str(root) for root in facts.git_roots],
        "by": dict(by),
    }
    return Draft("session/created", data, keys.created())


def _beginning(wish: Wish, by: Mapping[str, Any], clock: Clock) -> list[Draft]:
    drafts = []
    if wish.model is not None:
        drafts.append(Draft("session/model", {"model": wish.model, "by": dict(by)}, keys.client("model", wish.key)))
    if wish.message is not None:
        id = MessageId(new_message_id(clock))
        drafts.append(mailbox.put(id, wish.message, target=Target.NEXT_TURN, wake=True, by=by))
    return drafts
